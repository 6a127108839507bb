// SPDX-License-Identifier: GPL-2.0-only
/* profil report: files of profiles, added up, as a table. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "filter.h"
#include "order.h"
#include "output.h"
#include "recall.h"
#include "rows.h"
#include "say.h"
#include "span.h"
#include "spool.h"
#include "store.h"
#include "summary.h"
#include "sysroot.h"
#include "text.h"
#include "timeline.h"
#include "times.h"

enum { KEY_BY = 256 };

struct report {
	enum by by;
	bool times;		/* by these, and not @by */
	struct span span;
	struct filter filter;
	struct recall recall;
	struct sysroot sysroot;
	struct output output;
	struct profile profile;
};

static const struct argp_option options[] = {
	{ "by", KEY_BY, "WHAT", 0,
	  "One row for each function, line, object, process, address, unit, container, program or slice of time (function)",
	  0 },
	{ 0 }
};

static void parse_by(struct argp_state *state, struct report *report, const char *arg)
{
	report->times = !strcmp(arg, "time");
	if (report->times)
		return;
	for (report->by = 0; report->by < BY_KINDS; report->by++)
		if (!strcmp(arg, by_names[report->by]))
			return;
	argp_error(state, "--by takes function, line, object, process, address, unit, container, program or time, and was given %s",
		   arg);
}

static void read_argument(struct argp_state *state, struct report *report, const char *arg)
{
	if (recall_is_folder(arg))
		recall_read(&report->recall, &report->profile, arg);
	else if (recall_wanted(&report->recall))
		argp_error(state, "--since and --until take a folder of profil watch, and were given %s",
			   arg);
	else
		store_read(&report->profile, arg);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct report *report = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &report->span;
		state->child_inputs[1] = &report->sysroot;
		state->child_inputs[2] = &report->filter;
		state->child_inputs[3] = &report->recall;
		state->child_inputs[4] = &report->output;
		break;
	case KEY_BY:
		parse_by(state, report, arg);
		break;
	case ARGP_KEY_ARG:
		read_argument(state, report, arg);
		break;
	case ARGP_KEY_NO_ARGS:
		if (recall_wanted(&report->recall))
			recall_read(&report->recall, &report->profile, SPOOL_FOLDER);
		else
			store_read(&report->profile, STORE_FILE);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_child children[] = {
	{ &span_argp, 0, NULL, 0 }, { &sysroot_argp, 0, NULL, 0 }, { &filter_argp, 0, NULL, 0 },
	{ &recall_argp, 0, NULL, 0 }, { &output_rows_argp, 0, NULL, 0 }, { 0 }
};

static const struct argp argp = {
	options, parse, "[FILE...]\n[DIR]",
	"Shows profiles that profil run has made, or profil watch in DIR, added up.\v"
	"Without FILE, " STORE_FILE " is read; - is standard input.  "
	"Without DIR, --since and --until read " SPOOL_FOLDER ".",
	children, NULL, NULL
};

static void print_text(struct report *report, const struct table *table)
{
	summary_head(stdout, &report->profile, table);
	if (report->times)
		timeline_text(stdout, &report->profile);
	else if (table->sum.samples)
		text_table(stdout, table, report->output.rows);
	summary_tail(stdout, &report->profile, table);
}

static void print(struct report *report, const struct table *table)
{
	struct profile *profile = &report->profile;

	if (report->output.tsv && report->times)
		rows_times_tsv(stdout, profile);
	else if (report->output.tsv)
		rows_tsv(stdout, profile, table);
	else if (report->output.json && report->times)
		rows_times_json(stdout, profile);
	else if (report->output.json)
		rows_json(stdout, profile, table);
	else
		print_text(report, table);
}

int command_report(int argc, char **argv)
{
	struct report report = { .output = OUTPUT_USUAL };
	struct table table;

	profile_init(&report.profile);
	argp_parse(&argp, argc, argv, 0, NULL, &report);
	sysroot_names(&report.sysroot, &report.profile);
	if (report.times)
		times_slice(&report.profile, NULL);
	span_cut(&report.span, &report.profile, NULL);
	filter_profile(&report.filter, &report.profile);
	if (report.profile.cut && !table_knows(&report.profile, report.by))
		die("which processes ran when is not known; profil run --per-process … tells them apart");
	profile_order(&report.profile);
	table_make(&report.profile, report.by, &table);
	print(&report, &table);
	table_free(&table);
	sysroot_free(&report.sysroot);
	profile_free(&report.profile);
	output_end("report");
	return 0;
}
