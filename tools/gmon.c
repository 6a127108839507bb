// SPDX-License-Identifier: GPL-2.0-only
/*
 * The samples of one object as gprof reads them: bins of 2 bytes of code, which is as near as
 * gprof looks.  There is a record for each KiB with samples, and none for the rest.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include "formats.h"
#include "say.h"

#define CODE 1024	/* of a record */
#define BIN 2		/* bytes of code */
#define BINS (CODE / BIN)
#define BIN_MAX UINT16_MAX
#define NS 1000000000ULL

struct histogram {
	uint64_t part;		/* its first address */
	uint64_t bins[BINS];
};

static void put_number(FILE *out, uint64_t number, size_t bytes)
{
	number = htole64(number);
	fwrite(&number, bytes, 1, out);
}

/* Each count is one of @of samples of the profile. */
static void put_histogram(FILE *out, const struct histogram *histogram, uint64_t rate, uint64_t of)
{
	static const char unit[15] = "seconds";

	putc(0, out);	/* a histogram */
	put_number(out, histogram->part, 8);
	put_number(out, histogram->part + CODE, 8);
	put_number(out, BINS, 4);
	put_number(out, rate, 4);
	fwrite(unit, sizeof(unit), 1, out);
	putc('s', out);
	for (size_t i = 0; i < BINS; i++)
		put_number(out, (histogram->bins[i] + of / 2) / of, 2);
}

/* Adds up what the part at sample @i has, and passes it by. */
static void take_part(const struct profile *profile, size_t *i, struct histogram *histogram)
{
	const struct place *place = &profile->places[profile->samples[*i].place];
	size_t object = place->object;

	memset(histogram, 0, sizeof(*histogram));
	histogram->part = place->address / CODE * CODE;
	while (*i < profile->num_samples) {
		place = &profile->places[profile->samples[*i].place];
		if (place->object != object || place->address / CODE * CODE != histogram->part)
			break;
		add(&histogram->bins[place->address % CODE / BIN],
		    profile->samples[(*i)++].samples);
	}
}

static uint64_t largest_bin(const struct histogram *histogram)
{
	uint64_t most = 0;

	for (size_t i = 0; i < BINS; i++)
		if (histogram->bins[i] > most)
			most = histogram->bins[i];
	return most;
}

static size_t object_of(const struct profile *profile, size_t i)
{
	return profile->places[profile->samples[i].place].object;
}

/* Where the samples of an object begin. */
static size_t first_sample(const struct profile *profile, size_t object)
{
	size_t i = 0;

	while (i < profile->num_samples && object_of(profile, i) < object)
		i++;
	return i;
}

static bool is_of(const struct profile *profile, size_t i, size_t object)
{
	return i < profile->num_samples && object_of(profile, i) == object;
}

/* How many counts of this time make a second: a whole number. */
static uint64_t rate_of(uint64_t ns)
{
	return ns < NS ? (NS + ns / 2) / ns : 1;
}

/* Seconds become wrong by a five hundredth at most. */
static bool is_right(uint64_t ns)
{
	uint64_t sum = rate_of(ns) * ns;

	return (sum > NS ? sum - NS : NS - sum) <= NS / 500;
}

/*
 * How many samples a count stands for: a bin has 16 bits.  It may be some more, for the sake
 * of a rate that is right.
 */
static uint64_t samples_of_a_count(uint64_t most, uint64_t period_ns, const char *file)
{
	uint64_t least = most / BIN_MAX + !!(most % BIN_MAX), of;

	least = least ? least : 1;
	for (of = least; of <= NS / period_ns; of++)
		if (is_right(of * period_ns))
			return of;
	say("the seconds in the file for %s are wrong, as a rate is a whole number there; its shares are right: choose another format with -f",
	    file);
	return least;
}

bool gmon_write(struct profile *profile, size_t object, FILE *out)
{
	size_t first = first_sample(profile, object), i;
	uint64_t most = 0, of, period_ns = one_period(profile, "gmon.out"), rate;
	static const char header[20] = "gmon\1";
	struct histogram histogram;

	if (!is_of(profile, first, object))
		return false;
	for (i = first; is_of(profile, i, object);) {
		take_part(profile, &i, &histogram);
		if (largest_bin(&histogram) > most)
			most = largest_bin(&histogram);
	}
	of = samples_of_a_count(most, period_ns, profile->objects[object].file);
	rate = rate_of(of < NS / period_ns ? of * period_ns : NS);
	fwrite(header, sizeof(header), 1, out);
	for (i = first; is_of(profile, i, object);) {
		take_part(profile, &i, &histogram);
		put_histogram(out, &histogram, rate, of);
	}
	return true;
}
