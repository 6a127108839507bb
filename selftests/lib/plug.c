// SPDX-License-Identifier: GPL-2.0-only
/* A shared library of gcc -pg: WORK is what its function is called. */
#define NOINLINE __attribute__((noinline, noclone))

NOINLINE void WORK(void);
NOINLINE void WORK(void)
{
	__asm__ volatile("");
}

void plug(long num);
void plug(long num)
{
	while (num--)
		WORK();
}

#ifdef EARLY
static __attribute__((constructor)) void early(void)
{
	plug(EARLY);
}
#endif
