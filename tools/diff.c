// SPDX-License-Identifier: GPL-2.0-only
/* profil diff: which functions took more or less time in one side's profiles. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "contrast.h"
#include "output.h"
#include "recall.h"
#include "say.h"
#include "sides.h"
#include "spool.h"

enum { EXIT_CHANGED = 1, EXIT_TROUBLE = 2 };	/* as diff(1) has them */
enum { KEY_SHARE = 256, KEY_IN };

struct diff {
	char **files;		/* A's first */
	size_t num[SIDES];
	size_t room;
	const char *folder;	/* for spans of time */
	struct output output;
	struct sides_wish wish;
};

static const struct argp_option options[] = {
	{ "share", KEY_SHARE, NULL, 0,
	  "Compare shares of the CPU time, not seconds: where the work was not the same", 0 },
	{ "in", KEY_IN, "DIR", 0,
	  "The folder of profil watch that spans of time are of (" SPOOL_FOLDER ")", 0 },
	{ 0 }
};

/* What follows "--" is B. */
static void add_file(struct diff *diff, struct argp_state *state, char *file)
{
	enum side side = state->quoted && state->next > state->quoted ? SIDE_B : SIDE_A;
	size_t num = diff->num[SIDE_A] + diff->num[SIDE_B];

	diff->files = more(diff->files, &diff->room, num, sizeof(*diff->files));
	diff->files[num] = file;
	diff->num[side]++;
}

