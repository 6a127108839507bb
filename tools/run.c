// SPDX-License-Identifier: GPL-2.0-only
/* profil run: a program is run, or a process looked at, while a session counts it. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "command.h"
#include "gather.h"
#include "options.h"
#include "program.h"
#include "say.h"
#include "session.h"
#include "store.h"
#include "summary.h"
#include "text.h"

enum { EXIT_OURS = 125, KEY_PER_PROCESS = 256, KEY_SLOTS, KEY_KERNEL };

#define ROWS 20

struct wanted {
	struct session_wish wish;
	const char *file;
	bool quiet;
	bool wait;
	size_t rows;
	double seconds;		/* negative: no limit */
	pid_t pid;		/* 0: a program is started */
	char **argv;
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
	{ "slots", KEY_SLOTS, "N", 0, "Room for so many places, a power of 2 (65536)", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct wanted *run = state->input;

	switch (key) {
	case 'o':
		run->file = arg;
		break;
	case 'q':
		run->quiet = true;
		break;
	case 'n':
		run->rows = option_number(state, "-n", arg, 1, 1000000000);
		break;
	case 'F':
		run->wish.rate = option_number(state, "-F", arg, 1, 1000000);
		break;
	case 'u':
		run->wish.user_only = true;
		break;
	case KEY_KERNEL:
		run->wish.kernel = true;
		break;
	case KEY_PER_PROCESS:
		run->wish.per_process = true;
		break;
	case 'd':
		run->seconds = option_seconds(state, "-d", arg);
		break;
	case 'w':
		run->wait = true;
		break;
	case 'p':
		run->pid = option_number(state, "-p", arg, 1, INT32_MAX);
		break;
	case KEY_SLOTS:
		run->wish.slots = option_number(state, "--slots", arg, PROFIL_SLOTS_MIN,
						PROFIL_SLOTS_MAX);
		break;
	case ARGP_KEY_ARG:
		/* this word and all that follow are the program's */
		run->argv = &state->argv[state->next - 1];
		state->next = state->argc;
		break;
	case ARGP_KEY_END:
		if (!run->argv == !run->pid)
			argp_error(state, "one of the two has to be given: a PROGRAM, or -p PID");
		if (run->wish.kernel && run->wish.user_only)
			argp_error(state, "-u and --kernel contradict each other");
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

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

static uint64_t timeval_ns(const struct timeval *time)
{
	return time->tv_sec * 1000000000ULL + time->tv_usec * 1000ULL;
}

/* The command as it was given, with spaces between. */
static void set_command(struct profile *profile, const struct wanted *run)
{
	size_t length;
	char *text;
	FILE *out = allocated(open_memstream(&text, &length));

	if (run->pid)
		fprintf(out, "process %d", run->pid);
	for (char **arg = run->argv; arg && *arg; arg++)
		fprintf(out, "%s%s", arg == run->argv ? "" : " ", *arg);
	if (fclose(out))
		allocated(NULL);
	profile->command = profile_string(profile, text);
	free(text);
}

static void print(struct profile *profile, const struct wanted *run, long long bytes)
{
	struct table table;

	table_make(profile, BY_FUNCTION, &table);
	putc('\n', stderr);
	summary_head(stderr, profile, &table);
	if (table.sum.samples)
		text_table(stderr, &table, run->rows);
	summary_tail(stderr, profile, &table);
	if (bytes >= 0 && strcmp(run->file, "-"))
		fprintf(stderr, "  written  %s, %lld kB (profil report, go tool pprof)\n",
			profile_string(profile, run->file), (bytes + 1023) / 1024);
	table_free(&table);
}

/* Returns whether it was counted from the program's begin to its end. */
static bool count(const struct wanted *run, struct program *program, struct session *session,
		  uint64_t *duration_ns)
{
	uint64_t began = clock_ns(CLOCK_MONOTONIC);
	bool whole;

	/* whoever reads our output may go: that is no end of ours, nor of the program */
	signal(SIGPIPE, SIG_IGN);
	whole = program_wait(program, session, run->wait, run->seconds);
	session_stop(session);
	*duration_ns = clock_ns(CLOCK_MONOTONIC) - began;
	/* A program that goes on after that is not ours to end. */
	if (!whole && run->argv)
		program_wait(program, session, false, -1);
	return whole && program->ended;
}

int command_run(int argc, char **argv)
{
	struct wanted run = { .file = STORE_FILE, .rows = ROWS, .seconds = -1, .wish.slots = 65536 };
	struct session *session;
	struct program program;
	struct profile profile;
	bool whole;

	die_status = EXIT_OURS;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &run);
	store_check(run.file);
	profile_init(&profile);
	set_command(&profile, &run);
	session = session_open(&run.wish);
	program_init(&program);
	profile.time_ns = clock_ns(CLOCK_REALTIME);
	if (run.pid)
		program_attach(session, run.pid);
	else
		program_start(&program, session, run.argv);
	whole = count(&run, &program, session, &profile.duration_ns);
	/* what fails from here on is no matter of the program's status */
	die_status = program_exit_status(&program);
	if (whole) {
		profile.counts[COUNT_CHARGED_USER_NS] = timeval_ns(&program.usage.ru_utime);
		profile.counts[COUNT_CHARGED_SYSTEM_NS] = timeval_ns(&program.usage.ru_stime);
	}
	profile_add_run(&profile, (struct run) {
		.to_ns = profile.duration_ns,
		.user_ns = profile.counts[COUNT_CHARGED_USER_NS],
		.system_ns = profile.counts[COUNT_CHARGED_SYSTEM_NS],
	});
	gather(session, run.wish.kernel, &profile);
	session_close(session);
	if (!run.quiet)
		print(&profile, &run, store_write(&profile, run.file));
	else
		store_write(&profile, run.file);
	profile_free(&profile);
	return program_exit_status(&program);
}
