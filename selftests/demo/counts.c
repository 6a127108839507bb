// SPDX-License-Identifier: GPL-2.0-only
/* The classes of ticks, in the order of their sum. */
#include "profile.h"

#define COUNT(name, text) { #name, text, offsetof(struct profil_ioc_stats, out_##name) }

const struct profile_count profile_counts[] = {
	COUNT(ticks, "ticks of its threads"),
	COUNT(not_due, "not due: the rate asked for is below the tick's"),
	COUNT(system, "in the kernel, left out"),
	COUNT(in_range, "in range"),
	COUNT(outside, "outside, in code loaded later"),
	COUNT(saturated, "saturated"),
	COUNT(pending, "pending"),
	COUNT(lost, "lost"),
	COUNT(lost_full, "lost: no free record"),
	COUNT(lost_stopped, "lost: stopped meanwhile"),
	COUNT(lost_exit, "lost: thread ended"),
	COUNT(lost_fault, "lost: histogram gone"),
	COUNT(lost_denied, "lost: not writable"),
	COUNT(lost_unready, "lost: page not present"),
	COUNT(lost_contended, "lost: contended"),
	COUNT(deferred, "deferred, beside these"),
	COUNT(borrowed, "of kernel threads, beside"),
	COUNT(forks_missed, "children not profiled"),
};

const size_t profile_counts_num = ARRAY_SIZE(profile_counts);
