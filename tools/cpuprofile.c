// SPDX-License-Identifier: GPL-2.0-only
/*
 * A profile as gperftools writes one: words of 64 bits, then the text of /proc/PID/maps.
 * There each object has a place of its own, as addresses in files may be the same.
 */
#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>
#include "formats.h"
#include "say.h"

#define PAGE 0x1000
#define SPACE (1ULL << 32)	/* for an object, or more of these: also for its data */

static void put_words(FILE *out, const uint64_t *words, size_t num)
{
	for (size_t i = 0; i < num; i++) {
		uint64_t word = htole64(words[i]);

		fwrite(&word, sizeof(word), 1, out);
	}
}

/* Where an object would be. */
struct spot {
	uint64_t first, last;	/* addresses in the object's own numbers, by pages */
	uint64_t base;		/* of the first */
};

static void reach(struct spot *spot, uint64_t address)
{
	if (address < spot->first)
		spot->first = address;
	if (address > spot->last)
		spot->last = address;
}

/* One behind the other; none is where the program itself says that it is. */
static struct spot *find_spots(const struct profile *profile)
{
	struct spot *spots = allocated(calloc(profile->num_objects + 1, sizeof(*spots)));
	uint64_t base = SPACE;

	for (size_t i = 0; i < profile->num_objects; i++) {
		const struct object *object = &profile->objects[i];

		spots[i].first = UINT64_MAX;
		if (object->limit > object->start) {
			reach(&spots[i], object->start);
			reach(&spots[i], object->limit - 1);
		}
	}
	for (size_t i = 0; i < profile->num_places; i++)
		reach(&spots[profile->places[i].object], profile->places[i].address);
	for (size_t i = 0; i < profile->num_objects; i++) {
		spots[i].first &= ~(uint64_t)(PAGE - 1);
		spots[i].last |= PAGE - 1;
		spots[i].base = base;
		base += (spots[i].last - spots[i].first) / SPACE * SPACE + SPACE;
	}
	return spots;
}

static void put_maps(const struct profile *profile, const struct spot *spots, FILE *out)
{
	for (size_t i = 0; i < profile->num_objects; i++) {
		const struct object *object = &profile->objects[i];
		uint64_t before = object->start - spots[i].first;

		fprintf(out, "%08" PRIx64 "-%08" PRIx64 " r-xp %08" PRIx64 " 00:00 0 %s\n",
			spots[i].base, spots[i].base + (spots[i].last - spots[i].first + 1),
			object->offset >= before ? object->offset - before : 0, object->file);
	}
}

void cpuprofile_write(struct profile *profile, FILE *out)
{
	uint64_t period_us = one_period(profile, "this format") / 1000;
	uint64_t header[] = { 0, 3, 0, period_us ? period_us : 1, 0 };
	static const uint64_t trailer[] = { 0, 1, 0 };
	struct spot *spots = find_spots(profile);

	put_words(out, header, 5);
	for (size_t i = 0; i < profile->num_samples;) {
		struct sample sample = next_place(profile, &i);
		const struct place *place = &profile->places[sample.place];
		const struct spot *spot = &spots[place->object];
		uint64_t words[] = {
			sample.samples, 1, spot->base + (place->address - spot->first),
		};

		put_words(out, words, 3);
	}
	put_words(out, trailer, 3);
	put_maps(profile, spots, out);
	free(spots);
}
