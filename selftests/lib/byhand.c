// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls leaf() N times, begins a profile of it by START(), which is __monstartup() or
 * monstartup(), and calls it M times: byhand N M.
 */
#include <stdlib.h>

void START(unsigned long low, unsigned long high);
void _mcleanup(void);

#define LEAF_BYTES	64

__attribute__((noinline, noclone, aligned(LEAF_BYTES))) void leaf(void);
__attribute__((noinline, noclone, aligned(LEAF_BYTES))) void leaf(void)
{
	__asm__ volatile("");
}

static void calls(const char *num)
{
	for (long i = atol(num); i > 0; i--)
		leaf();
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	calls(argv[1]);
	START((unsigned long)leaf, (unsigned long)leaf + LEAF_BYTES);
	calls(argv[2]);
	_mcleanup();
	return 0;
}
