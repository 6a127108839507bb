// SPDX-License-Identifier: GPL-2.0-only
/* profil run: a program is run, or a process looked at, while a session counts it. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "options.h"
#include "program.h"
#include "run.h"
#include "say.h"
#include "series.h"
#include "store.h"
#include "summary.h"
#include "text.h"

enum { EXIT_OURS = 125, KEY_PER_PROCESS = 256, KEY_SLOTS, KEY_KERNEL, KEY_SLICE };

#define ROWS 20
#define RUNS_MAX 10000
#define SLICE_NS (100 * NS_OF_MS)
#define SLICE_MAX 1000000	/* seconds */

struct wanted {
	struct series series;
	const char *file;
	bool quiet;
	size_t rows;
};

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0,
	  "Write the profile to FILE; - is standard output (" STORE_FILE ")", 0 },
	{ "quiet", 'q', NULL, 0, "Print nothing at the end", 0 },
	{ "rows", 'n', "ROWS", 0, "Print so many functions (20)", 0 },
	{ "frequency", 'F', "HZ", 0,
	  "Take so many samples a second of CPU time, at random times, not one at each tick", 0 },
	{ "user", 'u', NULL, 0, "Leave out time in the kernel", 0 },
	{ "kernel", KEY_KERNEL, NULL, 0,
	  "Show time in the kernel as that of its functions; needs CAP_PERFMON", 0 },
	{ "per-process", KEY_PER_PROCESS, NULL, 0, "Tell processes apart in the profile", 0 },
	{ "duration", 'd', "SECONDS", 0, "Count for so long; a PROGRAM runs on to its end", 0 },
	{ "wait", 'w', NULL, 0, "Wait also for processes that PROGRAM leaves behind", 0 },
	{ "pid", 'p', "PID", 0,
	  "Profile a process that runs, until it ends or you press Ctrl-C", 0 },
	{ "runs", 'r', "N", 0, "Run PROGRAM N times, and say how much the runs differ", 0 },
	{ "slice", KEY_SLICE, "SECONDS", 0,
	  "Tell times apart: the first slices are so long (0.1), later ones longer; 0: do not", 0 },
	{ "slots", KEY_SLOTS, "N", 0, "Room for so many places, a power of 2 (65536)", 0 },
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
	struct wanted *wanted = state->input;

	switch (key) {
	case 'o':
		wanted->file = arg;
		break;
	case 'q':
		wanted->quiet = true;
		break;
	case 'n':
		wanted->rows = option_number(state, "-n", arg, 1, 1000000000);
		break;
	case 'F':
		wanted->series.wish.rate = option_number(state, "-F", arg, 1, 1000000);
		break;
	case 'u':
		wanted->series.wish.user_only = true;
		break;
	case KEY_KERNEL:
		wanted->series.wish.kernel = true;
		break;
	case KEY_PER_PROCESS:
		wanted->series.wish.per_process = true;
		break;
	case 'd':
		wanted->series.seconds = option_seconds(state, "-d", arg);
		break;
	case 'w':
		wanted->series.wait = true;
		break;
	case 'p':
		wanted->series.pid = option_number(state, "-p", arg, 1, INT32_MAX);
		break;
	case KEY_SLOTS:
		wanted->series.wish.slots = option_number(state, "--slots", arg, PROFIL_SLOTS_MIN,
							  PROFIL_SLOTS_MAX);
		break;
	case 'r':
		wanted->series.runs = option_number(state, "-r", arg, 1, RUNS_MAX);
		break;
	case KEY_SLICE:
		wanted->series.slice_ns = parse_slice(state, arg);
		break;
	case ARGP_KEY_ARG:
		/* this word and all that follow are the program's */
		wanted->series.argv = &state->argv[state->next - 1];
		state->next = state->argc;
		break;
	case ARGP_KEY_END:
		if (!wanted->series.argv == !wanted->series.pid)
			argp_error(state, "one of the two has to be given: a PROGRAM, or -p PID");
		if (wanted->series.wish.kernel && wanted->series.wish.user_only)
			argp_error(state, "-u and --kernel contradict each other");
		if (wanted->series.runs > 1 && wanted->series.pid)
			argp_error(state, "-r runs a PROGRAM, and -p has none");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	options, parse, "[--] PROGRAM [ARG...]\n-p PID",
	"Profiles PROGRAM with all that it starts, or the process PID.\v"
	"The exit status is that of PROGRAM, 128 and a signal's number if that ended it, 125 if profil failed before, 126 if PROGRAM cannot be executed, and 127 if there is none.",
	NULL, NULL, NULL
};

void run_set_command(struct profile *profile, pid_t pid, char **argv)
{
	size_t length;
	char *text;
	FILE *out = allocated(open_memstream(&text, &length));

	if (pid)
		fprintf(out, "process %d", pid);
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

void run_print(struct profile *profile, const char *file, size_t rows, long long bytes)
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

int command_run(int argc, char **argv)
{
	struct wanted wanted = {
		.file = STORE_FILE, .rows = ROWS,
		.series = { .runs = 1, .seconds = -1, .slice_ns = SLICE_NS, .wish.slots = 65536 },
	};
	struct profile profile;
	int status;

	die_status = EXIT_OURS;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &wanted);
	store_check(wanted.file);
	profile_init(&profile);
	run_set_command(&profile, wanted.series.pid, wanted.series.argv);
	status = series_run(&wanted.series, &profile);
	die_status = status;
	if (!wanted.quiet)
		run_print(&profile, wanted.file, wanted.rows, store_write(&profile, wanted.file));
	else
		store_write(&profile, wanted.file);
	profile_free(&profile);
	return status;
}
