// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes a gmon.out with a count that does not fit into one of its bins, of code of so
 * many KB.
 */
#include <stdlib.h>
#include "gmon.h"

__attribute__((noinline, noclone, aligned(16))) void work(void);
void work(void)
{
	__asm__ volatile(".skip 64, 0x90");
}

int main(int argc, char **argv)
{
	static uint32_t counts[1 << 20];
	size_t bytes = argc > 1 ? atol(argv[1]) * 1024 : 0;
	struct libprofil_object object = {
		.mapped = true,
		.low = (uintptr_t)work - bytes / 2,
		.high = (uintptr_t)work + bytes / 2,
	};
	struct libprofil_gmon gmon = { .object = &object, .counts = counts, .rate = 100 };

	counts[bytes / 4 + 4] = 200000;
	return libprofil_replace(&gmon, "gmon.out", true);
}
