// SPDX-License-Identifier: GPL-2.0-only
/* A table for people: shares, how sure they are, seconds, names. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "say.h"
#include "stats.h"
#include "text.h"

#define NUMBERS 42	/* columns before the names */
#define NAME_MIN 12
#define NAME_MAX 40	/* columns that all rows have for a name, where there is no terminal */
#define OBJECT_MAX 24

/* How wide the columns are; @cut: longer names lose their middle. */
struct layout {
	size_t place, name, object;
	bool cut;
};

/* Columns of the terminal; 0: it is none. */
static size_t width_of(FILE *out)
{
	struct winsize size;

	if (!isatty(fileno(out)) || ioctl(fileno(out), TIOCGWINSZ, &size))
		return 0;
	return size.ws_col;
}

static size_t largest(size_t a, size_t b)
{
	return a > b ? a : b;
}

static size_t smallest(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Skips so many columns of text. */
static const char *skip(const char *text, size_t num)
{
	while (num && *text) {
		do {
			text++;
		} while ((*text & 0xc0) == 0x80);
		num--;
	}
	return text;
}

static void pad(FILE *out, const char *text, size_t width)
{
	for (size_t have = columns(text); have < width; have++)
		putc(' ', out);
	fputs("  ", out);
}

/* Text in a column: a long one without its middle, if that is wanted. */
static void put(FILE *out, const char *text, size_t width, bool cut)
{
	size_t have = columns(text);
	size_t head = (width - 1) / 2, tail = width - 1 - head;	/* one for the … */

	if (!cut || have <= width) {
		fputs(text, out);
		return;
	}
	fwrite(text, 1, skip(text, head) - text, out);
	fputs("…", out);
	fputs(skip(text, have - tail), out);
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

static const char *last_part(const char *path)
{
	const char *slash = path[0] == '[' ? NULL : strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* A table by object has its name in the first column of names, and whole. */
static bool has_objects(const struct table *table)
{
	return table->by != BY_OBJECT && table->by != BY_PROCESS;
}

static bool has_places(const struct table *table)
{
	return table->by != BY_OBJECT && table->by != BY_FUNCTION;
}

static struct layout lay_out(FILE *out, const struct table *table, size_t rows)
{
	struct layout layout = { .place = strlen("address") };
	size_t width = width_of(out), used;

	layout.cut = width;
	for (size_t i = 0; i < rows; i++) {
		const struct row *row = &table->rows[i];
		char *place = row_place(table, row);

		layout.place = largest(layout.place, columns(place));
		layout.name = largest(layout.name, columns(row->name));
		layout.object = largest(layout.object, columns(last_part(row->object)));
		free(place);
	}
	layout.place = has_places(table) ? smallest(layout.place, NAME_MAX) : 0;
	layout.object = has_objects(table) ? smallest(layout.object, OBJECT_MAX) : 0;
	used = NUMBERS + layout.place + layout.object + 4;
	if (!width)
		layout.name = smallest(layout.name, NAME_MAX);
	else
		layout.name = smallest(layout.name, width > used ? width - used : 0);
	layout.name = largest(layout.name, NAME_MIN);
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
		put(out, place, layout->place, layout->cut);
		pad(out, place, layout->place);
	}
	put(out, row->name, layout->name, layout->cut);
	if (layout->object) {
		pad(out, row->name, layout->name);
		put(out, last_part(row->object), layout->object, layout->cut);
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
		"function", "function", "object", "program", "function",
	};

	fputs("   self  ±95%   cumul    user     sys  ", out);
	if (layout->place) {
		fputs(places[table->by], out);
		pad(out, places[table->by], layout->place);
	}
	fputs(names[table->by], out);
	if (layout->object) {
		pad(out, names[table->by], layout->name);
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
