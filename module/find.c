// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a program counter to its counter.  Regions may overlap and hide each
 * other, so START cuts the code into segments that have one region each or
 * none, and the tick finds its segment in logarithmic time.
 */
#include <linux/minmax.h>
#include <linux/sort.h>

#include "bin.h"
#include "find.h"
#include "profil.h"

#define PROFIL_NO_RANGE		U32_MAX

/*
 * By ascending offset; what comes later hides what came before.  So the
 * overflow region is the first of its offset, and the first given the last.
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
static void profil_find_begin(struct profil_set *set, u64 start, u32 range)
{
	u32 i = set->nr_segments;

	if (i && set->start[i - 1] == start)
		i--;
	set->start[i] = start;
	set->segment[i] = range == PROFIL_NO_RANGE ? NULL : &set->range[range];
	set->nr_segments = i + 1;
}

/* Ends the segments of ranges that end until @limit; returns what goes on. */
static u32 profil_find_end(struct profil_set *set, u32 top, u64 limit)
{
	u64 end = 0;

	while (top != PROFIL_NO_RANGE && set->range[top].end <= limit) {
		/* What is below may have ended while it was hidden. */
		end = max(end, set->range[top].end);
		top = set->range[top].below;
		profil_find_begin(set, end, top);
	}
	return top;
}

/* The search goes by powers of two, but for its first step. */
static void profil_find_steps(struct profil_set *set)
{
	u32 power = 1;

	while (power <= set->nr_segments / 2)
		power *= 2;
	set->skip = set->nr_segments - power;
	set->step = power / 2;
}

/**
 * profil_find_prepare - Cut the code into segments
 * @set: The set with all its ranges
 *
 * Context: Task.
 */
void profil_find_prepare(struct profil_set *set)
{
	u32 i, top = PROFIL_NO_RANGE;

	sort(set->range, set->nr_ranges, sizeof(set->range[0]), profil_find_cmp,
	     NULL);
	profil_find_begin(set, 0, PROFIL_NO_RANGE);
	for (i = 0; i < set->nr_ranges; i++) {
		if (set->range[i].end == set->range[i].offset)
			continue;
		top = profil_find_end(set, top, set->range[i].offset);
		set->range[i].below = top;
		top = i;
		profil_find_begin(set, set->range[i].offset, i);
	}
	/* An end of ~0 is none. */
	profil_find_end(set, top, U64_MAX - 1);
	profil_find_steps(set);
}

/**
 * profil_find_bin - Find the counter of a program counter
 * @set: The set
 * @pc: The program counter
 * @bin: Receives the counter
 *
 * Context: Any; the caller keeps @set from being freed.
 * Return: Whether there is one.
 */
bool profil_find_bin(const struct profil_set *set, u64 pc,
		     struct profil_bin_ref *bin)
{
	const struct profil_range *range = profil_find_range(set, pc);
	u64 index;

	if (!range)
		return false;
	index = profil_bin(pc, range->offset, range->scale, range->pre,
			   range->post);
	if (index >= range->bytes >> range->order)
		return false;
	bin->gen = set->gen;
	bin->addr = range->addr + (index << range->order);
	bin->mask = range->mask;
	return true;
}
