/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events of the kernel, counted as they meet this process and what comes of it.
 */
#ifndef EVENT_H
#define EVENT_H

#include <linux/perf_event.h>
#include <sys/syscall.h>

#include "bench.h"

static inline unsigned int event_id(const char *event)
{
	char path[128];
	FILE *file;
	int id;

	snprintf(path, sizeof(path), "/sys/kernel/tracing/events/%s/id", event);
	file = fopen(path, "re");
	if (!file || fscanf(file, "%d", &id) != 1 || fclose(file))
		fail(path);
	return id;
}

/* Of @event those that @filter lets pass; with no event, context switches. */
static inline int event_open(const char *event, const char *filter)
{
	struct perf_event_attr attr = {
		.type = event ? PERF_TYPE_TRACEPOINT : PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = event ? event_id(event) : PERF_COUNT_SW_CONTEXT_SWITCHES,
		.inherit = 1,
		.disabled = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	if (fd < 0)
		fail("perf_event_open");
	if (filter && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter))
		fail(filter);
	return fd;
}

static inline void event_enable(int fd)
{
	if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		fail("enable");
}

static inline uint64_t event_count(int fd)
{
	uint64_t value;

	if (read(fd, &value, sizeof(value)) != sizeof(value))
		fail("read");
	return value;
}

#endif /* EVENT_H */
