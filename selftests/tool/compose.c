// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes a profile of what standard input says, with fields that tabs separate:
 *
 *   command TEXT
 *   fact TEXT
 *   duration MS
 *   run MS					a run of so long, of which the samples below are
 *   count NAME N
 *   object FILE START LIMIT			in hexadecimal
 *   place OBJECT ADDRESS FUNCTION SOURCE LINE	OBJECT by its number, from 0
 *   sample PLACE END USER SYSTEM		END in ms, 0: not known; samples of 4 ms
 *
 *   compose FILE
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "profile.h"
#include "say.h"
#include "store.h"

#define FIELDS 6
#define PERIOD_NS 4000000

static uint64_t number(const char *text, int base)
{
	return strtoull(text, NULL, base);
}

static void add_count(struct profile *profile, char **fields)
{
	for (int i = 0; i < COUNTS; i++)
		if (!strcmp(fields[1], count_names[i]))
			profile->counts[i] = number(fields[2], 10);
}

static void add_sample_line(struct profile *profile, char **fields)
{
	uint64_t user = number(fields[3], 10), system = number(fields[4], 10);

	profile_add_sample(profile, (struct sample) {
		.place = number(fields[1], 10), .program = profile_string(profile, ""),
		.at_ns = number(fields[2], 10) * NS_OF_MS,
		.run = profile->num_runs ? profile->num_runs - 1 : 0,
		.samples = user + system, .cpu_ns = (user + system) * PERIOD_NS,
		.user_ns = user * PERIOD_NS, .system_ns = system * PERIOD_NS,
	});
}

static void compose(struct profile *profile, char **fields)
{
	if (!strcmp(fields[0], "command"))
		profile->command = profile_string(profile, fields[1]);
	else if (!strcmp(fields[0], "fact"))
		profile_add_fact(profile, fields[1]);
	else if (!strcmp(fields[0], "duration"))
		profile->duration_ns = number(fields[1], 10) * NS_OF_MS;
	else if (!strcmp(fields[0], "run"))
		profile_add_run(profile, (struct run) {
			.to_ns = number(fields[1], 10) * NS_OF_MS,
		});
	else if (!strcmp(fields[0], "count"))
		add_count(profile, fields);
	else if (!strcmp(fields[0], "object"))
		profile_add_object(profile, (struct object) {
			.file = profile_string(profile, fields[1]),
			.build_id = profile_string(profile, ""),
			.start = number(fields[2], 16), .limit = number(fields[3], 16),
		});
	else if (!strcmp(fields[0], "place"))
		profile_add_place(profile, (struct place) {
			.object = number(fields[1], 10), .address = number(fields[2], 16),
			.function = profile_string(profile, fields[3]),
			.symbol = profile_string(profile, fields[3]),
			.source = profile_string(profile, fields[4]),
			.line = number(fields[5], 10),
		});
	else if (!strcmp(fields[0], "sample"))
		add_sample_line(profile, fields);
	else
		die("compose: %s is no kind of line", fields[0]);
}

int main(int argc, char **argv)
{
	struct profile profile;
	char *line = NULL;
	size_t room = 0;

	if (argc != 2)
		die("compose FILE");
	profile_init(&profile);
	profile.period_ns = PERIOD_NS;
	while (getline(&line, &room, stdin) > 0) {
		char *fields[FIELDS] = { "", "", "", "", "", "" }, *rest = line;

		line[strcspn(line, "\n")] = '\0';
		for (int i = 0; i < FIELDS && rest; i++)
			fields[i] = strsep(&rest, "\t");
		compose(&profile, fields);
	}
	free(line);
	if (store_write(&profile, argv[1]) < 0)
		return 1;
	profile_free(&profile);
	return 0;
}
