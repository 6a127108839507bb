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
	range->order = 1 + any(3);
	range->pre = 1;
	range->post = 16;
	switch (any(3)) {
	case 0:
		range->pre = range->order;
		break;
	case 1:
		range->pre = 0;
		range->post = 17;
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
				    range->scale, range->pre, range->post);
}

static u64 index_in(const struct profil_range *range, u64 pc)
{
	u64 index = profil_bin(pc, range->offset, range->scale, range->pre,
			       range->post);

	return index < range->bytes >> range->order ? index : PROFIL_NO_BIN;
}

static const struct profil_range *by_rule(const struct profil_range *range,
					  u32 num, u64 pc)
{
	const struct profil_range *best = NULL;

	for (u32 i = 0; i < num; i++) {
		if (index_in(&range[i], pc) == PROFIL_NO_BIN)
			continue;
		if (!best || (best->overflow && !range[i].overflow) ||
		    (best->overflow == range[i].overflow &&
		     range[i].offset > best->offset))
			best = &range[i];
	}
	return best;
}

static bool right(const struct profil_set *set, const struct profil_range *given,
		  u32 num, u64 pc)
{
	const struct profil_range *want = by_rule(given, num, pc);
	struct profil_bin_ref bin = { .addr = 0 };
	bool found = profil_find_bin(set, pc, &bin);

	if (!want)
		return !found || tap_fail("pc %llu is found", (unsigned long long)pc);
	if (found && bin.width == 1 << want->order &&
	    bin.addr == want->addr + (index_in(want, pc) << want->order))
		return true;
	return tap_fail("pc %llu is not in region %u", (unsigned long long)pc,
			want->given);
}

static bool one_set(void)
{
	u64 start[2 * REGIONS + 1];
	struct profil_range *segment[2 * REGIONS + 1];
	struct profil_range given[REGIONS];
	u32 num = 1 + any(REGIONS), overflow = any(3 * REGIONS);
	struct profil_set *set = calloc(1, sizeof(*set) + sizeof(given));
	bool ok = set;

	for (u32 i = 0; i < num; i++)
		any_range(&given[i], i, i == overflow);
	if (ok) {
		memcpy(set->range, given, sizeof(given));
		set->nr_ranges = num;
		set->start = start;
		set->segment = segment;
		profil_find_prepare(set);
		ok = set->nr_segments <= 2 * num + 1;
	}
	for (u64 pc = 0; ok && pc < CODE; pc++)
		ok = right(set, given, num, pc);
	free(set);
	return ok;
}

static bool any_sets(void)
{
	for (int i = 0; i < 8000; i++)
		if (!one_set())
			return false;
	return true;
}

int main(void)
{
	tap_fork(any_sets, "8000 sets of overlapping regions, each pc of their code");
	return tap_plan();
}
