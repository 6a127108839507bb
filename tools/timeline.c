// SPDX-License-Identifier: GPL-2.0-only
/* Slices of time for people. */
#include <stdlib.h>
#include <string.h>
#include "columns.h"
#include "say.h"
#include "timeline.h"
#include "times.h"

#define CELLS 10
#define NUMBERS 43	/* columns before the names */

static double running(const struct moment *moment)
{
	return moment->wall_ns ? (double)moment->cpu_ns / moment->wall_ns : 0;
}

/* So many cells are a processor that does nothing else, or the most that ran at a time. */
static void put_bar(FILE *out, double part)
{
	int cells = part * CELLS + 0.5;

	for (int i = 0; i < CELLS; i++)
		fputs(i < cells ? "█" : " ", out);
}

/* As many as the borders of slices need. */
static int decimals(uint64_t slice)
{
	return slice % (100 * NS_OF_MS) == 0 ? 1 : slice % (10 * NS_OF_MS) == 0 ? 2 : 3;
}

static void put_moment(FILE *out, const struct moment *moment, int digits, double full,
		       size_t width)
{
	const struct object object = { .file = moment->object };
	bool cut = columns_of(out);

	fprintf(out, "%9.*f s %7.0f %%", digits, moment->at_ns / 1e9, 100 * running(moment));
	if (!moment->samples) {
		putc('\n', out);
		return;
	}
	fputs("  ", out);
	put_bar(out, running(moment) / full);
	fprintf(out, " %5.1f %%  ", 100.0 * moment->most / moment->samples);
	put_column(out, moment->name, width, cut);
	put_blanks(out, moment->name, width);
	put_column(out, object_name(&object), OBJECT_MAX_COLUMNS, cut);
	putc('\n', out);
}

void timeline_text(FILE *out, struct profile *profile)
{
	int digits = decimals(times_slice(profile, NULL));
	size_t num, width = strlen("function");
	struct moment *moments = times_make(profile, &num);
	double full = 1;

	for (size_t i = 0; i < num; i++) {
		if (running(&moments[i]) > full)
			full = running(&moments[i]);
		if (columns(moments[i].name) > width)
			width = columns(moments[i].name);
	}
	width = columns_for_names(out, width, NUMBERS + OBJECT_MAX_COLUMNS + 2);
	fputs("      until   running               self  function", out);
	put_blanks(out, "function", width);
	fputs("object\n", out);
	for (size_t i = 0; i < num; i++)
		put_moment(out, &moments[i], digits, full, width);
	free(moments);
}
