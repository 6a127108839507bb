// SPDX-License-Identifier: GPL-2.0-only
/* profil: where programs spend their CPU time, counted by the kernel. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"

const char *argp_program_version = "profil " VERSION;

static int command_help(int argc, char **argv);

static const struct command {
	const char *name;
	const char *full_name;	/* for its own help */
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "run", "profil run", command_run },
	{ "top", "profil top", command_top },
	{ "watch", "profil watch", command_watch },
	{ "report", "profil report", command_report },
	{ "annotate", "profil annotate", command_annotate },
	{ "diff", "profil diff", command_diff },
	{ "export", "profil export", command_export },
	{ "check", "profil check", command_check },
	{ "help", "profil help", command_help },
};

#define COMMANDS "run, top, watch, report, annotate, diff, export, check and help"

static const struct command *find_command(struct argp_state *state, const char *name)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(name, commands[i].name))
			return &commands[i];
	argp_error(state, "there is no command %s; they are " COMMANDS, name);
	return NULL;	/* not reached: argp_error() ends the program */
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	const struct command *command;
	char **rest;

	switch (key) {
	case ARGP_KEY_ARG:
		command = find_command(state, arg);
		rest = &state->argv[state->next - 1];
		rest[0] = (char *)command->full_name;
		exit(command->run(state->argc - state->next + 1, rest));
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
	"  run       profile a program, or a process that runs\n"
	"  top       show it while it runs\n"
	"  watch     profile the whole machine, all the time\n"
	"  report    show a profile again, in other ways\n"
	"  annotate  show which lines of a function take the time\n"
	"  diff      say what changed from one profile to another\n"
	"  export    write a profile for other programs: KCachegrind, gprof, jq\n"
	"  check     say what is missing where run does not work\n"
	"  help      say more of a command\n"
	"\n"
	"profil help COMMAND says more of each; profil(1) all.",
	NULL, NULL, NULL
};

static error_t parse_help(int key, char *arg, struct argp_state *state)
{
	char *wanted[3] = { (char *)"profil", (char *)"--help" };
	const struct command *command;

	switch (key) {
	case ARGP_KEY_ARG:
		if (state->next < state->argc)
			argp_error(state, "it takes one command; they are " COMMANDS);
		command = find_command(state, arg);
		wanted[0] = (char *)command->full_name;
		exit(command->run(2, wanted));
	case ARGP_KEY_NO_ARGS:
		exit(argp_parse(&argp, 2, wanted, ARGP_IN_ORDER, NULL, NULL));
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp_of_help = {
	NULL, parse_help, "[COMMAND]",
	"Shows what profil COMMAND --help says; without COMMAND, what profil --help says.",
	NULL, NULL, NULL
};

static int command_help(int argc, char **argv)
{
	return argp_parse(&argp_of_help, argc, argv, ARGP_IN_ORDER, NULL, NULL);
}

int main(int argc, char **argv)
{
	argp_err_exit_status = 125;
	return argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, NULL);
}
