// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two threads or three call leaf() N times each, after a child of vfork() has made
 * calls that are new, in the memory of its parent:
 *
 *	vfork grown N	1024 of them, after the first call of its parent
 *	vfork first N	one, before the thread that made the child called anything
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define NOT_COUNTED __attribute__((no_instrument_function))
#define CALLS_4()	do { leaf(); leaf(); leaf(); leaf(); } while (0)
#define CALLS_16()	do { CALLS_4(); CALLS_4(); CALLS_4(); CALLS_4(); } while (0)
#define CALLS_64()	do { CALLS_16(); CALLS_16(); CALLS_16(); CALLS_16(); } while (0)
#define CALLS_256()	do { CALLS_64(); CALLS_64(); CALLS_64(); CALLS_64(); } while (0)

static long number;
static pthread_barrier_t ready;

NOINLINE void leaf(void);
NOINLINE void leaf(void)
{
	__asm__ volatile("");
}

static NOINLINE void many(void)
{
	CALLS_256();
	CALLS_256();
	CALLS_256();
	CALLS_256();
}

/* Where there is but one CPU, they take turns. */
static NOT_COUNTED void *calls(void *cpu)
{
	cpu_set_t set;
	long i;

	CPU_ZERO(&set);
	CPU_SET((uintptr_t)cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	for (i = 0; i < number; i++)
		leaf();
	return NULL;
}

static NOT_COUNTED void child(void (*function)(void))
{
	pid_t pid = vfork();

	if (!pid) {
		function();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static NOT_COUNTED void *child_first(void *cpu)
{
	child(leaf);
	pthread_barrier_wait(&ready);
	return calls(cpu);
}

static int first(void)
{
	pthread_t id[2];

	if (pthread_barrier_init(&ready, NULL, 2) ||
	    pthread_create(&id[0], NULL, child_first, (void *)1))
		return 1;
	pthread_barrier_wait(&ready);
	if (pthread_create(&id[1], NULL, calls, NULL))
		return 1;
	calls(NULL);
	pthread_join(id[0], NULL);
	pthread_join(id[1], NULL);
	return 0;
}

static int grown(void)
{
	pthread_t id;

	child(many);
	if (pthread_create(&id, NULL, calls, (void *)1))
		return 1;
	calls(NULL);
	pthread_join(id, NULL);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	number = atol(argv[2]);
	leaf();
	return strcmp(argv[1], "first") ? grown() : first();
}
