// SPDX-License-Identifier: GPL-2.0-only
/* A table for people: shares, how sure they are, seconds, names. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "columns.h"
#include "say.h"
#include "stats.h"
#include "text.h"

#define NUMBERS 42	/* columns before the names */

/* How wide the columns are; @cut: longer names lose their middle. */
struct layout {
	size_t place, name, object;
	bool cut;
};

static size_t largest(size_t a, size_t b)
{
	return a > b ? a : b;
}

static size_t smallest(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void put_seconds(FILE *out, uint64_t ns)
{
	if (ns)
		fprintf(out, "%6.2f s", ns / 1e9);
	else
		fprintf(out, "%8s", "-");
}

static void put_share(FILE *out, uint64_t part, uint64_t all)
{
	fprintf(out, "%6.1f %%", all ? 100.0 * part / all : 0);
}

/* Half of the interval in which the share is, in percent. */
static void put_interval(FILE *out, uint64_t part, uint64_t all)
{
	double low, high;

	stats_interval(part, all, &low, &high);
	if (part < STATS_LEAST)
		fputs("     ·", out);
	else
		fprintf(out, "%6.1f", 50 * (high - low));
}

/* A table by object has its name in the first column of names, and whole. */
static bool has_objects(const struct table *table)
{
	return table->by != BY_OBJECT && !by_who(table->by);
}

static bool has_places(const struct table *table)
{
	return table->by == BY_LINE || table->by == BY_PROCESS || table->by == BY_ADDRESS;
}

static struct layout lay_out(FILE *out, const struct table *table, size_t rows)
{
	struct layout layout = { .place = strlen("address") };

	layout.cut = columns_of(out);
	for (size_t i = 0; i < rows; i++) {
		const struct row *row = &table->rows[i];
		char *place = row_place(table, row);

		layout.place = largest(layout.place, columns(place));
		layout.name = largest(layout.name, columns(row->name));
		layout.object = largest(layout.object, columns(last_part(row->object)));
		free(place);
	}
	layout.place = has_places(table) ? smallest(layout.place, NAME_MAX_COLUMNS) : 0;
	layout.object = has_objects(table) ? smallest(layout.object, OBJECT_MAX_COLUMNS) : 0;
	layout.name = columns_for_names(out, layout.name,
					NUMBERS + layout.place + layout.object + 4);
	return layout;
}

static void put_numbers(FILE *out, const struct table *table, const struct row *row, uint64_t sum)
{
	put_share(out, row->samples, table->sum.samples);
	put_interval(out, row->samples, table->sum.samples);
	put_share(out, sum, table->sum.samples);
	put_seconds(out, row->user_ns);
	put_seconds(out, row->system_ns);
	fputs("  ", out);
}

static void put_row(FILE *out, const struct table *table, const struct row *row,
		    const struct layout *layout)
{
	char *place = row_place(table, row);

	if (layout->place) {
		put_column(out, place, layout->place, layout->cut);
		put_blanks(out, place, layout->place);
	}
	put_column(out, row->name, layout->name, layout->cut);
	if (layout->object) {
		put_blanks(out, row->name, layout->name);
		put_column(out, last_part(row->object), layout->object, layout->cut);
	}
	putc('\n', out);
	free(place);
}

static void put_heading(FILE *out, const struct table *table, const struct layout *layout)
{
	static const char *const places[BY_KINDS] = {
		[BY_LINE] = "line", [BY_PROCESS] = "pid", [BY_ADDRESS] = "address",
	};
	static const char *const names[BY_KINDS] = {
		"function", "function", "object", "program", "function", "unit", "container",
		"program",
	};

	fputs("   self  ±95%   cumul    user     sys  ", out);
	if (layout->place) {
		fputs(places[table->by], out);
		put_blanks(out, places[table->by], layout->place);
	}
	fputs(names[table->by], out);
	if (layout->object) {
		put_blanks(out, names[table->by], layout->name);
		fputs("object", out);
	}
	putc('\n', out);
}

static void put_rest(FILE *out, const struct table *table, size_t first)
{
	struct row rest = { 0 };

	for (size_t i = first; i < table->num; i++) {
		add(&rest.samples, table->rows[i].samples);
		add(&rest.user_ns, table->rows[i].user_ns);
		add(&rest.system_ns, table->rows[i].system_ns);
	}
	put_share(out, rest.samples, table->sum.samples);
	fprintf(out, "%14s", "");
	put_seconds(out, rest.user_ns);
	put_seconds(out, rest.system_ns);
	fprintf(out, "  %zu more %s%s  (profil report --all)\n", table->num - first,
		by_names[table->by], table->num - first == 1 ? "" :
		table->by == BY_PROCESS || table->by == BY_ADDRESS ? "es" : "s");
}

void text_table(FILE *out, const struct table *table, size_t rows)
{
	size_t shown = rows && rows < table->num ? rows : table->num;
	struct layout layout = lay_out(out, table, shown);
	uint64_t sum = 0;

	put_heading(out, table, &layout);
	for (size_t i = 0; i < shown; i++) {
		add(&sum, table->rows[i].samples);
		put_numbers(out, table, &table->rows[i], sum);
		put_row(out, table, &table->rows[i], &layout);
	}
	if (shown < table->num)
		put_rest(out, table, shown);
}
