// SPDX-License-Identifier: GPL-2.0-only
/* What top shows: rows, and how wide their columns are. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "columns.h"
#include "order.h"
#include "say.h"
#include "view.h"

#define SHARES 18	/* columns of both shares, with the gap after them */
#define TIMES 18	/* of both times */
#define PLACE 9		/* of a pid, with the gap */
#define WITH_TIMES 64	/* so wide is a screen that has all columns */
#define WITH_OBJECT 50
#define HEAD_NAME 12	/* of a command line is shown at least */

static int by_recent(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return compare_numbers(y->recent, x->recent) ?: compare_numbers(y->samples, x->samples) ?:
		compare_texts(x->name, y->name) ?: compare_texts(x->object, y->object) ?:
		compare_numbers(x->pid, y->pid);
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* On a screen columns stay where they are from one interval to the next. */
static void lay_out(struct view *view, size_t rows, size_t width)
{
	size_t names = 0, objects = 0, rest;

	for (size_t i = 0; i < rows && i < view->table.num; i++) {
		const struct row *row = &view->table.rows[i];

		names = columns(row->name) > names ? columns(row->name) : names;
		if (columns(last_part(row->object)) > objects)
			objects = columns(last_part(row->object));
	}
	view->cut = width;
	view->times = !width || width >= WITH_TIMES ? TIMES : 0;
	view->place = view->by == BY_PROCESS ? PLACE : 0;
	rest = SHARES + view->times + view->place;
	rest = width > rest ? width - rest : 1;
	view->name = width ? rest : smaller(names, NAME_MAX_COLUMNS);
	view->object = 0;
	if (view->by == BY_FUNCTION && !width)
		view->object = smaller(objects, OBJECT_MAX_COLUMNS);
	if (view->by == BY_FUNCTION && width >= WITH_OBJECT) {
		view->object = smaller(rest / 3, OBJECT_MAX_COLUMNS);
		view->name = rest - view->object - 2;
	}
}

void view_make(struct view *view, struct live *live, size_t rows, size_t width)
{
	view_free(view);
	table_make(&live->profile, view->by, &view->table);
	if (!view->by_all && view->table.num)
		qsort(view->table.rows, view->table.num, sizeof(*view->table.rows), by_recent);
	lay_out(view, rows, width);
}

void view_free(struct view *view)
{
	table_free(&view->table);
	view->table = (struct table) { 0 };
}

bool view_same_row(const struct row *a, const struct row *b)
{
	return a->name == b->name && a->object == b->object && a->pid == b->pid;
}

static FILE *line(char **text)
{
	static size_t length;

	return allocated(open_memstream(text, &length));
}

static void line_end(FILE *out)
{
	if (fclose(out))
		allocated(NULL);
}

/* What of the numbers there is room for, the less important ones first to go. */
static char *head_numbers(const struct live *live, int left_out)
{
	double elapsed = (live->read - live->before) * 1e9;
	uint64_t period = live->profile.period_ns;
	char *text;
	FILE *out = line(&text);

	if (left_out < 1)
		fprintf(out, "%.2f s of CPU, ", live->samples * (double)period / 1e9);
	fprintf(out, "%.0f %%",
		elapsed > 0 ? 100 * live->recent * (double)period / elapsed / live->cpus : 0);
	if (live->units)
		fprintf(out, " of %ld CPU%s", live->cpus, live->cpus == 1 ? "" : "s");
	else
		fputs(" running", out);
	if (left_out < 3)
		fprintf(out, ", %" PRIu64 " samples", live->samples);
	if (left_out < 2)
		fprintf(out, " at %.0f Hz", period ? 1e9 / period : 0);
	line_end(out);
	return text;
}

char *view_head(const struct live *live, size_t width)
{
	const char *command = live->profile.command;
	char *text, *numbers = NULL;
	size_t name = 0;
	FILE *out;

	for (int left_out = 0; left_out <= 3; left_out++) {
		free(numbers);
		numbers = head_numbers(live, left_out);
		name = columns(numbers) + 2;
		name = !width ? NAME_MAX_COLUMNS : width > name ? width - name : 1;
		if (name >= smaller(columns(command), HEAD_NAME))
			break;
	}
	out = line(&text);
	put_column(out, command, name, true);
	fprintf(out, ": %s", numbers);
	line_end(out);
	free(numbers);
	return text;
}

char *view_heading(const struct view *view)
{
	static const char *const names[BY_KINDS] = {
		[BY_FUNCTION] = "function", [BY_OBJECT] = "object", [BY_PROCESS] = "program",
		[BY_PROGRAM] = "program", [BY_UNIT] = "unit", [BY_CONTAINER] = "container",
	};
	char *text;
	FILE *out = line(&text);

	fputs("     now     all", out);
	if (view->times)
		fputs("     user      sys", out);
	fputs("  ", out);
	if (view->place)
		fprintf(out, "%*s  ", PLACE - 2, "pid");
	fputs(names[view->by], out);
	if (view->object) {
		put_blanks(out, names[view->by], view->name);
		fputs("object", out);
	}
	line_end(out);
	return text;
}

static void put_share(FILE *out, uint64_t part, uint64_t all)
{
	if (part)
		fprintf(out, "%6.1f %%", 100.0 * part / all);
	else
		fprintf(out, "%8s", "-");
}

/* In eight columns for eleven days of CPU time, and then in more of them. */
static void put_time(FILE *out, uint64_t ns)
{
	if (ns)
		fprintf(out, " %6.*f s", ns < 1000000000000 ? 2 : 0, ns / 1e9);
	else
		fprintf(out, "%9s", "-");
}

char *view_row(const struct view *view, size_t i)
{
	const struct row *row = &view->table.rows[i], *sum = &view->table.sum;
	char *text;
	FILE *out = line(&text);

	put_share(out, row->recent, sum->recent);
	put_share(out, row->samples, sum->samples);
	if (view->times) {
		put_time(out, row->user_ns);
		put_time(out, row->system_ns);
	}
	fputs("  ", out);
	if (view->place && row->pid)
		fprintf(out, "%*" PRId64 "  ", PLACE - 2, row->pid);
	else if (view->place)
		fprintf(out, "%*s", PLACE, "");
	put_column(out, row->name, view->name, view->cut);
	if (view->object) {
		put_blanks(out, row->name, view->name);
		put_column(out, last_part(row->object), view->object, view->cut);
	}
	line_end(out);
	return text;
}
