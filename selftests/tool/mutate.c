// SPDX-License-Identifier: GPL-2.0-only
/*
 * A profile that is read and written again is the same, whatever the order of what is in
 * it; and none of many broken ones crashes what reads it.
 *
 *   mutate FILE TIMES SEED		FILE is not compressed
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats.h"
#include "mutate.h"
#include "order.h"
#include "pack.h"
#include "page.h"
#include "rows.h"
#include "say.h"
#include "spread.h"
#include "summary.h"
#include "text.h"
#include "timeline.h"
#include "times.h"
#include "unpack.h"

static unsigned char bytes[2 * BYTES_MAX];

/* What a profile says, so that all of it is looked at. */
static void look(struct profile *profile)
{
	for (enum by by = 0; by < BY_KINDS; by++) {
		struct table table;

		table_make(profile, by, &table);
		summary_head(nowhere, profile, &table);
		text_table(nowhere, &table, random_below(5));
		summary_tail(nowhere, profile, &table);
		rows_tsv(nowhere, profile, &table);
		rows_json(nowhere, profile, &table);
		table_free(&table);
	}
}

/* What ends the program where there are no slices is not called there. */
static void look_at_times(struct profile *profile)
{
	bool sliced = profile->num_runs;

	for (size_t i = 0; i < profile->num_runs; i++)
		sliced = sliced && profile->runs[i].slice_ns;
	spread_line(nowhere, profile);
	if (!sliced)
		return;
	timeline_text(nowhere, profile);
	rows_times_tsv(nowhere, profile);
	rows_times_json(nowhere, profile);
	times_cut(profile, 0, 200 * NS_OF_MS, NULL);
	timeline_text(nowhere, profile);
}

/* Who exports it has put it in order. */
static void look_at_formats(struct profile *profile)
{
	uint64_t period = profile->period_ns;

	profile->period_ns = period ? period : 1;
	callgrind_write(profile, nowhere);
	collapsed_write(profile, nowhere);
	cpuprofile_write(profile, nowhere);
	for (size_t i = 0; i < profile->num_objects; i++)
		gmon_write(profile, i, nowhere);
	profile->period_ns = period;
	/* at the end: it takes the samples */
	page_write(profile, nowhere);
}

static void shuffle(struct profile *profile)
{
	for (size_t i = profile->num_samples; i > 1; i--) {
		size_t j = random_below(i);
		struct sample sample = profile->samples[i - 1];

		profile->samples[i - 1] = profile->samples[j];
		profile->samples[j] = sample;
	}
}

/* Reads and writes; returns the bytes, or NULL if it was no profile. */
static unsigned char *again(const unsigned char *from, size_t length, size_t *out_length, bool mix)
{
	struct profile profile;
	unsigned char *out = NULL;
	const char *wrong;

	profile_init(&profile);
	wrong = profile_unpack(&profile, from, length);
	if (!wrong) {
		if (mix)
			shuffle(&profile);
		out = profile_pack(&profile, out_length);
		look(&profile);
		profile_order(&profile);
		look_at_formats(&profile);
		look_at_times(&profile);
	} else {
		fputs(wrong, nowhere);
	}
	profile_free(&profile);
	return out;
}

/* The same profile as if each sample were of one of two runs and of one of three slices. */
static size_t add_times(size_t length)
{
	struct profile profile;
	unsigned char *out;

	profile_init(&profile);
	if (profile_unpack(&profile, original, length))
		die("this is no profile");
	for (size_t i = 0; i < profile.num_samples; i++)
		profile.samples[i].at_ns = 100 * NS_OF_MS * (1 + i % 3);
	for (size_t i = 0; i < profile.num_samples; i += 2)
		profile.samples[i].run = 1;
	profile.runs[0].to_ns = 300 * NS_OF_MS;
	profile_add_run(&profile, profile.runs[0]);
	out = profile_pack(&profile, &length);
	memcpy(original, out, length);
	free(out);
	profile_free(&profile);
	return length;
}

/* It was written here: also "[unknown]" has come in, for locations without a mapping. */
static bool is_fixed(size_t length)
{
	size_t out_length;
	unsigned char *out = again(original, length, &out_length, true);
	bool same = out && out_length == length && !memcmp(out, original, length);

	free(out);
	return same;
}

/* Some bytes are others, more, fewer, or those of another place. */
static size_t mutate(size_t length)
{
	memcpy(bytes, original, length);
	for (unsigned int i = random_below(2) ? 1 : random_below(8) + 1; i && length > 8; i--) {
		size_t at = random_below(length), from = random_below(length);
		size_t num = random_below(16) + 1;

		switch (random_below(6)) {
		case 0:
			bytes[at] ^= 1 << random_below(8);
			break;
		case 1:
			bytes[at] = random_below(2) ? 0xff : 0x7f;
			break;
		case 2:
			length = at;
			break;
		case 3:
			if (from + num <= length && at + num <= length)
				memmove(bytes + at, bytes + from, num);
			break;
		case 4:
			memmove(bytes + at + num, bytes + at, length - at);
			length += num;
			break;
		case 5:
			if (at + num <= length) {
				memmove(bytes + at, bytes + at + num, length - at - num);
				length -= num;
			}
			break;
		}
	}
	return length;
}

int main(int argc, char **argv)
{
	unsigned long times, profiles = 0;
	size_t length, out_length;

	if (argc != 4)
		die("mutate FILE TIMES SEED");
	length = begin(argv[1], argv[3]);
	times = strtoul(argv[2], NULL, 10);
	length = add_times(length);
	if (!is_fixed(length))
		die("%s is another one when it was read and written again", argv[1]);
	for (unsigned long i = 0; i < times; i++) {
		size_t mutated = mutate(length);
		unsigned char *out;

		/* of its own size: what is read behind it is found */
		unsigned char *exact = allocated(malloc(mutated + !mutated));

		memcpy(exact, bytes, mutated);
		out = again(exact, mutated, &out_length, false);
		profiles += out ? 1 : 0;
		free(out);
		free(exact);
	}
	fclose(nowhere);
	printf("%lu mutated inputs, of which %lu are profiles\n", times, profiles);
	return 0;
}
