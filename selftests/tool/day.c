// SPDX-License-Identifier: GPL-2.0-only
/*
 * In the command: who waits for the end of an interval waits for nothing, and the clock says
 * that the interval is over.  The file that MEMORY names has what was needed after a tenth
 * of so many INTERVALS and at their end, a line with kilobytes for each.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "program.h"

int __real_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
bool __wrap_program_wait(struct program *program, struct session *session, bool all, double most);

static unsigned int intervals;

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
	int error = __real_clock_gettime(clock, time);

	time->tv_sec += intervals;
	return error;
}

static void tell_memory(void)
{
	FILE *own = fopen("/proc/self/statm", "r");
	FILE *out = fopen(getenv("MEMORY"), "a");
	long pages;

	if (!own || !out || fscanf(own, "%*d %ld", &pages) != 1)
		abort();
	fprintf(out, "%ld\n", pages * 4);
	fclose(own);
	fclose(out);
}

bool __wrap_program_wait(struct program *program, struct session *session, bool all, double most)
{
	(void)session;
	(void)all;
	(void)most;
	intervals++;
	if (intervals == strtoul(getenv("INTERVALS"), NULL, 10) / 10 || program->left)
		tell_memory();
	return program->left;
}
