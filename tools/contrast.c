// SPDX-License-Identifier: GPL-2.0-only
/* What differs between two sides, for people. */
#include <math.h>
#include <string.h>
#include "columns.h"
#include "contrast.h"
#include "say.h"
#include "times.h"

#define NUMBERS 46		/* columns before the names */
#define COMMAND_COLUMNS 60
#define FEW_RUNS 8		/* of both sides, which know little of how runs differ */
#define BREAK "\n           "

static const char *plural(size_t num)
{
	return num == 1 ? "" : "s";
}

/* B in percent of A, and half of the interval in which that is. */
static void get_change(const struct sides *sides, const struct comparison *comparison,
		       double *change, double *half)
{
	double low, high;

	compare_interval(&sides->runs, comparison, &low, &high);
	*change = 100 * (comparison->rate[SIDE_B] / comparison->rate[SIDE_A] - 1);
	*half = 50 * (high - low);
}

static double least(const struct sides *sides, const struct pair *pair)
{
	return 100 * compare_least(&sides->runs, &pair->comparison, sides->log_p);
}

static void put_percent(FILE *out, double percent)
{
	fprintf(out, percent < 10 ? "%.1f %%" : "%.0f %%", percent);
}

static void put_total(FILE *out, const struct sides *sides)
{
	const double *rate = sides->total.comparison.rate;
	double change, half;

	if (rate[SIDE_A] <= 0 || rate[SIDE_B] <= 0) {
		fprintf(out, "%s has no samples", rate[SIDE_A] <= 0 ? "A" : "B");
		return;
	}
	get_change(sides, &sides->total.comparison, &change, &half);
	fprintf(out, "total CPU %+.1f %% ± %.1f %%", change, half);
}

/* The function that had the most, of those that did not change; or all together. */
static void put_seen(FILE *out, const struct sides *sides)
{
	const struct pair *pair = sides->runs.shares ? sides->pairs : &sides->total;
	double percent = sides->num ? least(sides, pair) : INFINITY;

	fputs("no change that chance does not explain; ", out);
	if (isinf(percent)) {
		fputs("there are too few samples to see any", out);
		return;
	}
	fputs("a change of ", out);
	put_percent(out, percent);
	if (sides->runs.shares)
		fprintf(out, " in the share of %s could have been seen", pair->name);
	else
		fputs(" in total could have been seen", out);
}

static void put_answer(FILE *out, const struct sides *sides)
{
	if (sides->changed && sides->runs.shares) {
		fprintf(out, "changed: the share%s of %zu function%s", plural(sides->changed),
			sides->changed, plural(sides->changed));
	} else if (sides->changed) {
		fprintf(out, "changed: %zu function%s, ", sides->changed, plural(sides->changed));
		put_total(out, sides);
	} else if (sides->total.comparison.changed) {
		fputs("changed: no function by itself, ", out);
		put_total(out, sides);
	} else {
		put_seen(out, sides);
	}
	putc('\n', out);
}

/* Which files are a side, of what, and how much they have. */
static void put_side(FILE *out, struct sides *sides, enum side side)
{
	size_t first = side == SIDE_B ? sides->runs.num[SIDE_A] : 0, num = sides->runs.num[side];
	size_t file = side == SIDE_B ? sides->num_files[SIDE_A] : 0;
	struct profile *profile = &sides->profiles[file];
	uint64_t from, to;
	double sum = 0, low = INFINITY, high = 0;

	for (size_t i = first; i < first + num; i++) {
		sum += sides->seconds[i];
		low = fmin(low, sides->seconds[i]);
		high = fmax(high, sides->seconds[i]);
	}
	fprintf(out, "%s  %s", side == SIDE_A ? "A" : "B",
		profile_string(profile, sides->files[file]));
	if (sides->num_files[side] > 1)
		fprintf(out, " and %zu more", sides->num_files[side] - 1);
	if (profile->command[0]) {
		fputs(", ", out);
		put_column(out, profile->command, COMMAND_COLUMNS, true);
	}
	if (times_span(profile, &from, &to))
		fprintf(out, ", from %.4g s to %.4g s", from / 1e9, to / 1e9);
	fprintf(out, ": %.2f s of CPU", sum / num);
	if (num > 1)
		fprintf(out, " in a run, from %.2f to %.2f", low, high);
	fprintf(out, ", %.0f samples\n", sides->total.comparison.count[side]);
}

