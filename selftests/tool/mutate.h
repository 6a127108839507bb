/* SPDX-License-Identifier: GPL-2.0-only */
/* What programs have in common that break a file in many ways: the file, and chance. */
#ifndef MUTATE_H
#define MUTATE_H

#include <stdio.h>
#include <stdlib.h>
#include "say.h"

#define BYTES_MAX (1 << 20)

static unsigned char original[BYTES_MAX];
static unsigned long long seed;
static FILE *nowhere;

/* The same ones each time for a seed. */
static unsigned int random_below(unsigned int most)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % most;
}

/* Returns how long the original is. */
static size_t begin(const char *name, const char *seed_text)
{
	FILE *file = fopen(name, "re");
	size_t length;

	nowhere = fopen("/dev/null", "we");
	if (!file || !nowhere)
		die("%s: %m", name);
	length = fread(original, 1, sizeof(original), file);
	fclose(file);
	seed = strtoull(seed_text, NULL, 10);
	return length;
}

#endif /* MUTATE_H */
