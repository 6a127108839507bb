// SPDX-License-Identifier: GPL-2.0-only
/*
 * To preload: a /dev/profil that can be opened, of a kernel with 250 ticks a second,
 * and counts nothing, or with SAMPLE one in each region.  REGIONS is how many regions it
 * takes.  With REFUSE it starts nothing either, for the reason with that number; without,
 * it tells stderr what it was asked.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/profil.h>

int open(const char *path, int flags, ...)
{
	va_list args;
	int mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, int) : 0;
	va_end(args);
	return syscall(SYS_openat, AT_FDCWD,
		       strcmp(path, "/dev/profil") ? path : "/dev/null", flags, mode);
}

static int query(struct profil_ioc_query *query)
{
	query->out_tick_hz = 250;
	query->out_tick_ns = 4000000;
	query->out_regions_max = getenv("REGIONS") ? atoi(getenv("REGIONS")) : 4096;
	query->out_timer_rate_max = 10000;
	if (!getenv("REFUSE"))
		dprintf(2, "query\n");
	return 0;
}

static void sample(const struct profil_ioc_start *start)
{
	const struct profil_region *region = (const void *)(uintptr_t)start->regions_uptr;

	for (unsigned int i = 0; i < start->region_num; i++, region++)
		if (region->scale) {
			dprintf(2, "scale %u\n", region->scale);
			((uint32_t *)(uintptr_t)region->buf_uptr)[region->bytes / 8]++;
		}
}

static int start(const struct profil_ioc_start *start)
{
	const char *refuse = getenv("REFUSE");

	if (getenv("REGIONS") && (int)start->region_num > atoi(getenv("REGIONS"))) {
		errno = E2BIG;
		return -1;
	}
	if (getenv("SAMPLE"))
		sample(start);
	if (!refuse) {
		dprintf(2, "start %u %u %u\n", start->rate, start->source, start->jitter);
		return 0;
	}
	errno = atoi(refuse);
	return -1;
}

static int stats(struct profil_ioc_stats *stats)
{
	stats->out_ticks = 1000;
	stats->out_not_due = 800;
	stats->out_in_range = 150;
	stats->out_outside = 40;
	stats->out_saturated = 7;
	stats->out_lost = 3;
	return 0;
}

int ioctl(int fd, unsigned long cmd, ...)
{
	va_list args;
	void *arg;

	(void)fd;
	va_start(args, cmd);
	arg = va_arg(args, void *);
	va_end(args);
	switch (cmd) {
	case PROFIL_IOC_QUERY:
		return query(arg);
	case PROFIL_IOC_START:
		return start(arg);
	case PROFIL_IOC_STATS:
		return stats(arg);
	}
	return 0;
}
