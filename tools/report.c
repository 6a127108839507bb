// SPDX-License-Identifier: GPL-2.0-only
/* profil report: files of profiles, added up, as a table. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "options.h"
#include "order.h"
#include "rows.h"
#include "say.h"
#include "store.h"
#include "summary.h"
#include "text.h"

enum { KEY_BY = 256, KEY_ALL, KEY_TSV, KEY_JSON };

#define ROWS 20

struct report {
	enum by by;
	size_t rows;		/* 0: all */
	bool tsv, json;
	struct profile profile;
};

static const struct argp_option options[] = {
	{ "by", KEY_BY, "WHAT", 0,
	  "One row for each function, line, object, process or address (function)", 0 },
	{ "rows", 'n', "ROWS", 0, "Print so many rows (20)", 0 },
	{ "all", KEY_ALL, NULL, 0, "Print all rows", 0 },
	{ "tsv", KEY_TSV, NULL, 0, "Print all rows for programs, with tabs between", 0 },
	{ "json", KEY_JSON, NULL, 0, "Print all rows for programs, as JSON", 0 },
	{ 0 }
};

static enum by parse_by(struct argp_state *state, const char *arg)
{
	for (enum by by = 0; by < BY_KINDS; by++)
		if (!strcmp(arg, by_names[by]))
			return by;
	argp_error(state, "--by takes function, line, object, process or address, and was given %s",
		   arg);
	return BY_FUNCTION;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct report *report = state->input;

	switch (key) {
	case KEY_BY:
		report->by = parse_by(state, arg);
		break;
	case 'n':
		report->rows = option_number(state, "-n", arg, 1, 1000000000);
		break;
	case KEY_ALL:
		report->rows = 0;
		break;
	case KEY_TSV:
		report->tsv = true;
		break;
	case KEY_JSON:
		report->json = true;
		break;
	case ARGP_KEY_ARG:
		store_read(&report->profile, arg);
		break;
	case ARGP_KEY_NO_ARGS:
		store_read(&report->profile, STORE_FILE);
		break;
	case ARGP_KEY_END:
		if (report->tsv && report->json)
			argp_error(state, "--tsv and --json contradict each other");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	options, parse, "[FILE...]",
	"Shows profiles that profil run has made, added up.\v"
	"Without FILE, " STORE_FILE " is read; - is standard input.",
	NULL, NULL, NULL
};

static void print_text(struct profile *profile, const struct table *table, size_t rows)
{
	summary_head(stdout, profile, table);
	if (table->sum.samples)
		text_table(stdout, table, rows);
	summary_tail(stdout, profile, table);
}

int command_report(int argc, char **argv)
{
	struct report report = { .rows = ROWS };
	struct table table;

	profile_init(&report.profile);
	argp_parse(&argp, argc, argv, 0, NULL, &report);
	profile_order(&report.profile);
	table_make(&report.profile, report.by, &table);
	if (report.tsv)
		rows_tsv(stdout, &report.profile, &table);
	else if (report.json)
		rows_json(stdout, &report.profile, &table);
	else
		print_text(&report.profile, &table, report.rows);
	table_free(&table);
	profile_free(&report.profile);
	if (fflush(stdout) || ferror(stdout))
		die("the report could not be written to standard output: %m");
	return 0;
}
