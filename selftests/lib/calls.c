// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls whose number is known.
 *
 *	calls threads N M	N threads call leaf() M times each
 *	calls together N M	the same, and none ends before the others
 *	calls signals N		a handler calls leaf(), N times, amid calls of
 *				busy()
 *	calls fork N M		leaf() M times; then, with two threads busy, so many
 *				times in each of N children
 *	calls child N		a child's first thread and its second call leaf()
 *				N times each
 *	calls many N		256 call sites have N turns
 *	calls twice		_mcleanup(), twice before exit
 *	calls switched N	N calls while moncontrol(0)
 *	calls second N		N calls, and then a quarter of a second of CPU time without any
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void _mcleanup(void);
void moncontrol(int mode);

#define NOINLINE __attribute__((noinline, noclone))

static long number;
static volatile sig_atomic_t handled;
static volatile int stop;

NOINLINE void leaf(void);
NOINLINE void leaf(void)
{
	__asm__ volatile("");
}

NOINLINE void busy(void);
NOINLINE void busy(void)
{
	__asm__ volatile("");
}

static NOINLINE void *thread(void *arg)
{
	long i;

	for (i = 0; i < number; i++)
		leaf();
	return arg;
}

static void *thread_together(void *arg)
{
	thread(arg);
	pthread_barrier_wait(arg);
	return NULL;
}

static int threads(int num, void *(*function)(void *arg))
{
	pthread_barrier_t end;
	pthread_t id[num];
	int i;

	if (pthread_barrier_init(&end, NULL, num))
		return 1;
	for (i = 0; i < num; i++)
		if (pthread_create(&id[i], NULL, function, &end))
			return 1;
	for (i = 0; i < num; i++)
		pthread_join(id[i], NULL);
	return 0;
}

static void handler(int sig)
{
	(void)sig;
	leaf();
	handled++;
}

static int signals(void)
{
	struct itimerval often = { { 0, 50 }, { 0, 50 } };

	signal(SIGALRM, handler);
	setitimer(ITIMER_REAL, &often, NULL);
	while (handled < number)
		busy();
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	printf("%d\n", (int)handled);
	return 0;
}

static void *until_stop(void *arg)
{
	while (!stop)
		busy();
	return arg;
}

static int forks(int num)
{
	pthread_t id[2];
	int i, status, bad = 0;

	thread(NULL);
	for (i = 0; i < 2; i++)
		if (pthread_create(&id[i], NULL, until_stop, NULL))
			return 1;
	for (i = 0; i < num; i++) {
		pid_t pid = fork();

		if (!pid) {
			thread(NULL);
			exit(0);
		}
		bad |= waitpid(pid, &status, 0) != pid || status;
	}
	stop = 1;
	for (i = 0; i < 2; i++)
		pthread_join(id[i], NULL);
	return bad;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	/* Where there is but one, they take turns. */
	sched_setaffinity(0, sizeof(set), &set);
}

static void *elsewhere(void *arg)
{
	pin(1);
	return thread(arg);
}

/* The child's second thread is there before its first has called anything. */
static int child(void)
{
	pthread_t id;
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (pthread_create(&id, NULL, elsewhere, NULL))
			_exit(1);
		pin(0);
		usleep(1000);
		thread(NULL);
		pthread_join(id, NULL);
		exit(0);
	}
	return waitpid(pid, &status, 0) != pid || status;
}

/* In this program's own code, but seldom in the C library's clock(). */
static NOINLINE __attribute__((section(".second"))) int second(void)
{
	volatile int i;

	thread(NULL);
	while (clock() < CLOCKS_PER_SEC / 4)
		for (i = 0; i < 100000; i++)
			;
	return 0;
}

#define SITES_1(n)	do { busy(); if ((n) % 3 == 0) leaf(); } while (0)
#define SITES_2(n)	do { SITES_1(n); SITES_1((n) + 1); } while (0)
#define SITES_4(n)	do { SITES_2(n); SITES_2((n) + 2); } while (0)
#define SITES_8(n)	do { SITES_4(n); SITES_4((n) + 4); } while (0)
#define SITES_16(n)	do { SITES_8(n); SITES_8((n) + 8); } while (0)
#define SITES_32(n)	do { SITES_16(n); SITES_16((n) + 16); } while (0)
#define SITES_64(n)	do { SITES_32(n); SITES_32((n) + 32); } while (0)

NOINLINE void many(void);
NOINLINE void many(void)
{
	SITES_64(0);
	SITES_64(64);
	SITES_64(128);
	SITES_64(192);
	SITES_64(256);
	SITES_64(320);
	SITES_64(384);
	SITES_64(448);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long first = argc > 2 ? atol(argv[2]) : 0;
	long i;

	number = argc > 3 ? atol(argv[3]) : first;
	if (!strcmp(what, "threads"))
		return threads(first, thread);
	if (!strcmp(what, "together"))
		return threads(first, thread_together);
	if (!strcmp(what, "signals"))
		return signals();
	if (!strcmp(what, "fork"))
		return forks(first);
	if (!strcmp(what, "child"))
		return child();
	if (!strcmp(what, "many")) {
		for (i = 0; i < number; i++)
			many();
		return 0;
	}
	if (!strcmp(what, "twice")) {
		leaf();
		_mcleanup();
		_mcleanup();
		return 0;
	}
	if (!strcmp(what, "switched")) {
		leaf();
		moncontrol(0);
		thread(NULL);
		moncontrol(1);
		leaf();
		return 0;
	}
	if (!strcmp(what, "second"))
		return second();
	return 2;
}
