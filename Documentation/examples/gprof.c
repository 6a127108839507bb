// SPDX-License-Identifier: GPL-2.0-only
/*
 * From which number is it the longest way to 1, if an odd n becomes 3 n + 1 and an
 * even one n / 2?  Two threads search half of them each.  Documentation/gprof.rst
 * profiles it.
 */
#include <pthread.h>
#include <stdio.h>

#define LIMIT 100000

struct search {
	long first, last, best;
	int longest;
};

static long up(long n)
{
	return 3 * n + 1;
}

static long down(long n)
{
	return n / 2;
}

static int way(long n)
{
	int steps = 0;

	while (n != 1) {
		if (n & 1)
			n = up(n);
		else
			n = down(n);
		steps++;
	}
	return steps;
}

static void *search(void *arg)
{
	struct search *search = arg;
	long n = search->first;

	while (n <= search->last) {
		int steps = way(n);

		if (steps > search->longest) {
			search->longest = steps;
			search->best = n;
		}
		n++;
	}
	return NULL;
}

int main(void)
{
	struct search low = { 1, LIMIT / 2, 0, 0 };
	struct search high = { LIMIT / 2 + 1, LIMIT, 0, 0 };
	pthread_t thread;

	if (pthread_create(&thread, NULL, search, &low))
		return 1;
	search(&high);
	pthread_join(thread, NULL);
	if (low.longest > high.longest)
		high = low;
	printf("%d steps from %ld\n", high.longest, high.best);
	return 0;
}
