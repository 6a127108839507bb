/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From a program counter to its counter, as the tick does it, in line.
 */
#ifndef _PROFIL_FIND_H
#define _PROFIL_FIND_H

#include <linux/types.h>

#include "bin.h"

/* A region as the tick needs it. */
struct profil_range {
	u64			offset;
	u64			end;		/* first pc beyond the histogram */
	unsigned long		addr;		/* of the histogram */
	u64			bytes;		/* its size */
	u64			round;		/* as for profil_bin() */
	u32			scale;		/* 0: the first counter has all */
	u32			mask;		/* the maximum of a counter */
	u8			shift;		/* as for profil_bin() */
	u8			order;		/* logarithm of a counter's bytes */
	bool			overflow;	/* has what no other range has */
	u32			given;		/* its place in what START was given */
	u32			below;		/* index of the range that it covers
						 * at its start
						 */
};

/*
 * The code, cut into segments that have one range each or none.  The first segment
 * begins at 0.
 */
struct profil_segments {
	u64			*start;		/* of each segment, ascending */
	struct profil_range	**range;	/* who has it, or NULL */
	u32			nr;
	u32			skip;		/* of these, by the first step */
	u32			step;		/* half of the others: a power of 2 */
};

/* One counter in one generation. */
struct profil_bin_ref {
	u64			gen;
	unsigned long		addr;
	u32			mask;		/* its maximum */
};

/*
 * The range that has @pc, or NULL: that of the last segment not above it.  There are
 * as many steps as the number of segments has bits, of five instructions each.
 */
static __always_inline const struct profil_range *
profil_find_range(const struct profil_segments *segments, u64 pc)
{
	const u64 *start = segments->start;
	unsigned long low = 0, step;

	if (start[segments->skip] <= pc)
		low = segments->skip;
	for (step = segments->step; step; step >>= 1)
		low = start[low + step] <= pc ? low + step : low;
	return segments->range[low];
}

/* The address of the counter of @pc in @range, which has it. */
static __always_inline unsigned long
profil_find_counter(const struct profil_range *range, u64 pc)
{
	return range->addr + (profil_bin(pc, range->offset, range->scale, range->round,
					 range->shift) << range->order);
}

void profil_find_prepare(struct profil_segments *segments,
			 struct profil_range *range, u32 nr);

#endif /* _PROFIL_FIND_H */
