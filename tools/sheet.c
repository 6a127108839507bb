// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "arrows.h"
#include "columns.h"
#include "say.h"
#include "sheet.h"

#define CELLS 10		/* of a bar */
#define EIGHTHS (8 * CELLS)
#define NUMBERS 32		/* columns of samples, share and bar, */
#define SHARE 11		/* and where there is no room for more than the share, */
#define WITH_NUMBERS 60		/* on what is narrower than this */
#define TEXT_LEAST 20
#define INLINED_MOST 24

/* How wide the columns are, and what fills a bar. */
struct sheet {
	size_t numbers, place, inlined;
	size_t text;		/* 0: as long as it is */
	uint64_t most, sum;
	bool code;		/* places are addresses, and not lines alone */
	struct arrows arrows;
};

static size_t put_bar(FILE *out, uint64_t part, uint64_t most)
{
	static const char *const parts[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	size_t eighths = most ? (double)part / most * EIGHTHS + 0.5 : 0;
	size_t cells = eighths / 8;

	if (part && !eighths)
		eighths = 1;
	for (size_t i = 0; i < cells; i++)
		fputs("█", out);
	fputs(parts[eighths % 8], out);
	return cells + (eighths % 8 > 0);
}

static void put_cost(FILE *out, const struct sheet *sheet, const struct cost *cost)
{
	size_t used;

	if (!cost->samples) {
		fprintf(out, "%*s", (int)sheet->numbers, "");
		return;
	}
	if (sheet->numbers == NUMBERS)
		fprintf(out, "%8" PRIu64 " ", cost->samples);
	fprintf(out, "%7.1f %%  ", sheet->sum ? 100.0 * cost->samples / sheet->sum : 0);
	if (sheet->numbers == SHARE)
		return;
	used = put_bar(out, cost->samples, sheet->most);
	fprintf(out, "%*s", (int)(CELLS + 2 - used), "");
}

/* One without its end where the terminal ends. */
static void put_text(FILE *out, const struct sheet *sheet, const char *text)
{
	size_t have = 0;

	if (sheet->text && columns(text) > sheet->text) {
		const char *end = text;

		while (*end && have < sheet->text) {
			end++;
			have += (*end & 0xc0) != 0x80;
		}
		fwrite(text, 1, end - text, out);
		fputs("…", out);
	} else {
		fputs(text, out);
	}
	putc('\n', out);
}

static void put_line(FILE *out, const struct sheet *sheet, const struct listing *listing, size_t i)
{
	const struct line *line = &listing->lines[i];
	int place = sheet->place;

	put_cost(out, sheet, &line->cost);
	arrows_put(out, &sheet->arrows, i);
	if (line->kind == LINE_GAP) {
		fprintf(out, "%*s  %zu lines without samples  (--all)\n", place + 2, "…",
			line->hidden);
		return;
	}
	if (line->kind == LINE_CODE)
		fprintf(out, "%*" PRIx64 "  ", place, line->address);
	else if (line->kind == LINE_SOURCE && line->number)
		fprintf(out, "%*" PRIu64 "  ", place, line->number);
	else
		fprintf(out, "%*s  ", place, "");
	if (sheet->inlined && line->kind != LINE_HEAD) {
		put_column(out, line->inlined, sheet->inlined, true);
		put_blanks(out, line->inlined, sheet->inlined);
	}
	put_text(out, sheet, line->text);
}

static void widen(size_t *width, size_t least)
{
	if (*width < least)
		*width = least;
}

static void lay_out(struct sheet *sheet, const struct listing *listing, size_t width)
{
	size_t used;

	sheet->numbers = width && width < WITH_NUMBERS ? SHARE : NUMBERS;
	for (size_t i = 0; i < listing->num; i++) {
		const struct line *line = &listing->lines[i];
		char number[32];

		if (line->cost.samples > sheet->most)
			sheet->most = line->cost.samples;
		snprintf(number, sizeof(number), line->kind == LINE_CODE ? "%" PRIx64 : "%" PRIu64,
			 line->kind == LINE_CODE ? line->address : line->number);
		if (line->kind == LINE_CODE || line->kind == LINE_SOURCE)
			widen(&sheet->place, strlen(number));
		sheet->code = sheet->code || line->kind == LINE_CODE;
		widen(&sheet->inlined, columns(line->inlined));
	}
	widen(&sheet->place, strlen(sheet->code ? "address" : "line"));
	if (sheet->inlined > INLINED_MOST)
		sheet->inlined = INLINED_MOST;
	if (sheet->inlined)
		widen(&sheet->inlined, strlen("inlined"));
	used = sheet->numbers + arrows_columns(&sheet->arrows) + sheet->place + 2 +
		(sheet->inlined ? sheet->inlined + 2 : 0) + 1;
	if (width)
		sheet->text = width > used + TEXT_LEAST ? width - used : TEXT_LEAST;
}

static void put_heading(FILE *out, const struct sheet *sheet)
{
	if (sheet->numbers == NUMBERS)
		fprintf(out, "%8s ", "samples");
	fprintf(out, "%9s%*s", "share", sheet->numbers == NUMBERS ? NUMBERS - 18 : SHARE - 9, "");
	fprintf(out, "%*s", (int)(arrows_columns(&sheet->arrows) + sheet->place),
		sheet->code ? "address" : "line");
	fputs(sheet->inlined ? "  inlined\n" : "\n", out);
}

void sheet_put(FILE *out, const struct body *body, const struct listing *listing, size_t width)
{
	struct sheet sheet = { .most = body->elsewhere.samples, .sum = body->sum.samples };

	arrows_make(&sheet.arrows, listing);
	lay_out(&sheet, listing, width);
	put_heading(out, &sheet);
	for (size_t i = 0; i < listing->num; i++)
		put_line(out, &sheet, listing, i);
	if (body->elsewhere.samples) {
		put_cost(out, &sheet, &body->elsewhere);
		fputs("at addresses that are not in this code\n", out);
	}
	arrows_free(&sheet.arrows);
}
