/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An independent count of ticks: an event of the kernel's own tracing on the
 * function that is the tick, filtered to the threads of a test; and threads that
 * sleep while two counts are compared.
 */
#ifndef TICKS_H
#define TICKS_H

#include <sys/stat.h>
#include <sys/syscall.h>
#include <linux/futex.h>

#include "profil_common.h"

#define TRACING		"/sys/kernel/tracing"
#define EVENT		"profil_ticks"
#define CPUS_MAX	16

static inline int write_file(const char *path, int flags, const char *text)
{
	int file = open(path, O_WRONLY | O_CLOEXEC | flags);
	ssize_t done;

	if (file < 0)
		return -errno;
	done = write(file, text, strlen(text));
	close(file);
	return done < 0 ? -errno : 0;
}

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

/* A tracing instance has its own buffers, filter and switch. */
struct instance {
	char path[128];
	int cpus;
	int stats[CPUS_MAX];	/* kept open: the counts are to be read fast */
};

static inline int instance_write(const struct instance *instance,
				 const char *file, const char *text)
{
	char path[256];
	int len = snprintf(path, sizeof(path), "%s/%s", instance->path, file);

	if (len >= (int)sizeof(path))
		return -ENAMETOOLONG;
	return write_file(path, 0, text);
}

static inline int instance_create(struct instance *instance)
{
	static int number;
	char path[256];
	int cpu;

	snprintf(instance->path, sizeof(instance->path),
		 TRACING "/instances/profil_%d_%d", (int)syscall(SYS_gettid),
		 __atomic_add_fetch(&number, 1, __ATOMIC_SEQ_CST));
	if (mkdir(instance->path, 0700))
		return -errno;
	instance->cpus = sysconf(_SC_NPROCESSORS_CONF);
	if (instance->cpus > CPUS_MAX)
		return -E2BIG;
	for (cpu = 0; cpu < instance->cpus; cpu++) {
		if (snprintf(path, sizeof(path), "%s/per_cpu/cpu%d/stats",
			     instance->path, cpu) >= (int)sizeof(path))
			return -ENAMETOOLONG;
		instance->stats[cpu] = open(path, O_RDONLY | O_CLOEXEC);
		if (instance->stats[cpu] < 0)
			return -errno;
	}
	return instance_write(instance, "buffer_size_kb", "64");
}

static inline void instance_destroy(const struct instance *instance)
{
	int cpu;

	for (cpu = 0; cpu < instance->cpus; cpu++)
		close(instance->stats[cpu]);
	instance_write(instance, "events/kprobes/" EVENT "/enable", "0");
	rmdir(instance->path);
}

enum watched {
	ALL_TICKS,
	USER_TICKS,	/* those that found the thread in user mode */
};

static inline int instance_watch(const struct instance *instance,
				 const pid_t *tids, int num,
				 enum watched watched)
{
	char filter[512] = "(";
	int i, ret;

	for (i = 0; i < num; i++)
		sprintf(filter + strlen(filter), "%scommon_pid == %d",
			i ? " || " : "", tids[i]);
	strcat(filter, watched == USER_TICKS ? ") && user == 1" : ")");
	ret = instance_write(instance, "events/kprobes/" EVENT "/filter",
			     filter);
	if (ret)
		return ret;
	return instance_write(instance, "events/kprobes/" EVENT "/enable", "1");
}

static inline __u64 stats_field(const char *text, const char *name)
{
	const char *line = strstr(text, name);

	return line ? strtoull(line + strlen(name), NULL, 10) : 0;
}

/* All events ever written, kept or overwritten; ~0 if any was dropped. */
static inline __u64 instance_count(const struct instance *instance)
{
	__u64 dropped = 0, sum = 0;
	char text[1024];
	ssize_t len;
	int cpu;

	for (cpu = 0; cpu < instance->cpus; cpu++) {
		len = pread(instance->stats[cpu], text, sizeof(text) - 1, 0);
		if (len <= 0)
			return ~0ULL;
		text[len] = '\0';
		sum += stats_field(text, "entries: ") +
		       stats_field(text, "\noverrun: ");
		dropped += stats_field(text, "commit overrun: ") +
			   stats_field(text, "dropped events: ");
	}
	return dropped ? ~0ULL : sum;
}

/*
 * Both counts of the same moment.  The caller's other threads sleep, so only
 * its own ticks can come between, and then the event's count shows it.
 */
static inline bool take_pair(const struct instance *instance, int fd,
			     __u64 *events, struct profil_stats *stats)
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

/* Until the thread @tid is asleep, which only the scheduler knows. */
static inline void wait_asleep(pid_t pid, pid_t tid)
{
	char path[64], state = 'R';
	FILE *stat;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	while (state != 'S') {
		usleep(1000);
		stat = fopen(path, "re");
		if (!stat || fscanf(stat, "%*d %*s %c", &state) != 1)
			state = 'R';
		if (stat)
			fclose(stat);
	}
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
