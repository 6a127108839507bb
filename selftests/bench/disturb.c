// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a program notices of being profiled.
 *
 *   disturb WHO [ROUNDS]
 *
 * The program computes in one thread while another waits, for that one and for
 * time.  As libraries do, it lets no signal come to the thread of its own, so
 * those of the process meet the one that waits.
 *
 * Prints its instructions, and how often it entered the kernel, was
 * interrupted there, had a signal delivered, and gave up its CPU; and its result.
 */
#include <poll.h>
#include <pthread.h>

#include "event.h"
#include "who.h"

#define COUNTERS	4

static const struct {
	const char *event;	/* none: the one of software */
	const char *filter;
} counted[COUNTERS] = {
	{ "raw_syscalls/sys_enter", NULL },
	/* EINTR, and what the kernel makes it, or begins the call again, of */
	{ "raw_syscalls/sys_exit", "ret == -4 || ret <= -512 && ret >= -516 && ret != -515" },
	{ "signal/signal_deliver", "sig == 27" },
	{ NULL, NULL },
};

static int counters[COUNTERS];
static volatile unsigned int rounds = 200;
static int ends[2];

/* A number that depends on each step; and some time. */
static void *compute(void *arg)
{
	unsigned int i, j, *result = arg;

	for (i = 1; i <= rounds * 100; i++) {
		*result = *result * 1103515245 + 12345;
		for (j = 0; j < 100; j++)
			burst();
		if (i % 100 == 0 && write(ends[1], "", 1) != 1)
			fail("write");
	}
	return NULL;
}

static unsigned int work(void)
{
	unsigned int i, result = 1;
	struct pollfd nothing = { };
	sigset_t all, none;
	pthread_t thread;
	char byte;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &none);
	if (pipe(ends) || pthread_create(&thread, NULL, compute, &result))
		fail("pthread_create");
	pthread_sigmask(SIG_SETMASK, &none, NULL);
	for (i = 0; i < rounds; i++) {
		poll(&nothing, 0, 5);
		if (read(ends[0], &byte, 1) != 1)
			fail("read");
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
		counters[i] = event_open(counted[i].event, counted[i].filter);
	who->begin();
	for (i = 0; i < COUNTERS; i++)
		event_enable(counters[i]);
	ns = cpu_ns();
	result = work();
	ns = cpu_ns() - ns;
	printf("%llu", (unsigned long long)ns);
	for (i = 0; i < COUNTERS; i++)
		printf(" %llu", (unsigned long long)event_count(counters[i]));
	printf(" %u\n", result);
	return 0;
}
