// SPDX-License-Identifier: GPL-2.0-only
/* Of a page: where in each object, which is a row of cells of equal size. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include "html.h"
#include "order.h"
#include "page.h"
#include "say.h"

#define LEAST_CELLS 8

/* An object of the picture. */
struct strip {
	const struct row *row;
	uint64_t first, last;		/* addresses */
	uint64_t step;			/* bytes of a cell */
	size_t num;			/* cells */
	uint64_t *cells;		/* samples of each slice of each cell */
	struct heat {
		uint64_t all, most;	/* samples: of the cell, of that function */
		size_t owner;		/* the row of the function that has most of them */
	} heat[PAGE_CELLS];
};

struct space {
	struct page *page;
	struct strip strips[PAGE_OBJECTS];
	size_t num;
	size_t *strip_of;		/* of each object of the profile; num: none */
	uint64_t most;			/* samples of a cell */
};

static void reach(struct strip *strip, uint64_t address)
{
	if (address < strip->first)
		strip->first = address;
	if (address > strip->last)
		strip->last = address;
}

/* All of the object's code, or, of what is no file, from the first address to the last. */
static void find_ranges(struct space *space)
{
	const struct profile *profile = space->page->profile;

	for (size_t i = 0; i < profile->num_objects; i++) {
		const struct object *object = &profile->objects[i];
		size_t n = 0;

		while (n < space->num && (space->strips[n].row->object != object->file ||
					  space->strips[n].row->build_id != object->build_id))
			n++;
		space->strip_of[i] = n;
		if (n < space->num && object->limit > object->start) {
			reach(&space->strips[n], object->start);
			reach(&space->strips[n], object->limit - 1);
		}
	}
	for (size_t i = 0; i < profile->num_places; i++)
		if (space->strip_of[profile->places[i].object] < space->num)
			reach(&space->strips[space->strip_of[profile->places[i].object]],
			      profile->places[i].address);
}

static bool is_file(const struct strip *strip)
{
	return strip->row->object[0] != '[';
}

/* Memory without a file may be terabytes apart: files are not small beside it. */
static void find_cells(struct space *space)
{
	size_t slices = space->page->moments.num;
	double largest = 1;

	for (size_t i = 0; i < space->num; i++)
		if (is_file(&space->strips[i]))
			largest = fmax(largest, space->strips[i].last - space->strips[i].first);
	for (size_t i = 0; i < space->num; i++) {
		struct strip *strip = &space->strips[i];
		uint64_t span = strip->last - strip->first;
		double part = sqrt(span / largest);
		uint64_t cells = part < 1 ? PAGE_CELLS * part : PAGE_CELLS;

		if (cells < LEAST_CELLS)
			cells = LEAST_CELLS;
		strip->step = span / cells + 1;
		strip->num = span / strip->step + 1;
		strip->cells = allocated(calloc(strip->num * slices, sizeof(*strip->cells)));
	}
}

/* The strip of a place, or NULL, and the cell in it. */
static struct strip *find(struct space *space, size_t place, size_t *cell)
{
	const struct place *where = &space->page->profile->places[place];
	size_t n = space->strip_of[where->object];

	if (n == space->num)
		return NULL;
	*cell = (where->address - space->strips[n].first) / space->strips[n].step;
	return &space->strips[n];
}

static void count_slices(struct space *space)
{
	const struct page *page = space->page;
	size_t moment = 0;

	for (size_t i = 0; i < page->num_samples; i++) {
		const struct sample *sample = &page->samples[i];
		size_t cell;
		struct strip *strip = find(space, sample->place, &cell);

		moment = moment_of(&page->moments, sample, moment);
		if (strip)
			add(&strip->cells[cell * page->moments.num + moment], sample->samples);
	}
}

static int by_row(const void *a, const void *b, void *page)
{
	const size_t *row_of = ((const struct page *)page)->row_of;
	const struct sample *x = a, *y = b;

	return compare_numbers(row_of[x->place], row_of[y->place]) ?:
		compare_numbers(x->place, y->place);
}

/* Function by function: where one has more in a cell than those before, it is its owner. */
static void find_owners(struct space *space)
{
	const struct profile *profile = space->page->profile;
	size_t num = profile->num_samples, row = space->page->rows;
	struct heat *last = NULL;
	uint64_t sum = 0;

	if (num)
		qsort_r(profile->samples, num, sizeof(*profile->samples), by_row, space->page);
	for (size_t i = 0; i < num; i++) {
		const struct sample *sample = &profile->samples[i];
		size_t cell, sample_row = space->page->row_of[sample->place];
		struct strip *strip = find(space, sample->place, &cell);
		struct heat *heat = strip ? &strip->heat[cell] : NULL;

		if (!heat)
			continue;
		if (heat != last || sample_row != row)
			sum = 0;
		last = heat;
		row = sample_row;
		add(&sum, sample->samples);
		add(&heat->all, sample->samples);
		if (sum > heat->most) {
			heat->most = sum;
			heat->owner = row;
		}
		if (heat->all > space->most)
			space->most = heat->all;
	}
}

static size_t hottest(const struct strip *strip)
{
	size_t most = 0;

	for (size_t i = 1; i < strip->num; i++)
		if (strip->heat[i].all > strip->heat[most].all)
			most = i;
	return most;
}