/* Two files are a side each; "--" may also be what ends the options. */
static void check_files(struct diff *diff, struct argp_state *state)
{
	size_t num = diff->num[SIDE_A] + diff->num[SIDE_B];

	if (num == SIDES && (!state->quoted || !diff->num[SIDE_A])) {
		diff->num[SIDE_A] = 1;
		diff->num[SIDE_B] = 1;
	}
	if (!diff->num[SIDE_A] || !diff->num[SIDE_B])
		argp_error(state, "two sides have to be given: two files, or files, -- and files");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct diff *diff = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &diff->wish.span;
		state->child_inputs[1] = &diff->wish.sysroot;
		state->child_inputs[2] = &diff->wish.filter;
		state->child_inputs[3] = &diff->output;
		break;
	case KEY_SHARE:
		diff->wish.shares = true;
		break;
	case KEY_IN:
		diff->folder = arg;
		break;
	case ARGP_KEY_ARG:
		add_file(diff, state, arg);
		break;
	case ARGP_KEY_END:
		check_files(diff, state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_child children[] = {
	{ &span_argp, 0, NULL, 0 }, { &sysroot_argp, 0, NULL, 0 }, { &filter_argp, 0, NULL, 0 },
	{ &output_rows_argp, 0, NULL, 0 }, { 0 }
};

static const struct argp argp = {
	options, parse, "A B\nA... -- B...",
	"Shows which functions take more or less CPU time in the profiles B than in A.\v"
	"A and B are files, or spans of time, FROM..TO, of what profil watch has written, each interval a run: profil diff 'yesterday 14:00..yesterday 15:00' '1 hour ago..'.  Before a span that begins with - there has to be a --: profil diff -- -2h..-1h -1h.. compares the last two hours.  Several files, and files of profil run -r, are several runs, which tell how much runs differ anyway.  The exit status is 0 if nothing has changed by more than chance explains, 1 if something has, and 2 if that cannot be said.",
	children, NULL, NULL
};

/* What is known of a pair beside its names. */
enum { RATE_A, RATE_B, RATIO, LOW, HIGH, P, DISPERSION, LEAST, NUMBERS };

static const char *const number_names[NUMBERS] = {
	"a", "b", "ratio", "low", "high", "p", "dispersion", "least",
};

static void get_numbers(const struct sides *sides, const struct pair *pair,
			double numbers[NUMBERS])
{
	const struct comparison *comparison = &pair->comparison;
	double a = comparison->rate[SIDE_A], b = comparison->rate[SIDE_B];

	numbers[RATE_A] = a;
	numbers[RATE_B] = b;
	numbers[RATIO] = a > 0 ? b / a : b > 0 ? INFINITY : 1;
	compare_interval(&sides->runs, comparison, &numbers[LOW], &numbers[HIGH]);
	numbers[P] = comparison->adjusted;
	numbers[DISPERSION] = comparison->dispersion;
	numbers[LEAST] = compare_least(&sides->runs, comparison, sides->log_p);
}

static void print_tsv_pair(const struct sides *sides, const char *what, const struct pair *pair)
{
	double numbers[NUMBERS];

	get_numbers(sides, pair, numbers);
	printf("%s\t%s\t%.0f\t%.0f", what, pair_verdict(pair), pair->comparison.count[SIDE_A],
	       pair->comparison.count[SIDE_B]);
	for (int i = 0; i < NUMBERS; i++)
		printf("\t%.6g", numbers[i]);
	printf("\t%s\t%s\n", pair->name, pair->object);
}

static void print_tsv(const struct sides *sides)
{
	printf("count\tshare\t%d\ncount\truns_a\t%zu\ncount\truns_b\t%zu\n", sides->runs.shares,
	       sides->runs.num[SIDE_A], sides->runs.num[SIDE_B]);
	printf("count\tfunctions\t%zu\ncount\ttested\t%zu\ncount\tchanged\t%zu\n", sides->num,
	       sides->tested, sides->changed);
	print_tsv_pair(sides, "total", &sides->total);
	for (size_t i = 0; i < sides->num; i++)
		print_tsv_pair(sides, "function", &sides->pairs[i]);
}

/* JSON has no infinite numbers. */
static json_t *number(double n)
{
	return isfinite(n) ? json_real(n) : json_null();
}

/* Its integers have a sign. */
static json_t *count(const struct comparison *comparison, enum side side)
{
	return json_integer(fmin(comparison->count[side], INT64_MAX / 2));
}

static json_t *json_pair(const struct sides *sides, const struct pair *pair)
{
	double numbers[NUMBERS];
	json_t *object;

	get_numbers(sides, pair, numbers);
	object = allocated(json_pack("{s:s, s:s, s:s, s:o, s:o}", "name", pair->name,
				     "object", pair->object, "verdict", pair_verdict(pair),
				     "samples_a", count(&pair->comparison, SIDE_A),
				     "samples_b", count(&pair->comparison, SIDE_B)));
	for (int i = 0; i < NUMBERS; i++)
		if (json_object_set_new(object, number_names[i], number(numbers[i])))
			allocated(NULL);
	return object;
}

static void print_json(const struct sides *sides)
{
	json_t *rows = allocated(json_array()), *all;

	for (size_t i = 0; i < sides->num; i++)
		if (json_array_append_new(rows, json_pair(sides, &sides->pairs[i])))
			allocated(NULL);
	all = allocated(json_pack("{s:b, s:I, s:I, s:I, s:I, s:I, s:o, s:o}",
				  "share", sides->runs.shares,
				  "runs_a", (json_int_t)sides->runs.num[SIDE_A],
				  "runs_b", (json_int_t)sides->runs.num[SIDE_B],
				  "functions", (json_int_t)sides->num,
				  "tested", (json_int_t)sides->tested,
				  "changed", (json_int_t)sides->changed,
				  "total", json_pair(sides, &sides->total), "rows", rows));
	json_dumpf(all, stdout, JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(6));
	putchar('\n');
	json_decref(all);
}

int command_diff(int argc, char **argv)
{
	struct diff diff = { .output = OUTPUT_USUAL, .folder = SPOOL_FOLDER };
	char **files;
	struct sides sides;
	bool changed;

	die_status = EXIT_TROUBLE;
	argp_err_exit_status = EXIT_TROUBLE;
	/* in order: the place of "--" among the files is what tells sides apart */
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &diff);
	files = recall_expand(diff.folder, diff.files, diff.num);
	sides_read(&sides, files, diff.num, &diff.wish);
	sides_compare(&sides);
	if (diff.output.tsv)
		print_tsv(&sides);
	else if (diff.output.json)
		print_json(&sides);
	else
		contrast_text(stdout, &sides, diff.output.rows);
	changed = sides.changed || sides.total.comparison.changed;
	sides_free(&sides);
	recall_free(files, diff.num);
	free(diff.files);
	sysroot_free(&diff.wish.sysroot);
	output_end("comparison");
	return changed ? EXIT_CHANGED : 0;
}
