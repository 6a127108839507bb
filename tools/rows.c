// SPDX-License-Identifier: GPL-2.0-only
/* A table for programs. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include "rows.h"
#include "say.h"
#include "stats.h"
#include "times.h"

/* What is not in a row, and known: of all files. */
static void each_count(const struct profile *profile,
		       void (*tell)(void *data, const char *name, uint64_t value), void *data)
{
	uint64_t from, to;

	tell(data, "files", profile->files);
	tell(data, "period_ns", profile->period_ns);
	tell(data, "duration_ns", profile->duration_ns);
	if (times_span(profile, &from, &to)) {
		tell(data, "from_ns", from);
		tell(data, "to_ns", to);
	}
	for (int i = 0; i < (profile->counts[COUNT_CPUS_NS] ? COUNTS : COUNT_IDLE); i++)
		tell(data, count_names[i], profile->counts[i]);
}

static void tell_tsv(void *data, const char *name, uint64_t value)
{
	fprintf(data, "count\t%s\t%" PRIu64 "\n", name, value);
}

void rows_tsv(FILE *out, const struct profile *profile, const struct table *table)
{
	each_count(profile, tell_tsv, out);
	for (size_t i = 0; i < table->num; i++) {
		const struct row *row = &table->rows[i];
		char *place = row_place(table, row);
		double low, high;

		stats_interval(row->samples, table->sum.samples, &low, &high);
		fprintf(out, "%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
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

static void put_json(FILE *out, const struct profile *profile, const char *by, json_t *rows)
{
	json_t *all = allocated(json_object());
	json_t *counts = allocated(json_object());

	each_count(profile, tell_json, counts);
	set(all, "command", json_string(profile->command));
	set(all, "counts", counts);
	set(all, "by", json_string(by));
	set(all, "rows", rows);
	json_dumpf(all, out, JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(6));
	putc('\n', out);
	json_decref(all);
}

void rows_json(FILE *out, const struct profile *profile, const struct table *table)
{
	json_t *rows = allocated(json_array());

	for (size_t i = 0; i < table->num; i++)
		if (json_array_append_new(rows, json_row(table, &table->rows[i])))
			allocated(NULL);
	put_json(out, profile, by_names[table->by], rows);
}

void rows_times_tsv(FILE *out, struct profile *profile)
{
	size_t num;
	struct moment *moments = times_make(profile, &num);

	each_count(profile, tell_tsv, out);
	for (size_t i = 0; i < num; i++) {
		const struct moment *moment = &moments[i];

		fprintf(out, "time\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
			"\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%s\t%s\n", moment->samples,
			moment->cpu_ns, moment->user_ns, moment->system_ns, moment->at_ns,
			moment->wall_ns, moment->most, moment->name, moment->object);
	}
	free(moments);
}

static json_t *json_moment(const struct moment *moment)
{
	json_t *object = allocated(json_object());

	set(object, "at_ns", number(moment->at_ns));
	set(object, "wall_ns", number(moment->wall_ns));
	set(object, "samples", number(moment->samples));
	set(object, "cpu_ns", number(moment->cpu_ns));
	set(object, "user_ns", number(moment->user_ns));
	set(object, "system_ns", number(moment->system_ns));
	set(object, "name", json_string(moment->name));
	set(object, "object", json_string(moment->object));
	set(object, "most", number(moment->most));
	return object;
}

void rows_times_json(FILE *out, struct profile *profile)
{
	json_t *rows = allocated(json_array());
	size_t num;
	struct moment *moments = times_make(profile, &num);

	for (size_t i = 0; i < num; i++)
		if (json_array_append_new(rows, json_moment(&moments[i])))
			allocated(NULL);
	put_json(out, profile, "time", rows);
	free(moments);
}
