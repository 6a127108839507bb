// SPDX-License-Identifier: GPL-2.0-only
/*
 * PROFIL_FALLBACK=signal in the shared library, with the C library's real
 * profil() behind it.  open() is this file's own: there is never a device.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <profil.h>
#include "tap.h"

int open(const char *path, int flags, ...);

extern char __executable_start[];
#define BINS 65536
static unsigned short bins[BINS];
static int opened;

int open(const char *path, int flags, ...)
{
	(void)path;
	(void)flags;
	opened++;
	errno = ENOENT;
	return -1;
}

static unsigned long counted(void)
{
	unsigned long sum = 0;

	for (size_t i = 0; i < BINS; i++)
		sum += bins[i];
	return sum;
}

/* In this program's own code, and seldom in the C library's clock(). */
static void spin(void)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 5;
	volatile int i;

	while (clock() < end)
		for (i = 0; i < 100000; i++)
			;
}

static bool timer_runs(void)
{
	struct itimerval timer;

	getitimer(ITIMER_PROF, &timer);
	return timer.it_interval.tv_usec || timer.it_interval.tv_sec;
}

static int start(void)
{
	return profil(bins, sizeof(bins), (size_t)__executable_start, 65536);
}

static bool falls_back(void)
{
	struct profil_query query = { .size = sizeof(query) };
	unsigned long sum;

	setenv("PROFIL_FALLBACK", "signal", 1);
	errno = 77;
	TAP_CHECK(!start());
	TAP_CHECK(errno == 77);
	TAP_CHECK(opened == 1);
	TAP_CHECK(timer_runs());
	/* The program can still find out. */
	setenv("PROFIL_QUIET", "1", 1);
	TAP_CHECK(profil_query(&query) == -1 && errno == ENOENT);

	/* Scale 0, which the C library itself does not take for an end. */
	TAP_CHECK(!profil(bins, sizeof(bins), 0, 0));
	TAP_CHECK(!timer_runs());
	sum = counted();
	spin();
	TAP_CHECK(counted() == sum);
	return true;
}

static bool counts(void)
{
	setenv("PROFIL_FALLBACK", "signal", 1);
	TAP_CHECK(!start());
	spin();
	TAP_CHECK(!profil_stop());
	TAP_CHECK(counted() > 0);
	return true;
}

static bool not_unasked(void)
{
	setenv("PROFIL_FALLBACK", "none", 1);
	setenv("PROFIL_QUIET", "1", 1);
	TAP_CHECK(start() == -1);
	TAP_CHECK(errno == ENOENT);
	TAP_CHECK(!timer_runs());
	return true;
}

int main(void)
{
	tap_fork(falls_back, "PROFIL_FALLBACK=signal starts and stops the C library's");
	tap_fork(counts, "PROFIL_FALLBACK=signal counts");
	tap_fork(not_unasked, "any other value does not fall back");
	return tap_plan();
}
