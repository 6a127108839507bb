// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include "arrows.h"
#include "order.h"
#include "say.h"

#define LANES 6
#define SPAN_MOST 500	/* lines; an arrow beyond a few screens is no help */

/* What a lane shows at a line. */
enum { UP = 1, DOWN = 2, RIGHT = 4, POINT = 8 };

struct jump {
	size_t from, to;	/* lines */
};

/* All jumps to a line share a lane. */
struct lane {
	size_t low, high;
	const struct jump *jumps;
	size_t num;
};

/* The line of an address; addresses ascend. */
static bool find_line(const struct listing *listing, const size_t *code, size_t num,
		      uint64_t address, size_t *line)
{
	size_t low = 0, high = num;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (listing->lines[code[middle]].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == num || listing->lines[code[low]].address != address)
		return false;
	*line = code[low];
	return true;
}

static size_t distance(const struct jump *jump)
{
	return jump->from < jump->to ? jump->to - jump->from : jump->from - jump->to;
}

static struct jump *find_jumps(const struct listing *listing, size_t *num)
{
	struct jump *jumps = allocated(calloc(listing->num + 1, sizeof(*jumps)));
	size_t *code = allocated(calloc(listing->num + 1, sizeof(*code)));
	size_t num_code = 0;

	for (size_t i = 0; i < listing->num; i++)
		if (listing->lines[i].kind == LINE_CODE)
			code[num_code++] = i;
	*num = 0;
	for (size_t i = 0; i < num_code; i++) {
		struct jump jump = { .from = code[i] };
		uint64_t target = listing->lines[code[i]].target;

		if (target && find_line(listing, code, num_code, target, &jump.to) &&
		    distance(&jump) <= SPAN_MOST)
			jumps[(*num)++] = jump;
	}
	free(code);
	return jumps;
}

static int by_target(const void *a, const void *b)
{
	const struct jump *x = a, *y = b;

	return compare_numbers(x->to, y->to) ?: compare_numbers(x->from, y->from);
}

static int by_span(const void *a, const void *b)
{
	const struct lane *x = a, *y = b;

	return compare_numbers(x->high - x->low, y->high - y->low) ?:
		compare_numbers(x->low, y->low) ?: by_target(x->jumps, y->jumps);
}

static struct lane *make_lanes(struct jump *jumps, size_t num_jumps, size_t *num)
{
	struct lane *lanes = allocated(calloc(num_jumps + 1, sizeof(*lanes)));

	*num = 0;
	if (num_jumps)
		qsort(jumps, num_jumps, sizeof(*jumps), by_target);
	for (size_t i = 0; i < num_jumps; i++) {
		const struct jump *jump = &jumps[i];
		struct lane *lane;

		if (!i || jump->to != jump[-1].to)
			lanes[(*num)++] = (struct lane) { jump->to, jump->to, jump, 0 };
		lane = &lanes[*num - 1];
		lane->num++;
		if (jump->from < lane->low)
			lane->low = jump->from;
		if (jump->from > lane->high)
			lane->high = jump->from;
	}
	if (*num)
		qsort(lanes, *num, sizeof(*lanes), by_span);
	return lanes;
}

static bool is_free(const struct arrows *arrows, unsigned int i, const struct lane *lane)
{
	for (size_t line = lane->low; line <= lane->high; line++)
		if (arrows->cells[line * LANES + i])
			return false;
	return true;
}

static void draw(struct arrows *arrows, unsigned int i, const struct lane *lane)
{
	for (size_t line = lane->low; line <= lane->high; line++)
		arrows->cells[line * LANES + i] = (line > lane->low ? UP : 0) |
			(line < lane->high ? DOWN : 0);
	for (size_t j = 0; j < lane->num; j++)
		arrows->cells[lane->jumps[j].from * LANES + i] |= RIGHT;
	arrows->cells[lane->jumps->to * LANES + i] |= RIGHT | POINT;
	if (i >= arrows->used)
		arrows->used = i + 1;
}

void arrows_make(struct arrows *arrows, const struct listing *listing)
{
	size_t num_jumps, num;
	struct jump *jumps = find_jumps(listing, &num_jumps);
	struct lane *lanes = make_lanes(jumps, num_jumps, &num);

	*arrows = (struct arrows) {
		.cells = allocated(calloc(listing->num + 1, LANES)),
	};
	for (size_t j = 0; j < num; j++)
		for (unsigned int i = 0; i < LANES; i++)
			if (is_free(arrows, i, &lanes[j])) {
				draw(arrows, i, &lanes[j]);
				break;
			}
	free(lanes);
	free(jumps);
}

void arrows_free(struct arrows *arrows)
{
	free(arrows->cells);
}

size_t arrows_columns(const struct arrows *arrows)
{
	return arrows->used ? arrows->used + 3 : 0;
}

/* @crossing: a line from further left goes to the right through it. */
static const char *character(unsigned char cell, bool crossing)
{
	static const char *const plain[] = {
		" ", "│", "│", "│", "─", "└", "┌", "├",
	};
	static const char *const crossed[] = {
		"─", "┼", "┼", "┼", "─", "┴", "┬", "┼",
	};

	return (crossing ? crossed : plain)[cell & (UP | DOWN | RIGHT)];
}

void arrows_put(FILE *out, const struct arrows *arrows, size_t line)
{
	bool right = false, point = false;

	if (!arrows->used)
		return;
	for (unsigned int i = arrows->used; i-- > 0;) {
		unsigned char cell = arrows->cells[line * LANES + i];

		fputs(character(cell, right), out);
		right = right || (cell & RIGHT);
		point = point || (cell & POINT);
	}
	fputs(point ? "─▸ " : right ? "── " : "   ", out);
}
