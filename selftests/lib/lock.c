// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks its memory, and all that it will have, and calls leaf() N times.  Prints how many
 * KB it has.
 *
 *	lock N
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

__attribute__((noinline, noclone)) void leaf(void);
void leaf(void)
{
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	long num = argc > 1 ? atol(argv[1]) : 0, pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (!file || fscanf(file, "%ld", &pages) != 1)
		return 1;
	fclose(file);
	printf("%ld\n", pages * 4);
	if (mlockall(MCL_CURRENT | MCL_FUTURE)) {
		perror("mlockall");
		return 1;
	}
	while (num--)
		leaf();
	return 0;
}