/* "hot near 0x1120, 50.8 %" */
static void put_hottest(const struct space *space, const struct strip *strip)
{
	const struct page *page = space->page;
	size_t cell = hottest(strip);
	const struct heat *heat = &strip->heat[cell];
	FILE *out = page->out;

	fputs("<span class=\"hottest\">hottest: ", out);
	if (heat->owner < page->rows)
		html_name(out, page->functions.rows[heat->owner].name);
	else
		fputs("functions without a row", out);
	fprintf(out, " near %#" PRIx64 ", ", strip->first + cell * strip->step);
	html_share(out, heat->all, page->functions.sum.samples);
	fputs("</span>", out);
}

static void put_caption(const struct space *space, const struct strip *strip)
{
	const struct object object = { .file = strip->row->object };
	FILE *out = space->page->out;

	fputs("<figcaption><b>", out);
	html_name(out, object_name(&object));
	fputs("</b> <span class=\"share\">", out);
	html_share(out, strip->row->samples, space->page->functions.sum.samples);
	fprintf(out, "</span>, cells: %zu of %" PRIu64 " bytes; ", strip->num, strip->step);
	put_hottest(space, strip);
	fputs("</figcaption>\n", out);
}

static void put_strip(const struct space *space, const struct strip *strip)
{
	struct cell cells[PAGE_CELLS];
	FILE *out = space->page->out;
	size_t mark = hottest(strip);

	fputs("<figure>\n", out);
	put_caption(space, strip);
	fprintf(out, "<svg class=\"where\" width=\"%.0f%%\" viewBox=\"0 0 %zu 13\" "
		"preserveAspectRatio=\"none\" role=\"img\"><title>%#" PRIx64 " to %#" PRIx64 "</title>"
		"<path class=\"ground\" d=\"M0 0H%zuV10H0z\"/>", 100.0 * strip->num / PAGE_CELLS,
		strip->num, strip->first, strip->last, strip->num);
	for (size_t i = 0; i < strip->num; i++)
		cells[i] = (struct cell) { i, i + 1, strip->heat[i].all };
	html_cells(out, cells, strip->num, space->most, true);
	fprintf(out, "<path class=\"mark\" d=\"M%zu 11V13H%zuV11z\"/><path class=\"cursor\" d=\"\"/></svg>\n"
		"</figure>\n", mark, mark + 1);
}

static void tell_cell(const struct strip *strip, size_t cell, size_t slices, FILE *data)
{
	putc('"', data);
	for (size_t i = 0; i < slices && strip->heat[cell].all; i++) {
		uint64_t value = strip->cells[cell * slices + i];

		if (i)
			putc(',', data);
		if (value)
			fprintf(data, "%" PRIu64, value);
	}
	putc('"', data);
}

/* Addresses are texts there: a number of a script has 53 bits. */
static void tell_strip(const struct space *space, const struct strip *strip, FILE *data)
{
	fprintf(data, "{\"first\":\"%" PRIu64 "\",\"step\":\"%" PRIu64 "\",\n\"owner\":[",
		strip->first, strip->step);
	for (size_t i = 0; i < strip->num; i++)
		fprintf(data, "%s%zu", i ? "," : "", strip->heat[i].owner);
	fputs("],\n\"cells\":[", data);
	for (size_t i = 0; i < strip->num; i++) {
		if (i)
			fputs(",\n", data);
		tell_cell(strip, i, space->page->moments.num, data);
	}
	fputs("]}", data);
}

static void put_all(const struct space *space, size_t objects, FILE *data)
{
	FILE *out = space->page->out;

	fputs("<section id=\"space\">\n<h2>Where in each object</h2>\n"
	      "<p>From its first address to its last: the stronger a cell, the more samples (by their "
	      "logarithm).  An object is as wide as the square root of its size. "
	      "<span class=\"script\" hidden>A cell says what it is; a click, or Enter, goes to its "
	      "function.</span></p>\n<p class=\"script\" hidden><output id=\"cell\">&nbsp;</output></p>\n",
	      out);
	fputs(",\n\"space\":[", data);
	for (size_t i = 0; i < space->num; i++) {
		put_strip(space, &space->strips[i]);
		fputs(i ? ",\n" : "", data);
		tell_strip(space, &space->strips[i], data);
	}
	putc(']', data);
	if (objects > space->num)
		fprintf(out, "<p>%zu more objects: profil report --by object --all</p>\n",
			objects - space->num);
	fputs("</section>\n", out);
}

void page_space(struct page *page, FILE *data)
{
	struct space *space = allocated(calloc(1, sizeof(*space)));
	struct table objects;

	table_make(page->profile, BY_OBJECT, &objects);
	space->page = page;
	space->num = objects.num < PAGE_OBJECTS ? objects.num : PAGE_OBJECTS;
	space->strip_of = allocated(calloc(page->profile->num_objects + 1, sizeof(size_t)));
	for (size_t i = 0; i < space->num; i++)
		space->strips[i] = (struct strip) { .row = &objects.rows[i], .first = UINT64_MAX };
	find_ranges(space);
	find_cells(space);
	count_slices(space);
	find_owners(space);
	put_all(space, objects.num, data);
	for (size_t i = 0; i < space->num; i++)
		free(space->strips[i].cells);
	free(space->strip_of);
	free(space);
	table_free(&objects);
}
