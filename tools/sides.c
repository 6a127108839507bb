// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "alike.h"
#include "order.h"
#include "say.h"
#include "sides.h"
#include "store.h"
#include "table.h"

/* The samples of a function in one run. */
struct entry {
	const char *name, *object, *id;
	size_t run;
	uint64_t samples;
};

struct entries {
	struct entry *list;
	size_t num, room;
};

/* Most profiles are gone before their names are compared: those are with the first one. */
static struct profile *names_of(const struct sides *sides)
{
	return &sides->profiles[0];
}

/* A function without a name is an address, which means something in one build alone. */
static const char *own_id(const struct row *row)
{
	if (strncmp(row->name, "fn@", 3))
		return "";
	return row->build_id[0] ? row->build_id : row->object;
}

static void add_entries(const struct sides *sides, struct entries *entries,
			const struct profile *profile, const struct table *table, size_t run)
{
	struct profile *names = names_of(sides);
	const char *program = profile == names ? NULL : alike_program(names);

	for (size_t i = 0; i < table->num; i++) {
		const struct row *row = &table->rows[i];

		entries->list = more(entries->list, &entries->room, entries->num,
				     sizeof(*entries->list));
		entries->list[entries->num++] = (struct entry) {
			.name = profile_string(names, row->name),
			.object = alike_name(names, profile, row->object, program),
			.id = profile_string(names, own_id(row)),
			.run = run, .samples = row->samples,
		};
	}
}

/* Samples in a second of CPU time, as the file has it. */
static double samples_a_second(const char *file, const struct profile *profile,
			       const struct row *sum)
{
	if (sum->samples && sum->cpu_ns)
		return 1e9 * sum->samples / sum->cpu_ns;
	if (sum->samples || !profile->period_ns)
		die("%s does not say how much time a sample is worth; --share compares shares instead",
		    file);
	return 1e9 / profile->period_ns;
}

static int by_run(const void *a, const void *b)
{
	return compare_numbers(((const struct sample *)a)->run, ((const struct sample *)b)->run);
}

static void add_run(struct sides *sides, struct entries *entries, struct profile *profile,
		    const struct table *table, const char *file, size_t run)
{
	add_entries(sides, entries, profile, table, run);
	sides->total.counted[run] = (struct counted) { run, table->sum.samples };
	sides->seconds[run] = table->sum.cpu_ns / 1e9;
	sides->runs.samples[run] = sides->runs.shares ? table->sum.samples :
		samples_a_second(file, profile, &table->sum);
}

/* All runs of a file, the first of which has this number. */
static void add_runs(struct sides *sides, struct entries *entries, size_t file, size_t first)
{
	struct profile *profile = &sides->profiles[file];
	struct sample *samples = profile->samples;
	size_t next = 0, num = profile->num_samples;

	if (num)
		qsort(samples, num, sizeof(*samples), by_run);
	for (size_t i = 0; i < profile->num_runs; i++) {
		size_t begin = next;
		struct table table;

		while (next < num && samples[next].run == i)
			next++;
		table_make_of(profile, BY_FUNCTION, samples + begin, next - begin, &table);
		add_run(sides, entries, profile, &table, sides->files[file], first + i);
		table_free(&table);
	}
}

static int by_function(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return compare_texts(x->name, y->name) ?: compare_texts(x->object, y->object) ?:
		compare_texts(x->id, y->id);
}

static int by_function_and_run(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return by_function(a, b) ?: compare_numbers(x->run, y->run);
}

static size_t num_runs(const struct sides *sides)
{
	return sides->runs.num[SIDE_A] + sides->runs.num[SIDE_B];
}

/* Most functions are in few of many runs: there is nothing for each run of each function. */
static void make_pairs(struct sides *sides, struct entries *entries)
{
	struct pair *pair = NULL;
	struct counted *counted;

	if (entries->num)
		qsort(entries->list, entries->num, sizeof(*entries->list), by_function_and_run);
	sides->pairs = allocated(calloc(entries->num + 1, sizeof(*sides->pairs)));
	sides->counted = allocated(calloc(entries->num + 1, sizeof(*sides->counted)));
	counted = sides->counted;
	for (size_t i = 0; i < entries->num; i++) {
		const struct entry *entry = &entries->list[i];

		if (!i || by_function(entry - 1, entry)) {
			pair = &sides->pairs[sides->num++];
			*pair = (struct pair) {
				.name = entry->name, .object = entry->object, .id = entry->id,
				.counted = counted,
			};
		}
		if (!pair->num || counted[-1].run != entry->run) {
			*counted++ = (struct counted) { .run = entry->run };
			pair->num++;
		}
		add(&counted[-1].samples, entry->samples);
	}
}

