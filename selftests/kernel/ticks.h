/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An independent count of ticks: an event of the kernel's own tracing on the
 * function that is the tick, counted for the threads of a test; and threads that
 * sleep while two counts are compared.
 */
#ifndef TICKS_H
#define TICKS_H

#include <linux/futex.h>
#include <linux/perf_event.h>

#include "profil_common.h"

#define TRACING		"/sys/kernel/tracing"
#define EVENT		"profil_ticks"
#define COUNTERS_MAX	16

static inline int event_remove(void)
{
	return write_file(TRACING "/kprobe_events", O_APPEND, "-:" EVENT "\n");
}

/* One for the system: tests that use it run one after the other. */
static inline int event_create(void)
{
	event_remove();
	return write_file(TRACING "/kprobe_events", O_APPEND,
			  "p:" EVENT " update_process_times user=$arg1:s32\n");
}

/* Counts the event in some threads: a counter of perf for each of them. */
struct instance {
	int num;
	int counters[COUNTERS_MAX];
};

static inline int instance_create(struct instance *instance)
{
	instance->num = 0;
	return 0;
}

static inline void instance_destroy(struct instance *instance)
{
	while (instance->num)
		close(instance->counters[--instance->num]);
}

enum watched {
	ALL_TICKS,
	USER_TICKS,	/* those that found the thread in user mode */
};

/* The number that perf knows the event by, or an error. */
static inline int event_id(void)
{
	FILE *file = fopen(TRACING "/events/kprobes/" EVENT "/id", "re");
	int id;

	if (!file)
		return -errno;
	if (fscanf(file, "%d", &id) != 1)
		id = -EINVAL;
	fclose(file);
	return id;
}

static inline int instance_watch(struct instance *instance, const pid_t *tids,
				 int num, enum watched watched)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
	};
	int id = event_id();
	int i, counter;

	if (id < 0)
		return id;
	if (num > COUNTERS_MAX)
		return -E2BIG;
	attr.config = id;
	for (i = 0; i < num; i++) {
		counter = syscall(SYS_perf_event_open, &attr, tids[i], -1, -1,
				  PERF_FLAG_FD_CLOEXEC);
		if (counter < 0)
			return -errno;
		instance->counters[instance->num++] = counter;
		if (watched == USER_TICKS &&
		    ioctl(counter, PERF_EVENT_IOC_SET_FILTER, "user == 1"))
			return -errno;
	}
	return 0;
}

/* So often was any of the threads found; ~0 if that cannot be read. */
static inline __u64 instance_count(const struct instance *instance)
{
	__u64 count, sum = 0;
	int i;

	for (i = 0; i < instance->num; i++) {
		if (read(instance->counters[i], &count, sizeof(count)) !=
		    sizeof(count))
			return ~0ULL;
		sum += count;
	}
	return sum;
}

/*
 * Both counts of the same moment.  The caller's other threads sleep, so only
 * its own ticks can come between, and then the event's count shows it.
 */
static inline bool take_pair(const struct instance *instance, int fd,
			     __u64 *events, struct profil_ioc_stats *stats)
{
	__u64 before;

	*events = instance_count(instance);
	do {
		before = *events;
		if (profil_stats(fd, stats))
			return false;
		*events = instance_count(instance);
	} while (*events != before);
	return true;
}

/* Where threads wait for each other without a tick's worth of CPU time. */
struct gate {
	__u32 open;
	__u32 waiting;
};

static inline void gate_wait(struct gate *gate)
{
	__atomic_add_fetch(&gate->waiting, 1, __ATOMIC_SEQ_CST);
	while (!__atomic_load_n(&gate->open, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &gate->open, FUTEX_WAIT, 0, NULL, NULL, 0);
}

static inline void gate_open(struct gate *gate)
{
	__atomic_store_n(&gate->open, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &gate->open, FUTEX_WAKE, 1000, NULL, NULL, 0);
}

/* Until the thread @tid is asleep, and off its CPU: while it gets there, it may have a tick yet. */
static inline void wait_asleep(pid_t pid, pid_t tid)
{
	char path[64], call[64], text[256], state = 'R';

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	/* The number of the system call, or that it runs. */
	snprintf(call, sizeof(call), "/proc/%d/task/%d/syscall", pid, tid);
	do {
		usleep(1000);
		if (read_file(path, text, sizeof(text)) ||
		    sscanf(text, "%*d %*s %c", &state) != 1)
			state = 'R';
	} while (state != 'S' || read_file(call, text, sizeof(text)) || text[0] == 'r');
}

/* Until the @num threads of this process that have @gate before them sleep. */
static inline void gate_wait_asleep(struct gate *gate, const pid_t *tids,
				    int num)
{
	int i;

	while (__atomic_load_n(&gate->waiting, __ATOMIC_SEQ_CST) < (__u32)num)
		usleep(1000);
	for (i = 0; i < num; i++)
		wait_asleep(getpid(), tids[i]);
}

#endif /* TICKS_H */
