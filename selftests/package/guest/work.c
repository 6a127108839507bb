// SPDX-License-Identifier: GPL-2.0-only
/* Nine tenths of its time are spent in hot(). */
#include <stdio.h>

static volatile unsigned long total;

__attribute__((noinline)) static void hot(void)
{
	for (int i = 0; i < 9000000; i++)
		total += i;
}

__attribute__((noinline)) static void cold(void)
{
	for (int i = 0; i < 1000000; i++)
		total += i;
}

int main(void)
{
	for (int i = 0; i < 30; i++) {
		hot();
		cold();
	}
	printf("%lu\n", total);
	return 0;
}
