// SPDX-License-Identifier: GPL-2.0-only
/* Writes a gmon.out with a count that does not fit into one of its bins. */
#include "gmon.h"

#define CODE 256

__attribute__((noinline, noclone, aligned(16))) void work(void);
void work(void)
{
	__asm__ volatile(".skip 64, 0x90");
}

int main(void)
{
	static uint32_t counts[CODE / 2];
	struct libprofil_object object = {
		.mapped = true,
		.low = (uintptr_t)work,
		.high = (uintptr_t)work + CODE,
	};
	struct libprofil_gmon gmon = { .object = &object, .counts = counts, .rate = 100 };

	counts[4] = 200000;
	return libprofil_file_write(&gmon, "gmon.out") ? 0 : 1;
}
