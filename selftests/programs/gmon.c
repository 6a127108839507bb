// SPDX-License-Identifier: GPL-2.0-only
/*
 * gmon FILE…: what is in each gmon.out of this machine, as text: a line
 *
 *	samples NUMBER rate NUMBER
 *
 * and one for each arc: call FROM SELF COUNT, addresses in hexadecimal.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_BYTES	20

struct __attribute__((packed)) histogram {
	uintptr_t low, high;
	uint32_t bins, rate;
	char dimension[15], unit;
};

struct __attribute__((packed)) arc {
	uintptr_t from, self;
	uint32_t count;
};

static void need(FILE *file, const char *path, void *data, size_t bytes)
{
	if (fread(data, 1, bytes, file) == bytes)
		return;
	fprintf(stderr, "gmon: %s ends amid a record: it is no whole gmon.out\n", path);
	exit(1);
}

static unsigned long long sum_bins(FILE *file, const char *path, uint32_t num)
{
	unsigned long long sum = 0;
	uint16_t bin;

	while (num--) {
		need(file, path, &bin, sizeof(bin));
		sum += bin;
	}
	return sum;
}

static void print(FILE *file, const char *path)
{
	unsigned long long samples = 0;
	struct histogram histogram = {};
	char header[HEADER_BYTES];
	struct arc arc;
	int tag;

	need(file, path, header, sizeof(header));
	if (memcmp(header, "gmon\1\0\0\0", 8)) {
		fprintf(stderr, "gmon: %s is no gmon.out of this machine\n", path);
		exit(1);
	}
	while ((tag = getc(file)) != EOF) {
		if (tag == 0) {
			need(file, path, &histogram, sizeof(histogram));
			samples += sum_bins(file, path, histogram.bins);
		} else if (tag == 1) {
			need(file, path, &arc, sizeof(arc));
			printf("call %lx %lx %u\n", (unsigned long)arc.from,
			       (unsigned long)arc.self, arc.count);
		} else {
			fprintf(stderr, "gmon: %s: no record has tag %d\n", path, tag);
			exit(1);
		}
	}
	printf("samples %llu rate %u\n", samples, histogram.rate);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		FILE *file = fopen(argv[i], "r");

		if (!file) {
			perror(argv[i]);
			return 1;
		}
		print(file, argv[i]);
		fclose(file);
	}
	return 0;
}
