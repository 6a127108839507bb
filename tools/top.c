// SPDX-License-Identifier: GPL-2.0-only
/* profil top: where a program spends its time, while it does. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "clock.h"
#include "command.h"
#include "gather.h"
#include "options.h"
#include "run.h"
#include "say.h"
#include "screen.h"
#include "top.h"

enum { EXIT_OURS = 125, OPTION_ROWS = 256, OPTION_BY };

#define ROWS 20

static const struct argp_option options[] = {
	{ "interval", 's', "SECONDS", 0, "Show it anew after so long (1)", 0 },
	{ "intervals", 'n', "N", 0, "End after so many intervals", 0 },
	{ "rows", OPTION_ROWS, "ROWS", 0,
	  "Print so many functions, where there is no screen, and at the end (20)", 0 },
	{ "by", OPTION_BY, "WHAT", 0,
	  "Show first a row for each function, object or process; with -a also for each unit, container or program (function)",
	  0 },
	{ 0 }
};

/* The first ones are there in any case, the other ones of the whole machine alone. */
static const enum by kinds[] = {
	BY_FUNCTION, BY_OBJECT, BY_PROCESS, BY_UNIT, BY_CONTAINER, BY_PROGRAM,
};

#define KINDS_OF_ALL 3

static void parse_by(struct argp_state *state, struct top *top, const char *arg)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		top->by = kinds[i];
		if (!strcmp(arg, by_names[kinds[i]]))
			return;
	}
	argp_error(state, "--by takes function, object, process, unit, container or program, and was given %s",
		   arg);
}

/* A row of the machine is no process. */
static void check_by(struct argp_state *state, struct top *top)
{
	bool system = top->counting.wish.system;

	if (system && top->by == BY_PROCESS)
		top->by = BY_PROGRAM;
	for (size_t i = 0; i < KINDS_OF_ALL; i++)
		system = system || top->by == kinds[i];
	if (!system)
		argp_error(state, "--by %s needs -a", by_names[top->by]);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct top *top = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &top->counting;
		break;
	case 's':
		top->seconds = option_seconds(state, "-s", arg);
		break;
	case 'n':
		top->intervals = option_number(state, "-n", arg, 1, 1000000000);
		break;
	case OPTION_ROWS:
		top->rows = option_number(state, "--rows", arg, 1, 1000000000);
		break;
	case OPTION_BY:
		parse_by(state, top, arg);
		break;
	case ARGP_KEY_END:
		check_by(state, top);
		if (!strcmp(top->counting.file, "-"))
			argp_error(state,
				   "standard output has the tables: -o needs the name of a file");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_child children[] = { { &counting_argp, 0, NULL, 0 }, { 0 } };

static const struct argp argp = {
	options, parse, "[--] PROGRAM [ARG...]\n-p PID\n-a [--] [PROGRAM [ARG...]]",
	"Shows where PROGRAM, with all that it starts, the process PID, or the whole machine spends its time, while it does.\v"
	"On a terminal it is a screen, and the key h says what the keys are; else a table for each interval. When it ends before PROGRAM, PROGRAM is sent SIGTERM; the process PID goes on. Its end and its exit status are those of profil run.",
	children, NULL, NULL
};

/*
 * The screen's keys and lines are its own, and standard output has tables where there is no
 * screen: the program has neither.
 */
static void start(struct top *top)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (isatty(STDIN_FILENO))
		top->program.io[STDIN_FILENO] = null;
	top->program.io[STDOUT_FILENO] = null;
	if (isatty(STDERR_FILENO))
		top->program.io[STDERR_FILENO] = null;
	program_start(&top->program, top->units ? NULL : top->session, top->counting.argv);
	close(null);
}

void top_gather(struct top *top, struct profile *profile)
{
	uint64_t now_ns = top->units ? session_length_ns(top->session) :
		(clock_now() - top->live.began) * 1e9;

	profile_init(profile);
	run_set_command(profile, &top->counting);
	profile->time_ns = top->time_ns;
	profile->duration_ns = now_ns;
	slices_take(top->slices, now_ns, true);
	profile_add_run(profile, (struct run) {
		.to_ns = now_ns, .slice_ns = slices_length(top->slices),
	});
	gather(top->session, top->slices, top->counting.wish.kernel, top->units, profile);
}

void top_quit(struct top *top)
{
	struct program *program = &top->program;

	if (!program->pid || program->ended || top->ending) {
		program->left = true;
		return;
	}
	kill(program->pid, SIGTERM);
	top->ending = true;
}

/* Whole milliseconds, as files have them. */
static uint64_t slice_of(double seconds)
{
	return seconds < 0.001 ? NS_OF_MS : (uint64_t)(fmin(seconds, 1e9) * 1000 + 0.5) * NS_OF_MS;
}

static int end(struct top *top)
{
	struct program *program = &top->program;
	struct profile profile;

	/* what fails from here on is no matter of the program's status */
	die_status = program_exit_status(program);
	top_gather(top, &profile);
	program_read(program);
	if (program->ended && !top->units)
		run_set_charged(&profile, program);
	if (top->units)
		units_free(top->units);
	slices_free(top->slices);
	session_close(top->session);
	run_end(&profile, &top->counting, top->rows);
	profile_free(&profile);
	/* nobody has seen why */
	if (program->ended && !top->ending && die_status && program->io[STDERR_FILENO] >= 0)
		say("%s ended with status %d, and what it printed was not shown; profil top … 2>FILE keeps its errors",
		    top->counting.argv[0], die_status);
	return program_exit_status(program);
}

int command_top(int argc, char **argv)
{
	struct top top = {
		.counting = COUNTING_USUAL("profil top -a"), .rows = ROWS, .seconds = 1,
		.writing.fd = -1,
	};

	die_status = EXIT_OURS;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &top);
	store_check(top.counting.file);
	top.session = session_open(&top.counting.wish);
	program_init(&top.program);
	top.time_ns = clock_ns(CLOCK_REALTIME);
	if (top.counting.wish.system)
		top.units = units_make();
	if (top.counting.pid)
		program_attach(top.session, top.counting.pid);
	else if (top.counting.argv)
		start(&top);
	top.slices = slices_make(top.session, slice_of(top.seconds), PARTS_MAX);
	live_init(&top.live, top.session, top.counting.wish.kernel, top.units);
	run_set_command(&top.live.profile, &top.counting);
	naming_init(&top.naming);
	/* whoever reads the tables may go */
	signal(SIGPIPE, SIG_IGN);
	top.screen = screen_start();
	watch(&top);
	session_stop(top.session);
	screen_end();
	naming_end(&top.naming);
	live_free(&top.live);
	return end(&top);
}
