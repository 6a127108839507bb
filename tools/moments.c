// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>
#include "moments.h"
#include "order.h"

#define GRID 120	/* columns where there are too many ends */

static uint64_t end_ms(const struct sample *sample)
{
	return sample->at_ns / NS_OF_MS;
}

static bool begins_before(const struct moments *moments, size_t i, uint64_t ms)
{
	return !i || moments->list[i - 1].to_ms < ms;
}

/*
 * The first one that does not end before.  Samples of a place are in the order of their times:
 * most often it is the one behind the last one, or that again.
 */
static size_t find(const struct moments *moments, uint64_t ms, size_t last)
{
	size_t low = 0, high = moments->num;

	for (size_t i = last; i < last + 2 && i < high; i++)
		if (ms <= moments->list[i].to_ms && begins_before(moments, i, ms))
			return i;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (moments->list[middle].to_ms < ms)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* False: there is no room for another end. */
static bool add_end(struct moments *moments, uint64_t ms, size_t *last)
{
	size_t i = *last = find(moments, ms, *last);

	if (i < moments->num && moments->list[i].to_ms == ms)
		return true;
	if (moments->num == MOMENTS_MAX)
		return false;
	memmove(&moments->list[i + 1], &moments->list[i],
		(moments->num - i) * sizeof(moments->list[0]));
	moments->list[i].to_ms = ms;
	moments->num++;
	return true;
}

static int by_number(const void *a, const void *b)
{
	return compare_numbers(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* How long a slice is, whatever the last one and those are before which nothing ran. */
static uint64_t usual_length(const struct moments *moments)
{
	uint64_t lengths[MOMENTS_MAX];

	for (size_t i = 0; i < moments->num; i++)
		lengths[i] = moments->list[i].to_ms - (i ? moments->list[i - 1].to_ms : 0);
	qsort(lengths, moments->num, sizeof(lengths[0]), by_number);
	return lengths[moments->num / 2];
}

/* A slice without samples is not in the file; the one behind it is no longer for that. */
static void find_begins(struct moments *moments)
{
	uint64_t usual = usual_length(moments);

	for (size_t i = 0; i < moments->num; i++) {
		struct column *moment = &moments->list[i];

		moment->from_ms = i ? moments->list[i - 1].to_ms : 0;
		if (moment->to_ms - moment->from_ms > usual + usual / 2)
			moment->from_ms = moment->to_ms - usual;
	}
}

static void make_grid(const struct profile *profile, struct moments *moments)
{
	uint64_t last = 0, step;

	for (size_t i = 0; i < profile->num_samples; i++)
		if (end_ms(&profile->samples[i]) > last)
			last = end_ms(&profile->samples[i]);
	step = last / GRID + 1;
	moments->num = GRID;
	for (size_t i = 0; i < GRID; i++)
		moments->list[i] = (struct column) { i * step, (i + 1) * step };
}

void moments_find(const struct profile *profile, struct moments *moments)
{
	bool all = profile->num_samples, room = true;
	size_t last = 0;

	moments->num = 0;
	for (size_t i = 0; i < profile->num_samples && all; i++) {
		all = end_ms(&profile->samples[i]);
		room = room && add_end(moments, end_ms(&profile->samples[i]), &last);
	}
	if (!room)
		make_grid(profile, moments);
	moments->known = all && moments->num > 1;
	if (!moments->known) {
		moments->list[0] = (struct column) { 0, profile->duration_ns / NS_OF_MS + 1 };
		moments->num = 1;
	} else if (room) {
		find_begins(moments);
	}
}

size_t moment_of(const struct moments *moments, const struct sample *sample, size_t last)
{
	return moments->known ? find(moments, end_ms(sample), last) : 0;
}
