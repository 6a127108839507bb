// SPDX-License-Identifier: GPL-2.0-only
/* profil: where programs spend their CPU time, counted by the kernel. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"

const char *argp_program_version = "profil " VERSION;

static const struct {
	const char *name;
	const char *full_name;	/* for its own help */
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "run", "profil run", command_run },
	{ "report", "profil report", command_report },
	{ "diff", "profil diff", command_diff },
	{ "export", "profil export", command_export },
	{ "check", "profil check", command_check },
};

#define COMMANDS "run, report, diff, export and check"

static error_t parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case ARGP_KEY_ARG:
		for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
			char **rest = &state->argv[state->next - 1];

			if (strcmp(arg, commands[i].name))
				continue;
			rest[0] = (char *)commands[i].full_name;
			exit(commands[i].run(state->argc - state->next + 1, rest));
		}
		argp_error(state, "there is no command %s; they are " COMMANDS, arg);
		break;
	case ARGP_KEY_NO_ARGS:
		argp_usage(state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	NULL, parse, "COMMAND [OPTION...]",
	"Shows where programs spend their CPU time, which the kernel counts.\v"
	"Commands:\n"
	"  run      profile a program, or a process that runs\n"
	"  report   show a profile again, in other ways\n"
	"  diff     say what changed from one profile to another\n"
	"  export   write a profile for other programs: KCachegrind, gprof, jq\n"
	"  check    say what is missing where run does not work\n"
	"\n"
	"profil COMMAND --help says more of each; profil(1) all.",
	NULL, NULL, NULL
};

int main(int argc, char **argv)
{
	argp_err_exit_status = 125;
	return argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, NULL);
}
