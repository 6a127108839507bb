// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where does this program spend its time?  cc ex.c -lprofil && ./a.out
 */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

extern char __executable_start[], etext[];	/* the program's own code */

static unsigned short bins[1 << 20];		/* one counter to two bytes of it */

static void __attribute__((noinline)) work(volatile long *sum, long n)
{
	while (n--)
		*sum += n;
}

static void __attribute__((noinline)) play(volatile long *sum, long n)
{
	while (n--)
		*sum -= n;
}

int main(void)
{
	size_t start = (size_t)__executable_start, end = (size_t)etext;
	unsigned long in_work = 0, in_play = 0, elsewhere = 0;
	long sum = 0;

	if (profil(bins, sizeof(bins), start, 65536)) {
		perror("profil");
		return 1;
	}
	while (clock() < 2 * CLOCKS_PER_SEC) {
		work(&sum, 300000);
		play(&sum, 100000);
	}
	profil(bins, 0, 0, 0);

	/* A counter belongs to the nearest function that starts below it. */
	for (size_t i = 0; i < (end - start) / 2; i++) {
		size_t pc = start + 2 * i;
		size_t from_work = pc - (size_t)work;
		size_t from_play = pc - (size_t)play;
		size_t from_main = pc - (size_t)main;

		if (from_work < from_play && from_work < from_main)
			in_work += bins[i];
		else if (from_play < from_main)
			in_play += bins[i];
		else
			elsewhere += bins[i];
	}
	printf("%6lu samples in work\n", in_work);
	printf("%6lu samples in play\n", in_play);
	printf("%6lu samples elsewhere\n", elsewhere);
	return 0;
}
