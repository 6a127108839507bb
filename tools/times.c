// SPDX-License-Identifier: GPL-2.0-only
/* The time of a profile: slices, of all its runs together, each from its begin. */
#include <stdlib.h>
#include <string.h>
#include "order.h"
#include "say.h"
#include "table.h"
#include "times.h"

uint64_t times_slice(const struct profile *profile, const char *what)
{
	uint64_t longest = 0;

	for (size_t i = 0; i < profile->num_runs; i++) {
		uint64_t slice = profile->runs[i].slice_ns;

		if (!slice)
			longest = UINT64_MAX;
		else if (slice > longest)
			longest = slice;
	}
	if (!longest || longest == UINT64_MAX)
		die("%s has no slices of time; profil run makes them, but not with --slice 0",
		    what ? what : "this profile");
	return longest;
}

/* When the last run ended. */
static uint64_t end_of(const struct profile *profile)
{
	uint64_t end = 0;

	for (size_t i = 0; i < profile->num_runs; i++)
		if (profile->runs[i].to_ns > end)
			end = profile->runs[i].to_ns;
	return end;
}

static uint64_t begin_of(const struct profile *profile)
{
	uint64_t begin = UINT64_MAX;

	for (size_t i = 0; i < profile->num_runs; i++)
		if (profile->runs[i].from_ns < begin)
			begin = profile->runs[i].from_ns;
	return begin;
}

/* Which slice a sample is of. */
static uint64_t index_of(const struct sample *sample, uint64_t slice)
{
	return sample->at_ns ? (sample->at_ns - 1) / slice : 0;
}

/* What all runs together have of a time. */
static uint64_t wall(const struct profile *profile, uint64_t from, uint64_t to)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < profile->num_runs; i++) {
		const struct run *run = &profile->runs[i];
		uint64_t begin = run->from_ns > from ? run->from_ns : from;
		uint64_t end = run->to_ns < to ? run->to_ns : to;

		if (end > begin)
			add(&sum, end - begin);
	}
	return sum;
}

static int by_time(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	return compare_numbers(x->at_ns, y->at_ns);
}

static void fill(struct profile *profile, struct moment *moment, struct sample *samples,
		 size_t num)
{
	struct table table;

	table_make_of(profile, BY_FUNCTION, samples, num, &table);
	moment->samples = table.sum.samples;
	moment->cpu_ns = table.sum.cpu_ns;
	moment->user_ns = table.sum.user_ns;
	moment->system_ns = table.sum.system_ns;
	moment->name = table.num ? table.rows[0].name : "";
	moment->object = table.num ? table.rows[0].object : "";
	moment->most = table.num ? table.rows[0].samples : 0;
	table_free(&table);
}

struct moment *times_make(struct profile *profile, size_t *num)
{
	uint64_t slice = times_slice(profile, NULL), first = begin_of(profile) / slice;
	size_t next = 0, left = profile->num_samples;
	struct sample *samples = allocated(calloc(left + 1, sizeof(*samples)));
	struct moment *moments;

	*num = (end_of(profile) + slice - 1) / slice - first;
	moments = allocated(calloc(*num + 1, sizeof(*moments)));
	if (left) {
		memcpy(samples, profile->samples, left * sizeof(*samples));
		qsort(samples, left, sizeof(*samples), by_time);
	}
	for (size_t i = 0; i < *num; i++) {
		size_t begin = next;

		/* what is out of all slices, is of the first or the last */
		while (next < left &&
		       (i == *num - 1 || index_of(&samples[next], slice) <= first + i))
			next++;
		moments[i].at_ns = (first + i + 1) * slice;
		moments[i].wall_ns = wall(profile, moments[i].at_ns - slice, moments[i].at_ns);
		fill(profile, &moments[i], samples + begin, next - begin);
	}
	free(samples);
	return moments;
}

static void cut_runs(struct profile *profile, uint64_t from, uint64_t to)
{
	profile->duration_ns = 0;
	for (size_t i = 0; i < profile->num_runs; i++) {
		struct run *run = &profile->runs[i];

		if (run->to_ns > to)
			run->to_ns = to;
		if (run->from_ns < from)
			run->from_ns = from < run->to_ns ? from : run->to_ns;
		if (run->from_ns > run->to_ns)
			run->from_ns = run->to_ns;
		run->user_ns = 0;
		run->system_ns = 0;
		add(&profile->duration_ns, run->to_ns - run->from_ns);
	}
}

void times_cut(struct profile *profile, uint64_t from_ns, uint64_t to_ns, const char *what)
{
	uint64_t slice = times_slice(profile, what), end = end_of(profile);
	uint64_t first = from_ns / slice, last = to_ns / slice + !!(to_ns % slice), sum = 0;
	size_t num = 0;

	if (from_ns && from_ns >= end)
		die("%s has nothing from %.2f s on: it ends after %.2f s; give an earlier --from",
		    what ? what : "this profile", from_ns / 1e9, end / 1e9);
	for (size_t i = 0; i < profile->num_samples; i++) {
		uint64_t index = index_of(&profile->samples[i], slice);

		if (index < first || index >= last)
			continue;
		add(&sum, profile->samples[i].samples);
		profile->samples[num++] = profile->samples[i];
	}
	profile->num_samples = num;
	profile->cut = true;
	cut_runs(profile, first * slice, last > end / slice ? end : last * slice);
	/* of a part of the time, no more than this is known */
	profile->num_processes = 0;
	memset(profile->counts, 0, sizeof(profile->counts));
	profile->counts[COUNT_TICKS] = sum;
	profile->counts[COUNT_IN_SLOTS] = sum;
}

bool times_span(const struct profile *profile, uint64_t *from_ns, uint64_t *to_ns)
{
	if (!profile->num_runs)
		return false;
	*from_ns = begin_of(profile);
	*to_ns = end_of(profile);
	return profile->cut || *from_ns;
}