static void put_rate(FILE *out, const struct sides *sides, double rate)
{
	if (sides->runs.shares)
		fprintf(out, "%8.1f %%", 100 * rate);
	else
		fprintf(out, "%8.2f s", rate);
}

static void put_numbers(FILE *out, const struct sides *sides, const struct pair *pair)
{
	const struct comparison *comparison = &pair->comparison;
	double change, half, seen;

	put_rate(out, sides, comparison->rate[SIDE_A]);
	put_rate(out, sides, comparison->rate[SIDE_B]);
	get_change(sides, comparison, &change, &half);
	if (!strcmp(pair_verdict(pair), "changed")) {
		fprintf(out, "%+8.1f %%%6.1f%10s", change, half, "");
		return;
	}
	if (comparison->changed) {
		fprintf(out, "%10s%16s", pair_verdict(pair), "");
		return;
	}
	seen = least(sides, pair);
	if (isinf(seen))
		/* not "%8s", which counts bytes */
		fprintf(out, "%10s%13s·  ", "~", "");
	else
		fprintf(out, "%10s%12.0f %%  ", "~", seen);
}

static void put_rest(FILE *out, const struct sides *sides, size_t first)
{
	double rate[SIDES] = { 0 };
	size_t changed = 0, num = sides->num - first;

	for (size_t i = first; i < sides->num; i++) {
		rate[SIDE_A] += sides->pairs[i].comparison.rate[SIDE_A];
		rate[SIDE_B] += sides->pairs[i].comparison.rate[SIDE_B];
		changed += sides->pairs[i].comparison.changed;
	}
	put_rate(out, sides, rate[SIDE_A]);
	put_rate(out, sides, rate[SIDE_B]);
	fprintf(out, "%26s%zu more function%s, ", "", num, plural(num));
	if (changed)
		fprintf(out, "%zu of them changed", changed);
	else
		fputs("none of them changed", out);
	fputs("  (profil diff --all)\n", out);
}

static void put_table(FILE *out, const struct sides *sides, size_t rows)
{
	size_t shown = rows && rows < sides->num ? rows : sides->num;
	size_t name = strlen("function"), object = 0;
	bool cut = columns_of(out);

	for (size_t i = 0; i < shown; i++) {
		if (columns(sides->pairs[i].name) > name)
			name = columns(sides->pairs[i].name);
		if (columns(sides->pairs[i].object) > object)
			object = columns(sides->pairs[i].object);
	}
	if (object > OBJECT_MAX_COLUMNS)
		object = OBJECT_MAX_COLUMNS;
	name = columns_for_names(out, name, NUMBERS + object + 2);
	fputs("\n         A         B    change  ±95%   least  function", out);
	put_blanks(out, "function", name);
	fputs("object\n", out);
	for (size_t i = 0; i < shown; i++) {
		const struct pair *pair = &sides->pairs[i];

		put_numbers(out, sides, pair);
		put_column(out, pair->name, name, cut);
		put_blanks(out, pair->name, name);
		put_column(out, pair->object, object, cut);
		putc('\n', out);
	}
	if (shown < sides->num)
		put_rest(out, sides, shown);
}

static void put_remarks(FILE *out, const struct sides *sides)
{
	size_t runs = sides->runs.num[SIDE_A] + sides->runs.num[SIDE_B];
	double dispersion = sides->total.comparison.dispersion;

	fprintf(out, "  tested   %zu of %zu function%s", sides->tested, sides->num,
		plural(sides->num));
	if (sides->tested < sides->num)
		fputs("; so few samples as the others have could show no change", out);
	putc('\n', out);
	if (!sides->runs.shares && dispersion > 1)
		fprintf(out,
			"  runs     differ %.1f times as much as chance in their samples "
			"makes them\n",
			sqrt(dispersion));
	if (runs == SIDES)
		fputs("  remark   one run of each: by how much runs differ anyway is not known"
		      BREAK
		      "profil diff A A A -- B B B, of several runs each, knows that\n", out);
	else if (runs < FEW_RUNS)
		fputs("  remark   so few runs say little of how much runs differ: "
		      "only large changes are seen" BREAK
		      "with 5 runs of each side, much smaller ones are\n", out);
}

void contrast_text(FILE *out, struct sides *sides, size_t rows)
{
	put_answer(out, sides);
	putc('\n', out);
	put_side(out, sides, SIDE_A);
	put_side(out, sides, SIDE_B);
	if (sides->num)
		put_table(out, sides, rows);
	putc('\n', out);
	put_remarks(out, sides);
}
