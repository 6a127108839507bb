// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keys that lie at regular distances are spread over a table as random ones are: code, the same
 * code in many processes, and inodes.  One multiplication alone does not do that, or this test
 * could not fail.  The numbers are the same in each run.
 */
#include <string.h>
#include "kernel.h"
#include "../../module/spread.h"
#include "tap.h"

#define SECRETS		2000
#define PROBES		32	/* PROFIL_PROBES */
#define ENTRIES_MAX	(1 << 16)

/* So many keys in a row at so many others, and a table that they fill to a half. */
static const struct keys {
	const char *what;
	u32 num, rows, entries;
	u64 apart, rows_apart;
} all[] = {
	{ "instructions", 512, 1, 1 << 10, 1, 0 },
	{ "instructions of four bytes", 512, 1, 1 << 10, 4, 0 },
	{ "small functions", 512, 1, 1 << 10, 64, 0 },
	{ "many small functions", 4096, 1, 1 << 13, 64, 0 },
	{ "the same places in processes", 32, 128, 1 << 13, 24, PROFIL_SPREAD_PROCESS },
	{ "one place in many processes", 4095, 1, 1 << 13, PROFIL_SPREAD_PROCESS, 0 },
	{ "places in objects", 64, 64, 1 << 13, 16, PROFIL_SPREAD_OBJECT },
	{ "one place in many objects", 4095, 1, 1 << 13, PROFIL_SPREAD_OBJECT, 0 },
	{ "inodes", 512, 1, 1 << 10, 1024, 0 },
	{ "inodes in pages of a slab", 27, 75, 1 << 12, 1176, 1 << 15 },
};

static u64 one_factor(u64 key, u64 secret)
{
	return key * secret;
}

/* How many find no free entry, as profil_table_search() looks for one. */
static u32 lost(const struct keys *keys, u64 (*spread)(u64 key, u64 secret))
{
	u64 secret = get_random_u64() | 1, first = any(1ULL << 31), key;
	static bool used[ENTRIES_MAX];
	u32 i, probe, entry, sum = 0;

	memset(used, 0, keys->entries);
	for (i = 0; i < keys->num * keys->rows; i++) {
		key = (first + i % keys->num * keys->apart) ^
		      (1 + i / keys->num) * keys->rows_apart;
		entry = spread(key, secret) >> (64 - __builtin_ctz(keys->entries));
		for (probe = 0; probe < PROBES; probe++)
			if (!used[(entry + probe) & (keys->entries - 1)])
				break;
		sum += probe == PROBES;
		used[(entry + probe) & (keys->entries - 1)] |= probe < PROBES;
	}
	return sum;
}

/* Of random keys, three of a million find no entry, and five in the worst table. */
static bool as_random(const struct keys *keys, u64 (*spread)(u64 key, u64 secret))
{
	u64 num = (u64)keys->num * keys->rows, sum = 0;
	u32 run, one, most = 0;

	for (run = 0; run < SECRETS; run++) {
		one = lost(keys, spread);
		sum += one;
		most = max(most, one);
	}
	printf("# %s: %llu of a million, at most %u of %llu in one table\n", keys->what,
	       (unsigned long long)(sum * 1000000 / (num * SECRETS)), most,
	       (unsigned long long)num);
	return sum * 50000 < num * SECRETS && most * 50 < num;
}

static bool spread_out(void)
{
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!as_random(&all[i], profil_spread))
			return tap_fail("these meet: %s", all[i].what);
	return true;
}

static bool can_fail(void)
{
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (as_random(&all[i], one_factor))
			return tap_fail("one multiplication would do for %s", all[i].what);
	return true;
}

int main(void)
{
	tap_fork(spread_out, "keys at regular distances have an entry each in a table of twice as many");
	tap_fork(can_fail, "not by one multiplication");
	return tap_plan();
}
