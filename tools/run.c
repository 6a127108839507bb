// SPDX-License-Identifier: GPL-2.0-only
/* profil run: a program is run, or a process looked at, while a session counts it. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "options.h"
#include "run.h"
#include "say.h"
#include "series.h"
#include "summary.h"
#include "text.h"

enum { EXIT_OURS = 125, KEY_SLICE = 256 };

#define ROWS 20
#define RUNS_MAX 10000
#define SLICE_NS (100 * NS_OF_MS)
#define SLICE_MAX 1000000	/* seconds */

static const struct argp_option options[] = {
	{ "rows", 'n', "ROWS", 0, "Print so many functions (20)", 0 },
	{ "duration", 'd', "SECONDS", 0, "Count for so long; a PROGRAM runs on to its end", 0 },
	{ "runs", 'r', "N", 0, "Run PROGRAM N times, and say how much the runs differ", 0 },
	{ "slice", KEY_SLICE, "SECONDS", 0,
	  "Tell times apart: the first slices are so long (0.1), later ones longer; 0: do not", 0 },
	{ 0 }
};

/* Whole milliseconds, as files have them. */
static uint64_t parse_slice(struct argp_state *state, const char *arg)
{
	double seconds;

	if (!strcmp(arg, "0"))
		return 0;
	seconds = option_seconds(state, "--slice", arg);
	if (seconds < 0.001 || seconds > SLICE_MAX)
		argp_error(state, "--slice takes 0, or seconds from 0.001 to %d, and was given %s",
			   SLICE_MAX, arg);
	return (uint64_t)(seconds * 1000 + 0.5) * NS_OF_MS;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct series *series = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &series->counting;
		break;
	case 'n':
		series->rows = option_number(state, "-n", arg, 1, 1000000000);
		break;
	case 'd':
		series->seconds = option_seconds(state, "-d", arg);
		break;
	case 'r':
		series->runs = option_number(state, "-r", arg, 1, RUNS_MAX);
		break;
	case KEY_SLICE:
		series->slice_ns = parse_slice(state, arg);
		break;
	case ARGP_KEY_END:
		if (series->runs > 1 && !series->counting.argv)
			argp_error(state, "-r runs a PROGRAM, and there is none");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_child children[] = { { &counting_argp, 0, NULL, 0 }, { 0 } };

static const struct argp argp = {
	options, parse, "[--] PROGRAM [ARG...]\n-p PID\n-a [--] [PROGRAM [ARG...]]",
	"Profiles PROGRAM with all that it starts, the process PID, or the whole machine.\v"
	"The exit status is that of PROGRAM, 128 and a signal's number if that ended it, 125 if profil failed before, 126 if PROGRAM cannot be executed, and 127 if there is none.",
	children, NULL, NULL
};

void run_set_command(struct profile *profile, const struct counting *counting)
{
	char **argv = counting->argv;
	size_t length;
	char *text;
	FILE *out = allocated(open_memstream(&text, &length));

	if (counting->pid)
		fprintf(out, "process %d", counting->pid);
	if (counting->wish.system)
		fprintf(out, "the whole machine%s", argv ? ", " : "");
	for (char **arg = argv; arg && *arg; arg++)
		fprintf(out, "%s%s", arg == argv ? "" : " ", *arg);
	if (fclose(out))
		allocated(NULL);
	profile->command = profile_string(profile, text);
	free(text);
}

void run_set_charged(struct profile *profile, const struct program *program)
{
	program_charged(program, &profile->counts[COUNT_CHARGED_USER_NS],
			&profile->counts[COUNT_CHARGED_SYSTEM_NS]);
}

static void print(struct profile *profile, const char *file, size_t rows, long long bytes)
{
	struct table table;

	table_make(profile, BY_FUNCTION, &table);
	putc('\n', stderr);
	summary_head(stderr, profile, &table);
	if (table.sum.samples)
		text_table(stderr, &table, rows);
	summary_tail(stderr, profile, &table);
	if (bytes >= 0 && strcmp(file, "-"))
		fprintf(stderr, "  written  %s, %lld kB (profil report, go tool pprof)\n",
			profile_string(profile, file), (bytes + 1023) / 1024);
	table_free(&table);
}

void run_end(struct profile *profile, const struct counting *counting, size_t rows)
{
	long long bytes = store_write(profile, counting->file);

	if (!counting->quiet)
		print(profile, counting->file, rows, bytes);
}

int command_run(int argc, char **argv)
{
	struct series series = {
		.counting = COUNTING_USUAL("profil run -a"),
		.runs = 1, .seconds = -1, .slice_ns = SLICE_NS, .rows = ROWS,
	};
	const struct counting *counting = &series.counting;
	struct profile profile;
	int status;

	die_status = EXIT_OURS;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &series);
	store_check(counting->file);
	profile_init(&profile);
	run_set_command(&profile, counting);
	status = series_run(&series, &profile);
	die_status = status;
	run_end(&profile, counting, series.rows);
	profile_free(&profile);
	return status;
}
