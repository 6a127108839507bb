// SPDX-License-Identifier: GPL-2.0-only
#include <linux/atomic.h>
#include <linux/gcd.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/random.h>

#include "due.h"

u16 profil_due_units[PROFIL_DUE_UNITS] __read_mostly;
static u64 profil_due_key __read_mostly;
static atomic64_t profil_due_secrets = ATOMIC64_INIT(0);

/*
 * Another secret for each run: children of the same age must not choose alike.  It is no
 * random number of the kernel's, because these take thousands of instructions at a fork.
 * A program may find it out by what is due, so the key has no other use.
 */
u64 profil_due_secret(void)
{
	return profil_due_key * atomic64_inc_return(&profil_due_secrets);
}

/* Of each window of ticks so many are due that there are @rate in a second; 0: all. */
void profil_due_rate(struct profil_due *due, u32 rate)
{
	u32 divisor;

	rate = rate ?: HZ;
	divisor = gcd(rate, HZ);
	due->take = rate / divisor;
	due->window = HZ / divisor;
}

/*
 * How many of the first @number ticks were not due: of whole windows, and of the last one.
 * Only rated runs number their ticks.
 */
u64 profil_due_not(const struct profil_due *due, u64 number)
{
	u64 window, sum;
	u32 pos, i;

	if (!number)
		return 0;
	window = div_u64_rem(number, due->window, &pos);
	sum = window * due->take;
	for (i = 0; i < pos; i++)
		sum += profil_due(due, profil_due_units, window, i);
	return number - sum;
}

/* Draws the units and the key. */
void profil_due_init(void)
{
	int i;

	for (i = 0; i < PROFIL_DUE_UNITS; i++)
		do
			profil_due_units[i] = get_random_u32();
		while (gcd(profil_due_units[i], HZ) != 1);
	profil_due_key = get_random_u64() | 1;
}
