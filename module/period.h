/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The arithmetic of the timer source: the CPU time of a process is cut into
 * periods, and each has one sample, at a random place of its first part.  Pure,
 * so that the kernel and the tests share it.
 */
#ifndef _PROFIL_PERIOD_H
#define _PROFIL_PERIOD_H

#include <linux/minmax.h>
#include <linux/prandom.h>
#include <linux/types.h>

#define PROFIL_TIMER_LEFTS	4	/* CPUs whose periods are kept */

/* Times are in ns. */
struct profil_period {
	u64			gen;	/* of the set or session that has it; 0: there is none */
	u32			length;
	u32			spread;	/* of this first part; 0 is the beginning */
	s64			start;	/* of the one with the next sample */
	struct rnd_state	rnd;
};

static inline u32 profil_period_random(struct profil_period *period, u32 below)
{
	return (u64)prandom_u32_state(&period->rnd) * below >> 32;
}

/*
 * When to take the next sample: at a random time of those that are left, or at one that is
 * over if none is left.
 */
static inline s64 profil_period_due(struct profil_period *period, s64 now)
{
	s64 gone = max_t(s64, now - period->start, 0);

	if (gone >= period->spread)
		return period->start + period->spread;
	return period->start + gone +
	       profil_period_random(period, period->spread - gone);
}

/*
 * When to take the first sample, as if there had been periods for ever: the start of the
 * period becomes a random one.
 */
static inline s64 profil_period_first(struct profil_period *period, s64 now)
{
	s64 due;

	period->start = now - profil_period_random(period, period->length);
	due = period->start + profil_period_random(period, period->spread);
	if (due >= now)
		return due;
	period->start += period->length;
	return period->start + profil_period_random(period, period->spread);
}

/* What is left of a period, in one word together with the generation; both cut. */
static inline s64 profil_period_keep(const struct profil_period *period, s64 now)
{
	s32 left = clamp_t(s64, period->start - now, S32_MIN, S32_MAX);

	return period->gen << 32 | (u32)left;
}

/*
 * Goes on with @left of profil_period_keep(), and says when to take the next sample.  If
 * nothing was left, or another generation left it, the period begins at random.
 */
static inline s64 profil_period_resume(struct profil_period *period, s64 left,
				       s64 now)
{
	if (!left || (u32)(left >> 32) != (u32)period->gen)
		return profil_period_first(period, now);
	period->start = now + (s32)left;
	return profil_period_due(period, now);
}

#endif /* _PROFIL_PERIOD_H */
