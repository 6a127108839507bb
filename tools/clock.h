/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TOOLS_CLOCK_H
#define TOOLS_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

/* Seconds, of which only differences mean something. */
static inline double clock_now(void)
{
	return clock_ns(CLOCK_MONOTONIC) / 1e9;
}

#endif /* TOOLS_CLOCK_H */
