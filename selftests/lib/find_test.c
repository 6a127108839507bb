// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module's search for the counter of a program counter, against the rule
 * itself: of the regions that contain it, the one with the largest offset, the
 * first given of these, and the overflow region if there is no other.
 */
#include <stdio.h>
#include <string.h>
#include "kernel.h"
#include "../../module/find.c"
#include "tap.h"

#define REGIONS	40
#define CODE	900

static void any_form(struct profil_range *range)
{
	range->order = 1 + any(2);
	range->round = ~1ULL;
	range->shift = 17;
	switch (any(3)) {
	case 0:
		range->round = ~0ULL << range->order;
		range->shift = 16 + range->order;
		break;
	case 1:
		range->round = ~0ULL;
		break;
	}
}

static void any_range(struct profil_range *range, u32 given, bool overflow)
{
	memset(range, 0, sizeof(*range));
	any_form(range);
	range->given = given;
	range->overflow = overflow;
	range->addr = 0x100000UL * (given + 1);
	range->bytes = any(any(2) ? 40 : 200);
	if (!overflow) {
		range->offset = any(300);
		range->scale = any(30) ? 1 + any(any(2) ? 70000 : 1000000) : 0;
	}
	range->end = profil_bin_end(range->bytes >> range->order, range->offset,
				    range->scale, range->round, range->shift);
}

static bool in(const struct profil_range *range, u64 pc)
{
	return pc >= range->offset && profil_bin(pc, range->offset, range->scale, range->round,
						 range->shift) < range->bytes >> range->order;
}

static const struct profil_range *by_rule(const struct profil_range *range,
					  u32 num, u64 pc)
{
	const struct profil_range *best = NULL;

	for (u32 i = 0; i < num; i++) {
		if (!in(&range[i], pc))
			continue;
		if (!best || (best->overflow && !range[i].overflow) ||
		    (best->overflow == range[i].overflow &&
		     range[i].offset > best->offset))
			best = &range[i];
	}
	return best;
}

static bool right(const struct profil_segments *segments,
		  const struct profil_range *given, u32 num, u64 pc)
{
	const struct profil_range *want = by_rule(given, num, pc);
	const struct profil_range *found = profil_find_range(segments, pc);

	if (!want)
		return !found || tap_fail("pc %llu is found", (unsigned long long)pc);
	if (found && found->given == want->given &&
	    profil_find_counter(found, pc) < want->addr + want->bytes)
		return true;
	return tap_fail("pc %llu is not in region %u", (unsigned long long)pc,
			want->given);
}

static bool one_set(void)
{
	u64 start[2 * REGIONS + 1];
	struct profil_range *of[2 * REGIONS + 1];
	struct profil_range given[REGIONS], range[REGIONS];
	struct profil_segments segments = { .start = start, .range = of };
	u32 num = 1 + any(REGIONS), overflow = any(3 * REGIONS);
	bool ok;

	for (u32 i = 0; i < num; i++)
		any_range(&given[i], i, i == overflow);
	memcpy(range, given, sizeof(given));
	profil_find_prepare(&segments, range, num);
	ok = segments.nr <= 2 * num + 1;
	for (u64 pc = 0; ok && pc < CODE; pc++)
		ok = right(&segments, given, num, pc);
	return ok;
}

static bool any_sets(void)
{
	for (int i = 0; i < 8000; i++)
		if (!one_set())
			return false;
	return true;
}

/* Where the end is the very last pc, that one has no counter. */
static bool last_pc(void)
{
	u64 start[3];
	struct profil_range *of[3];
	struct profil_segments segments = { .start = start, .range = of };
	struct profil_range range = {
		.addr = 0x100000, .bytes = 2, .order = 1, .offset = U64_MAX - 1,
		.scale = U32_MAX, .round = ~0ULL, .shift = 17,
	};

	range.end = profil_bin_end(1, range.offset, range.scale, range.round, range.shift);
	profil_find_prepare(&segments, &range, 1);
	TAP_CHECK(profil_find_range(&segments, U64_MAX - 1) == &range);
	TAP_CHECK(!profil_find_range(&segments, U64_MAX));
	return true;
}

int main(void)
{
	tap_fork(last_pc, "a region that ends with the very last pc");
	tap_fork(any_sets, "8000 sets of overlapping regions, each pc of their code");
	return tap_plan();
}