/* For what is counted of each run; one more, as there may be none. */
static void make_room(struct sides *sides)
{
	size_t num = num_runs(sides) + 1;

	sides->runs.samples = allocated(reallocarray(sides->runs.samples, num, sizeof(double)));
	sides->seconds = allocated(reallocarray(sides->seconds, num, sizeof(double)));
	sides->total.counted = allocated(reallocarray(sides->total.counted, num,
						      sizeof(struct counted)));
}

/* Returns whether the filter has left anything. */
static bool read_file(struct sides *sides, struct entries *entries, size_t file,
		      const struct sides_wish *wish)
{
	struct profile *profile = &sides->profiles[file];
	size_t first = num_runs(sides);
	bool any;

	profile_init(profile);
	store_read(profile, sides->files[file]);
	sysroot_names(&wish->sysroot, profile);
	span_cut(&wish->span, profile, sides->files[file]);
	any = filter_one(&wish->filter, profile, sides->files[file]);
	sides->runs.num[file < sides->num_files[SIDE_A] ? SIDE_A : SIDE_B] += profile->num_runs;
	make_room(sides);
	add_runs(sides, entries, file, first);
	/* there may be thousands, and the entries have it all */
	if (file && file != sides->num_files[SIDE_A]) {
		profile_free(profile);
		*profile = (struct profile) { 0 };
	}
	return any;
}

void sides_read(struct sides *sides, char *const *files, const size_t num[SIDES],
		const struct sides_wish *wish)
{
	struct entries entries = { 0 };
	bool any = false;

	*sides = (struct sides) {
		.files = files, .num_files = { num[SIDE_A], num[SIDE_B] },
		.runs.shares = wish->shares,
		.profiles = allocated(calloc(num[SIDE_A] + num[SIDE_B], sizeof(struct profile))),
		.total = { .name = "", .object = "", .id = "" },
	};
	for (size_t i = 0; i < num[SIDE_A] + num[SIDE_B]; i++)
		any |= read_file(sides, &entries, i, wish);
	if (!any)
		filter_none(&wish->filter);
	make_pairs(sides, &entries);
	free(entries.list);
}

/* How much it changed, or where that is not sure, how much of it there is. */
static double weight(const struct comparison *comparison)
{
	double a = comparison->rate[SIDE_A], b = comparison->rate[SIDE_B];

	return comparison->changed ? fabs(a - b) : fmax(a, b);
}

static int by_weight(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	double more = weight(&y->comparison) - weight(&x->comparison);

	return y->comparison.changed - x->comparison.changed ?: (more > 0) - (more < 0) ?:
		compare_texts(x->name, y->name) ?: compare_texts(x->object, y->object) ?:
		compare_texts(x->id, y->id);
}

void sides_compare(struct sides *sides)
{
	struct comparison **family = allocated(calloc(sides->num + 1, sizeof(*family)));
	size_t num = 0;

	compare_sum(&sides->runs);
	for (size_t i = 0; i < sides->num; i++) {
		struct pair *pair = &sides->pairs[i];

		compare(&sides->runs, pair->counted, pair->num, &pair->comparison);
		family[num++] = &pair->comparison;
	}
	compare(&sides->runs, sides->total.counted, num_runs(sides), &sides->total.comparison);
	/* all shares together are always one */
	if (!sides->runs.shares)
		family[num++] = &sides->total.comparison;
	sides->log_p = compare_family(family, num);
	free(family);
	for (size_t i = 0; i < sides->num; i++) {
		sides->tested += sides->pairs[i].comparison.tested;
		sides->changed += sides->pairs[i].comparison.changed;
	}
	if (sides->num)
		qsort(sides->pairs, sides->num, sizeof(*sides->pairs), by_weight);
}

void sides_free(struct sides *sides)
{
	for (size_t i = 0; i < sides->num_files[SIDE_A] + sides->num_files[SIDE_B]; i++)
		profile_free(&sides->profiles[i]);
	free(sides->total.counted);
	free(sides->counted);
	free(sides->pairs);
	free(sides->profiles);
	free(sides->seconds);
	free(sides->runs.samples);
}

const char *pair_verdict(const struct pair *pair)
{
	const struct comparison *comparison = &pair->comparison;

	if (!comparison->changed)
		return comparison->tested ? "same" : "few";
	return comparison->rate[SIDE_A] <= 0 ? "new" :
		comparison->rate[SIDE_B] <= 0 ? "gone" : "changed";
}
