// SPDX-License-Identifier: GPL-2.0-only
#include "counting.h"
#include "options.h"

enum { KEY_PER_PROCESS = 2048, KEY_SLOTS, KEY_KERNEL };

#define RATE_MAX 1000000

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0,
	  "Write the profile to FILE; - of run is standard output (" STORE_FILE ")", 0 },
	{ "quiet", 'q', NULL, 0, "Print nothing at the end", 0 },
	{ "frequency", 'F', "HZ", 0,
	  "Take so many samples a second of CPU time, at random times, not one at each tick", 0 },
	{ "user", 'u', NULL, 0, "Leave out time in the kernel", 0 },
	{ "kernel", KEY_KERNEL, NULL, 0,
	  "Show time in the kernel as that of its functions; needs CAP_PERFMON", 0 },
	{ "per-process", KEY_PER_PROCESS, NULL, 0, "Tell processes apart in the profile", 0 },
	{ "wait", 'w', NULL, 0, "Count also processes that PROGRAM leaves behind, to their end",
	  0 },
	{ "all", 'a', NULL, 0,
	  "Profile the whole machine while PROGRAM runs, or until you press Ctrl-C; needs CAP_PERFMON",
	  0 },
	{ "pid", 'p', "PID", 0,
	  "Profile a process that runs, and what it starts, until they end or you press Ctrl-C",
	  0 },
	{ "slots", KEY_SLOTS, "N", 0, "Room for so many places, a power of 2 (65536)", 0 },
	{ 0 }
};

static void check(const struct counting *counting, struct argp_state *state)
{
	const struct session_wish *wish = &counting->wish;

	if (wish->system && counting->pid)
		argp_error(state, "-a counts the process of -p as well: leave out one of them");
	if (!wish->system && !counting->argv == !counting->pid)
		argp_error(state, "one of these has to be given: a PROGRAM, -p PID, or -a");
	if (wish->kernel && wish->user_only)
		argp_error(state, "-u and --kernel contradict each other");
	if (wish->system && wish->user_only)
		argp_error(state, "-a counts time in the kernel as well: leave out -u");
	if (wish->system && wish->per_process)
		argp_error(state, "-a tells programs in their units apart, and no processes: leave out --per-process");
	if (wish->system && counting->wait)
		argp_error(state, "-a counts until PROGRAM ends, whatever it leaves behind: leave out -w");
	if (wish->system && wish->rate)
		argp_error(state, "-a counts each tick of each CPU: leave out -F");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct counting *counting = state->input;

	switch (key) {
	case 'o':
		counting->file = arg;
		break;
	case 'q':
		counting->quiet = true;
		break;
	case 'a':
		counting->wish.system = true;
		break;
	case 'F':
		counting->wish.rate = option_number(state, "-F", arg, 1, RATE_MAX);
		break;
	case 'u':
		counting->wish.user_only = true;
		break;
	case KEY_KERNEL:
		counting->wish.kernel = true;
		break;
	case KEY_PER_PROCESS:
		counting->wish.per_process = true;
		break;
	case 'w':
		counting->wait = true;
		break;
	case 'p':
		counting->pid = option_number(state, "-p", arg, 1, INT32_MAX);
		break;
	case KEY_SLOTS:
		counting->wish.slots = option_number(state, "--slots", arg, PROFIL_SLOTS_MIN,
						     PROFIL_SLOTS_MAX);
		break;
	case ARGP_KEY_ARG:
		/* this word and all that follow are the program's */
		counting->argv = &state->argv[state->next - 1];
		state->next = state->argc;
		break;
	case ARGP_KEY_END:
		check(counting, state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

const struct argp counting_argp = { options, parse, NULL, NULL, NULL, NULL, NULL };
