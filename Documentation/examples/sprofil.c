// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much of its time does a program spend in itself, and how much in the C
 * library?  cc sprofil.c -lprofil && ./a.out
 */
#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/profil.h>
#include <sys/time.h>
#include <time.h>

/* Counters of 32 bits, one to four bytes of code, and one for all the rest. */
static unsigned int in_program[1 << 18], in_library[1 << 20], elsewhere;

static struct prof ranges[] = {
	{ in_program, sizeof(in_program), 0, 65536 },
	{ in_library, sizeof(in_library), 0, 65536 },
	{ &elsewhere, sizeof(elsewhere), 0, 2 },
};

/* Where the program, which comes first, and the C library begin. */
static int find(struct dl_phdr_info *object, size_t size, void *function)
{
	(void)size;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		size_t start = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
		size_t length = object->dlpi_phdr[i].p_memsz;

		if (object->dlpi_phdr[i].p_type != PT_LOAD ||
		    !(object->dlpi_phdr[i].p_flags & PF_X))
			continue;
		if (!ranges[0].pr_off)
			ranges[0].pr_off = start;
		if ((size_t)function - start < length)
			ranges[1].pr_off = start;
	}
	return 0;
}

static unsigned long sum(const struct prof *range)
{
	const unsigned int *counter = range->pr_base;
	unsigned long samples = 0;

	for (size_t i = 0; i < range->pr_size / sizeof(*counter); i++)
		samples += counter[i];
	return samples;
}

int main(void)
{
	struct timeval period;
	long numbers[1000];

	dl_iterate_phdr(find, (void *)random);
	if (sprofil(ranges, 3, &period, PROF_UINT | PROF_FAST)) {
		perror("sprofil");
		return 1;
	}
	while (clock() < 2 * CLOCKS_PER_SEC)
		for (int i = 0; i < 1000; i++)
			numbers[i] = random();
	sprofil(NULL, 0, NULL, PROF_USHORT);

	printf("one sample each %ld us, the last number was %ld\n",
	       (long)period.tv_usec, numbers[999]);
	printf("%6lu samples in the program\n", sum(&ranges[0]));
	printf("%6lu samples in the C library\n", sum(&ranges[1]));
	printf("%6lu samples elsewhere\n", sum(&ranges[2]));
	return 0;
}
