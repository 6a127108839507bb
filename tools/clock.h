/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TOOLS_CLOCK_H
#define TOOLS_CLOCK_H

#include <time.h>

/* Seconds, of which only differences mean something. */
static inline double clock_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

#endif /* TOOLS_CLOCK_H */
