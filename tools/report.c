// SPDX-License-Identifier: GPL-2.0-only
/* profil report: files of profiles, added up, as a table. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "options.h"
#include "order.h"
#include "say.h"
#include "stats.h"
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

/* What is not in a row, and known: of all files. */
static void each_count(const struct profile *profile,
		       void (*tell)(void *data, const char *name, uint64_t value), void *data)
{
	tell(data, "files", profile->files);
	tell(data, "period_ns", profile->period_ns);
	tell(data, "duration_ns", profile->duration_ns);
	for (int i = 0; i < COUNTS; i++)
		tell(data, count_names[i], profile->counts[i]);
}

static void tell_tsv(void *data, const char *name, uint64_t value)
{
	fprintf(data, "count\t%s\t%" PRIu64 "\n", name, value);
}

static void print_tsv(const struct profile *profile, const struct table *table)
{
	each_count(profile, tell_tsv, stdout);
	for (size_t i = 0; i < table->num; i++) {
		const struct row *row = &table->rows[i];
		char *place = row_place(table, row);
		double low, high;

		stats_interval(row->samples, table->sum.samples, &low, &high);
		printf("%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
		       "\t%.6f\t%.6f\t%s\t%s\t%s\n", by_names[table->by], row->samples,
		       row->cpu_ns, row->user_ns, row->system_ns, low, high, row->name,
		       row->object, place);
		free(place);
	}
}

static void set(json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, value))
		allocated(NULL);
}

/* JSON has signed numbers. */
static json_t *number(uint64_t n)
{
	return json_integer(n > INT64_MAX ? INT64_MAX : n);
}

static void tell_json(void *data, const char *name, uint64_t value)
{
	set(data, name, number(value));
}

static json_t *json_row(const struct table *table, const struct row *row)
{
	json_t *object = allocated(json_object());
	char *place = row_place(table, row);
	double low, high;

	stats_interval(row->samples, table->sum.samples, &low, &high);
	set(object, "name", json_string(row->name));
	set(object, "object", json_string(row->object));
	set(object, "place", json_string(place));
	set(object, "samples", number(row->samples));
	set(object, "cpu_ns", number(row->cpu_ns));
	set(object, "user_ns", number(row->user_ns));
	set(object, "system_ns", number(row->system_ns));
	set(object, "low", json_real(low));
	set(object, "high", json_real(high));
	free(place);
	return object;
}

static void print_json(const struct profile *profile, const struct table *table)
{
	json_t *all = allocated(json_object());
	json_t *counts = allocated(json_object());
	json_t *rows = allocated(json_array());

	each_count(profile, tell_json, counts);
	for (size_t i = 0; i < table->num; i++)
		if (json_array_append_new(rows, json_row(table, &table->rows[i])))
			allocated(NULL);
	set(all, "command", json_string(profile->command));
	set(all, "counts", counts);
	set(all, "by", json_string(by_names[table->by]));
	set(all, "rows", rows);
	json_dumpf(all, stdout, JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(6));
	putchar('\n');
	json_decref(all);
}

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
		print_tsv(&report.profile, &table);
	else if (report.json)
		print_json(&report.profile, &table);
	else
		print_text(&report.profile, &table, report.rows);
	table_free(&table);
	profile_free(&report.profile);
	if (fflush(stdout) || ferror(stdout))
		die("the report could not be written to standard output: %m");
	return 0;
}
