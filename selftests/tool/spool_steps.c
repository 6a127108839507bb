// SPDX-License-Identifier: GPL-2.0-only
/*
 * What profil watch does with its folder, one step at a time, for tests:
 *
 *   spool_steps write FOLDER TIME_MS BYTES	prints the name of the file, and what was dropped
 *   spool_steps trim FOLDER NOW_MS KEEP_MS BYTES	prints what was dropped
 *   spool_steps loop FOLDER BYTES		writes until it is killed, and keeps three files
 *   spool_steps when NOW TEXT			a time, in seconds since 1970
 *   spool_steps length TEXT			in seconds
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "say.h"
#include "spool.h"
#include "when.h"

#define MS UINT64_C(1000000)
#define S UINT64_C(1000000000)

static uint64_t number(const char *text)
{
	return strtoull(text, NULL, 10);
}

static int write_one(const struct spool *spool, uint64_t time_ns, size_t size, bool quiet)
{
	char name[SPOOL_NAME], *bytes = allocated(malloc(size + 1));
	uint64_t dropped = 0;
	int error;

	memset(bytes, 'x', size);
	if (size)
		bytes[size - 1] = 'e';
	error = spool_write(spool, time_ns, time_ns + S, bytes, size, name, &dropped);
	free(bytes);
	if (error)
		printf("%s %" PRIu64 "\n", strerror(error), dropped);
	else if (!quiet)
		printf("%s %" PRIu64 "\n", name, dropped);
	return error;
}

static void loop(struct spool *spool, size_t size)
{
	uint64_t dropped = 0;

	spool->size_max = 3 * size;
	for (uint64_t i = 0;; i++) {
		if (write_one(spool, i * S, size, true))
			exit(1);
		spool_trim(spool, i * S, &dropped);
	}
}

static int tell_time(uint64_t time_ns)
{
	printf("%" PRIu64 "\n", time_ns / S);
	return 0;
}

int main(int argc, char **argv)
{
	struct spool spool = { .path = argc > 2 ? argv[2] : NULL, .size_max = UINT64_MAX };
	const char *step = argc > 3 ? argv[1] : "";
	uint64_t time_ns = 0, dropped = 0;

	if (argc > 2 && !strcmp(argv[1], "length"))
		return !when_parse_length(argv[2], &time_ns) || tell_time(time_ns);
	if (!strcmp(step, "when"))
		return !when_parse(argv[3], number(argv[2]), &time_ns) || tell_time(time_ns);
	spool_open(&spool);
	if (!strcmp(step, "write") && argc > 4)
		return write_one(&spool, number(argv[3]) * MS, number(argv[4]), false);
	if (!strcmp(step, "loop"))
		loop(&spool, number(argv[3]));
	if (strcmp(step, "trim") || argc < 6)
		return 2;
	spool.keep_ns = number(argv[4]) * MS;
	spool.size_max = number(argv[5]);
	spool_trim(&spool, number(argv[3]) * MS, &dropped);
	printf("%" PRIu64 "\n", dropped);
	return 0;
}
