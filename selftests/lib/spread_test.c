// SPDX-License-Identifier: GPL-2.0-only
/*
 * The key of the slots: places that lie together have different first slots, and code that
 * fills half of a table has a slot for each place.  With any odd number for a key that is not
 * so, or this test could not fail.
 */
#include <string.h>
#include "kernel.h"
#include "../../module/spread.h"
#include "tap.h"

#define SECRETS		2000
#define PROBES		32	/* PROFIL_PROBES */
#define SLOTS_MAX	(1 << 16)

static const u32 slots[] = { 1 << 10, 1 << 13, SLOTS_MAX };

static u32 shift_of(u32 num)
{
	return 64 - __builtin_ctz(num);
}

static u64 any_odd(u32 shift)
{
	(void)shift;
	return get_random_u64() | 1;
}

/* How many of a quarter as many places as there are slots have no first slot of their own. */
static u32 shared(u64 secret, u32 num)
{
	static u8 used[SLOTS_MAX];
	u64 place = any(1ULL << 47);
	u32 i, sum = 0;

	memset(used, 0, num);
	for (i = 0; i < num / 4; i++)
		sum += used[profil_spread(place + i, secret, shift_of(num))]++ > 0;
	return sum;
}

/* How many of half as many find no free slot, as profil_table_search() looks for one. */
static u32 lost(u64 secret, u32 num, u32 apart)
{
	static bool used[SLOTS_MAX];
	u64 place = any(1ULL << 47);
	u32 i, probe, slot, sum = 0;

	memset(used, 0, num);
	for (i = 0; i < num / 2; i++, place += apart) {
		slot = profil_spread(place, secret, shift_of(num));
		for (probe = 0; probe < PROBES && used[(slot + probe) & (num - 1)]; probe++)
			;
		sum += probe == PROBES;
		used[(slot + probe) & (num - 1)] = true;
	}
	return sum;
}

/* How many of so many tables are not as they should be. */
static u32 bad_tables(u64 (*draw)(u32 shift))
{
	u32 run, num, apart, sum = 0;
	u64 secret;

	for (run = 0; run < SECRETS; run++) {
		num = slots[run % 3];
		secret = draw(shift_of(num));
		sum += shared(secret, num) != 0;
		for (apart = 1; apart <= 16; apart *= 2)
			sum += lost(secret, num, apart) != 0;
	}
	return sum;
}

static bool together(void)
{
	return !bad_tables(profil_spread_secret) ||
	       tap_fail("there are tables that are half free and full");
}

static bool can_fail(void)
{
	u32 bad = bad_tables(any_odd);

	return bad > SECRETS / 10 || tap_fail("%u of %u tables are bad", bad, SECRETS);
}

/* Whoever fills a table must not guess it: most of what is random is taken. */
static bool most_are_taken(void)
{
	u32 run, taken = 0;

	for (run = 0; run < SECRETS; run++)
		taken += profil_spread_even(any_odd(0), shift_of(slots[run % 3]));
	return (taken > SECRETS / 2 && taken < SECRETS) ||
	       tap_fail("%u of %u numbers are taken", taken, SECRETS);
}

int main(void)
{
	tap_fork(together, "code that fills half of a table has a slot for each place");
	tap_fork(can_fail, "not with any key");
	tap_fork(most_are_taken, "most keys are taken");
	return tap_plan();
}
