// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include "options.h"
#include "output.h"
#include "say.h"

enum { KEY_ALL = 4096, KEY_TSV, KEY_JSON };

#define FOR_ROWS 2	/* the first options */

static const struct argp_option options[] = {
	{ "rows", 'n', "ROWS", 0, "Print so many rows (20)", 0 },
	{ "all", KEY_ALL, NULL, 0, "Print all rows", 0 },
	{ "tsv", KEY_TSV, NULL, 0, "Print all of it for programs, with tabs between", 0 },
	{ "json", KEY_JSON, NULL, 0, "Print all of it for programs, as JSON", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct output *output = state->input;

	switch (key) {
	case 'n':
		output->rows = option_number(state, "-n", arg, 1, 1000000000);
		break;
	case KEY_ALL:
		output->rows = 0;
		break;
	case KEY_TSV:
		output->tsv = true;
		break;
	case KEY_JSON:
		output->json = true;
		break;
	case ARGP_KEY_END:
		if (output->tsv && output->json)
			argp_error(state, "--tsv and --json contradict each other");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

const struct argp output_rows_argp = { options, parse, NULL, NULL, NULL, NULL, NULL };
const struct argp output_argp = { options + FOR_ROWS, parse, NULL, NULL, NULL, NULL, NULL };

void output_end(const char *what)
{
	if (fflush(stdout) || ferror(stdout))
		die("the %s could not be written to standard output: %m", what);
}
