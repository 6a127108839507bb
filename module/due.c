// SPDX-License-Identifier: GPL-2.0-only
#include <linux/gcd.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/random.h>

#include "due.h"

u16 profil_due_units[PROFIL_DUE_UNITS] __read_mostly;

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

/* Draws the units. */
void profil_due_init(void)
{
	int i;

	for (i = 0; i < PROFIL_DUE_UNITS; i++)
		do
			profil_due_units[i] = get_random_u32();
		while (gcd(profil_due_units[i], HZ) != 1);
}
