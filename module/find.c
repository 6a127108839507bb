// SPDX-License-Identifier: GPL-2.0-only
/*
 * Regions may overlap and hide each other.  START cuts the code into segments that
 * have one range each or none, so that the tick finds its segment in logarithmic
 * time.
 */
#include <linux/minmax.h>
#include <linux/sort.h>

#include "find.h"

#define PROFIL_NO_RANGE		U32_MAX

/*
 * By ascending offset; what comes later hides what came before.  So the overflow
 * region is the first of its offset, and of the others the first given is the last.
 */
static int profil_find_cmp(const void *a, const void *b)
{
	const struct profil_range *left = a, *right = b;

	if (left->offset != right->offset)
		return left->offset < right->offset ? -1 : 1;
	if (left->overflow != right->overflow)
		return left->overflow ? -1 : 1;
	return left->given > right->given ? -1 : 1;
}

/* Of segments that begin at the same place the last one counts. */
static void profil_find_begin(struct profil_segments *segments, u64 start,
			      struct profil_range *range)
{
	u32 i = segments->nr;

	if (i && segments->start[i - 1] == start)
		i--;
	segments->start[i] = start;
	segments->range[i] = range;
	segments->nr = i + 1;
}

/*
 * Ends the segments of ranges that end until @limit.  Returns the index of the range
 * that goes on.
 */
static u32 profil_find_end(struct profil_segments *segments,
			   struct profil_range *range, u32 top, u64 limit)
{
	u64 end = 0;

	while (top != PROFIL_NO_RANGE && range[top].end <= limit) {
		/* The range below may have ended while it was hidden. */
		end = max(end, range[top].end);
		top = range[top].below;
		profil_find_begin(segments, end,
				  top == PROFIL_NO_RANGE ? NULL : &range[top]);
	}
	return top;
}

/* The search goes by powers of two, but for its first step. */
static void profil_find_steps(struct profil_segments *segments)
{
	u32 power = 1;

	while (power <= segments->nr / 2)
		power *= 2;
	segments->skip = segments->nr - power;
	segments->step = power / 2;
}

/*
 * Cuts the code into segments, at most two for each range and one more, for which
 * there is room.  It sorts the @nr ranges.
 */
void profil_find_prepare(struct profil_segments *segments,
			 struct profil_range *range, u32 nr)
{
	u32 i, top = PROFIL_NO_RANGE;

	sort(range, nr, sizeof(*range), profil_find_cmp, NULL);
	profil_find_begin(segments, 0, NULL);
	for (i = 0; i < nr; i++) {
		if (range[i].end == range[i].offset)
			continue;
		top = profil_find_end(segments, range, top, range[i].offset);
		range[i].below = top;
		top = i;
		profil_find_begin(segments, range[i].offset, &range[i]);
	}
	/* An end of ~0 may be one beyond, so the very last pc is in no range. */
	profil_find_end(segments, range, top, U64_MAX);
	profil_find_steps(segments);
}
