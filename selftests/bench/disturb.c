// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a program notices of being profiled.
 *
 *   disturb WHO [ROUNDS]
 *
 * The program computes in one thread while another waits and is waited for.
 * Prints its instructions, and how often it entered the kernel, was
 * interrupted there, had a signal delivered, and gave up its CPU; and its result.
 */
#include <poll.h>
#include <pthread.h>

#include "who.h"

#define COUNTERS	4

static const struct {
	const char *event;	/* none: the one of software */
	const char *filter;
} counted[COUNTERS] = {
	{ "raw_syscalls/sys_enter", NULL },
	{ "raw_syscalls/sys_exit", "ret == -4 || ret == -514 || ret == -516" },
	{ "signal/signal_deliver", "sig == 27" },
	{ NULL, NULL },
};

static int counters[COUNTERS];
static volatile unsigned int rounds = 200;

static void watch(int i)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CONTEXT_SWITCHES,
		.inherit = 1,
		.disabled = 1,
	};
	char path[128];
	FILE *file;
	int id;

	if (counted[i].event) {
		snprintf(path, sizeof(path), "/sys/kernel/tracing/events/%s/id",
			 counted[i].event);
		file = fopen(path, "re");
		if (!file || fscanf(file, "%d", &id) != 1 || fclose(file))
			fail(path);
		attr.type = PERF_TYPE_TRACEPOINT;
		attr.config = id;
	}
	counters[i] = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	if (counters[i] < 0)
		fail("perf_event_open");
	if (counted[i].filter &&
	    ioctl(counters[i], PERF_EVENT_IOC_SET_FILTER, counted[i].filter))
		fail(counted[i].filter);
}

static uint64_t count(int i)
{
	uint64_t value;

	if (read(counters[i], &value, sizeof(value)) != sizeof(value))
		fail("read");
	return value;
}

/* A number that depends on each step; and some time. */
static void *compute(void *arg)
{
	unsigned int i, j, *result = arg;

	for (i = 0; i < rounds * 100; i++) {
		*result = *result * 1103515245 + 12345;
		for (j = 0; j < 100; j++)
			burst();
	}
	return NULL;
}

static unsigned int work(void)
{
	unsigned int i, result = 1;
	struct pollfd nothing = { };
	pthread_t thread;
	char byte = 0;
	int ends[2];

	if (pipe(ends) || pthread_create(&thread, NULL, compute, &result))
		fail("pthread_create");
	for (i = 0; i < rounds; i++) {
		poll(&nothing, 0, 5);
		if (write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1)
			fail("pipe");
	}
	pthread_join(thread, NULL);
	return result;
}

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

int main(int argc, char **argv)
{
	const struct who *who = find_who(argc > 1 ? argv[1] : "nobody");
	unsigned int result;
	uint64_t ns;
	int i;

	if (argc > 2)
		rounds = atoi(argv[2]);
	for (i = 0; i < COUNTERS; i++)
		watch(i);
	who->begin();
	for (i = 0; i < COUNTERS; i++)
		if (ioctl(counters[i], PERF_EVENT_IOC_ENABLE, 0))
			fail("enable");
	ns = cpu_ns();
	result = work();
	ns = cpu_ns() - ns;
	printf("%llu", (unsigned long long)ns);
	for (i = 0; i < COUNTERS; i++)
		printf(" %llu", (unsigned long long)count(i));
	printf(" %u\n", result);
	return 0;
}
