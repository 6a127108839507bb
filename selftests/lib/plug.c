// SPDX-License-Identifier: GPL-2.0-only
/*
 * A shared library of gcc -pg: WORK is what its function is called; RESOLVED, by way of
 * a resolver; EARLY times by a constructor.  With PROFIL it starts a profile itself.
 */
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

NOINLINE void WORK(void);
NOINLINE void WORK(void)
{
	__asm__ volatile("");
}

#ifdef RESOLVED
static NOINLINE void (*choose(void))(void)
{
	return WORK;
}

static void work(void) __attribute__((ifunc("choose")));
#else
#define work WORK
#endif

void plug(long num);
void plug(long num)
{
#ifdef PROFIL
	static unsigned short buf[64];

	profil(buf, sizeof(buf), (size_t)plug, 65536);
#endif
	while (num--)
		work();		/* a turn */
}				/* all turns */

#ifdef EARLY
static __attribute__((constructor)) void early(void)
{
	plug(EARLY);
}
#endif
