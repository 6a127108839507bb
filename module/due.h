/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which ticks of a rated profile are due.  It is pure, so that the kernel and the tests
 * share it.
 *
 * The ticks of a process are numbered, and each window of them has the same number of due
 * ticks.  A window puts its ticks into another order: that at pos becomes that at
 * (start + pos * unit) % window, where unit and window have no common divisor.  The first
 * ones of that order are due, exactly so many.
 *
 * start and unit are random, and new for each window.  By the start each tick has the same
 * chance, so that no CPU, thread or phase of a program is favoured.  By the unit any two
 * ticks of a window are due together nearly as often as if each were drawn by itself: with
 * a fixed one, CPUs that tick one after the other would in turn have a window for
 * themselves.
 */
#ifndef _PROFIL_DUE_H
#define _PROFIL_DUE_H

#include <linux/types.h>

#define PROFIL_DUE_UNITS	64	/* a power of 2 */

struct profil_due {
	u64			secret;
	u32			window;		/* of each so many ticks */
	u32			take;		/* so many are due */
};

/* They have no divisor in common with HZ, and so with no window. */
extern u16 profil_due_units[PROFIL_DUE_UNITS];

void profil_due_rate(struct profil_due *due, u32 rate);
u64 profil_due_not(const struct profil_due *due, u64 number);
u64 profil_due_secret(void);
void profil_due_init(void);

/* Whether the tick at position @pos of window @number is due, with these units. */
static __always_inline bool profil_due(const struct profil_due *due, const u16 *units,
				       u64 number, u32 pos)
{
	u64 x = (number ^ due->secret) * 0x9e3779b97f4a7c15ULL;
	u32 start, unit;

	x = (x ^ x >> 32) * 0xbf58476d1ce4e5b9ULL;
	start = (x >> 32) * due->window >> 32;
	unit = units[x % PROFIL_DUE_UNITS];
	return (start + pos * unit) % due->window < due->take;
}

#endif /* _PROFIL_DUE_H */
