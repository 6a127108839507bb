/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The search of a tick, in line.  As many steps as the number of segments has
 * bits, of five instructions each.
 */
#ifndef _PROFIL_FIND_H
#define _PROFIL_FIND_H

#include "profil.h"

/* The range that has @pc, or NULL: that of the last segment not above it. */
static inline const struct profil_range *
profil_find_range(const struct profil_set *set, u64 pc)
{
	const u64 *start = set->start;
	unsigned long low = 0, step;

	/* The first segment begins at 0. */
	if (start[set->skip] <= pc)
		low = set->skip;
	for (step = set->step; step; step >>= 1)
		low = start[low + step] <= pc ? low + step : low;
	return set->segment[low];
}

#endif /* _PROFIL_FIND_H */
