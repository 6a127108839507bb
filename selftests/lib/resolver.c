// SPDX-License-Identifier: GPL-2.0-only
/*
 * Resolvers, which decide before anything else runs which of several functions a name
 * is: gcc has them call mcount, too.
 *
 *	resolver N	leaf() is chosen, and called N times
 */
#include <stdlib.h>

static __attribute__((noinline, noclone)) void leaf(void)
{
	__asm__ volatile("");
}

static void (*choose(void))(void)
{
	return leaf;
}

void chosen(void) __attribute__((ifunc("choose")));

/* One that gcc writes.  Not called: gprof has no names with a dot. */
#ifdef __x86_64__
__attribute__((target_clones("avx2", "default")))
#endif
void cloned(void);

void cloned(void)
{
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	int num = argc > 1 ? atoi(argv[1]) : 0;

	while (num-- > 0)
		chosen();
	if (argc > 2)
		cloned();
	return 0;
}
