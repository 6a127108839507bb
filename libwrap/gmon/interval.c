// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * A thread that writes files time and again.  All signals are blocked in it, and
 * so none is for it that the program would have been given.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include "gmon.h"
#include "internal.h"

/* <unistd.h> declares profil(), see internal.h. */
ssize_t read(int fd, void *buf, size_t num);
int close(int fd);

#define STACK_BYTES	(256 * 1024)
#define NSEC		1000000000LL
#define SHORTEST	0.001
#define LONGEST		1e9	/* seconds */
#define LOOK_EVERY	NSEC	/* whether other threads are left */

static long long interval;	/* 0 without */

static long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * NSEC + time.tv_nsec;
}

static void sleep_until(long long when)
{
	struct timespec time = { when / NSEC, when % NSEC };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
		;
}

static bool first_thread_ended(void)
{
	char stat[128];
	const char *name_end;
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	ssize_t num = fd < 0 ? -1 : read(fd, stat, sizeof(stat) - 1);

	if (fd >= 0)
		close(fd);
	if (num < 0)
		return false;
	stat[num] = 0;
	name_end = strrchr(stat, ')');
	return name_end && !strncmp(name_end, ") Z", 3);
}

/*
 * When the last thread of a program has ended, it exits.  The C library takes
 * this thread for one of them; so this thread does it.  A folder has a link from
 * its parent, one from itself, and one from each folder in it.
 */
static void exit_if_alone(void)
{
	struct stat tasks;

	if (!stat("/proc/self/task", &tasks) && tasks.st_nlink == 2 + 2 &&
	    first_thread_ended())
		exit(0);
}

static void *work(void *arg)
{
	long long due = now() + interval;

	for (;;) {
		long long look = now() + LOOK_EVERY;

		sleep_until(due < look ? due : look);
		exit_if_alone();
		if (now() < due)
			continue;
		libprofil_gmon_follow();
		libprofil_dump(0);
		/* What was missed is not made up for. */
		due += (now() - due) / interval * interval + interval;
	}
	return arg;
}

static int start_thread(void)
{
	pthread_attr_t attr;
	sigset_t all, old;
	pthread_t thread;
	int ret;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(&thread, &attr, work, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return ret;
}

static void start_or_complain(void)
{
	int err = start_thread();
	const char *const parts[LIBPROFIL_PARTS] = {
		"profil: cannot start a thread for PROFIL_INTERVAL: ", strerror(err),
		"; files are written at exit alone\n",
	};

	if (err)
		libprofil_say(parts);
}

static long long parse(const char *seconds)
{
	char *end;
	double value = strtod(seconds, &end);

	if (!*seconds || *end || !(value >= SHORTEST && value <= LONGEST))
		return 0;
	return value * NSEC;
}

/**
 * libprofil_interval_begin() - Do as PROFIL_INTERVAL says
 */
void libprofil_interval_begin(void)
{
	const char *seconds = secure_getenv("PROFIL_INTERVAL");
	const char *const parts[LIBPROFIL_PARTS] = {
		"profil: cannot understand ", seconds,
		" in PROFIL_INTERVAL; give a number of seconds, from 0.001\n",
	};

	if (!seconds)
		return;
	interval = parse(seconds);
	if (interval)
		start_or_complain();
	else
		libprofil_say(parts);
}

/**
 * libprofil_interval_forked() - Go on in a child, which does not have the thread
 */
void libprofil_interval_forked(void)
{
	if (interval)
		start_or_complain();
}
