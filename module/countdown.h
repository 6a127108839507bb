/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A countdown: a timer of one CPU that ends the periods of who runs there, and what is left
 * of a period when they leave.  With interrupts off, on its own CPU.
 */
#ifndef _PROFIL_COUNTDOWN_H
#define _PROFIL_COUNTDOWN_H

#include <linux/atomic.h>
#include <linux/hrtimer.h>
#include <linux/minmax.h>
#include <linux/random.h>

#include "period.h"

#define PROFIL_TIMER_RATE_MAX	10000U	/* and so many samples are taken at once */

/* It runs if its period has a generation. */
struct profil_countdown {
	struct hrtimer		timer;
	struct profil_period	period;
};

static inline s64 profil_countdown_take(atomic64_t *lefts)
{
	s64 left = 0;
	int i;

	for (i = 0; !left && i < PROFIL_TIMER_LEFTS; i++)
		if (atomic64_read(&lefts[i]))
			left = atomic64_xchg(&lefts[i], 0);
	return left;
}

/* Where there is no more room it is dropped: the next period begins at random then. */
static inline void profil_countdown_keep(atomic64_t *lefts, s64 left)
{
	int i;

	for (i = 0; i < PROFIL_TIMER_LEFTS; i++)
		if (!atomic64_cmpxchg(&lefts[i], 0, left))
			return;
}

/* The period's generation, length and spread are set. */
static inline void profil_countdown_begin(struct profil_countdown *down, atomic64_t *lefts)
{
	s64 left = profil_countdown_take(lefts);

	hrtimer_start(&down->timer,
		      profil_period_resume(&down->period, left, ktime_get()),
		      HRTIMER_MODE_ABS_PINNED_HARD);
}

/* @lefts may be NULL: who it ran for is gone. */
static inline void profil_countdown_end(struct profil_countdown *down, atomic64_t *lefts)
{
	/* Its function does not run: it would do so here. */
	hrtimer_try_to_cancel(&down->timer);
	if (lefts && down->period.gen)
		profil_countdown_keep(lefts, profil_period_keep(&down->period, ktime_get()));
	down->period.gen = 0;
}

/* Moves on to the next period, and says how many are over. */
static inline unsigned int profil_countdown_forward(struct profil_countdown *down)
{
	struct profil_period *period = &down->period;
	ktime_t now = ktime_get();
	u64 over = hrtimer_forward(&down->timer, now, period->length);

	period->start += over * period->length;
	hrtimer_set_expires(&down->timer, profil_period_due(period, now));
	return min_t(u64, over, PROFIL_TIMER_RATE_MAX);
}

static inline void profil_countdown_init(struct profil_countdown *down,
					 enum hrtimer_restart (*expired)(struct hrtimer *))
{
	hrtimer_setup(&down->timer, expired, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_HARD);
	prandom_seed_state(&down->period.rnd, get_random_u64());
}

#endif /* _PROFIL_COUNTDOWN_H */
