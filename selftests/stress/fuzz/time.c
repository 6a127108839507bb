// SPDX-License-Identifier: GPL-2.0-only
/* CPU time, timers, signals, and other CPUs. */
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
#include <sys/time.h>

#include "fuzz.h"

/* The first code that burns, on a page of its own. */
void __attribute__((aligned(4096), noinline)) spin(unsigned long rounds)
{
	while (rounds--)
		__asm__ volatile("" ::: "memory");
}

/* A tick or two of CPU time. */
void op_burn(struct thread *t)
{
	long end_ns = (1 + below(t, 2)) * 4000000L;
	struct timespec ts;
	int i;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	end_ns += ts.tv_sec * 1000000000L + ts.tv_nsec;
	for (i = 0; i < 1000; i++) {
		spin(20000);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
		if (ts.tv_sec * 1000000000L + ts.tv_nsec >= end_ns)
			break;
	}
}

static void op_itimer(struct thread *t)
{
	struct itimerval value = {
		.it_value.tv_usec = pick(t, 0, 1, 1000, 5000),
		.it_interval.tv_usec = pick(t, 0, 10000, 20000),
	};

	CALL(t, setitimer(pick(t, ITIMER_PROF, ITIMER_VIRTUAL, ITIMER_REAL), &value, NULL));
}

void op_timer(struct thread *t)
{
	struct itimerspec spec = { .it_value.tv_nsec = pick(t, 1, 1000000, 5000000) };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	timer_t timer;

	if (once_in(t, 2)) {
		op_itimer(t);
		return;
	}
	if (CALL(t, timer_create(pick(t, CLOCK_THREAD_CPUTIME_ID, CLOCK_PROCESS_CPUTIME_ID,
				      CLOCK_MONOTONIC), &event, &timer)))
		return;
	CALL(t, timer_settime(timer, 0, &spec, NULL));
	if (once_in(t, 2))
		spin(20000);
	CALL(t, timer_delete(timer));
}

void op_signal(struct thread *t)
{
	if (once_in(t, 2))
		CALL(t, raise(SIGUSR1));
	else
		CALL(t, kill(getpid(), SIGUSR2));
}

/* To these CPUs, bit by bit. */
void move_to(unsigned int cpus)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (; cpus; cpus &= cpus - 1)
		CPU_SET(__builtin_ctz(cpus), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

void op_move(struct thread *t)
{
	begin(t);
	move_to(pick(t, 1, 2, 2, 3));
	end(t, 0);
	sched_yield();
}
