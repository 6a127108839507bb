// SPDX-License-Identifier: GPL-2.0-only
/* Of a page: when.  A row for each of the first functions, a column for each slice of time. */
#include <math.h>
#include "html.h"
#include "page.h"

/* The rows from @first to @last, added up by slices. */
static void add_rows(const struct page *page, size_t first, size_t last, struct cell *cells)
{
	for (size_t i = 0; i < page->moments.num; i++) {
		const struct column *moment = &page->moments.list[i];

		cells[i] = (struct cell) { moment->from_ms, moment->to_ms, 0 };
		for (size_t row = first; row <= last; row++) {
			const struct tally *tally = page_tally(page, row, i);

			cells[i].value += (double)tally->user + tally->system;
		}
		/* CPUs, but for how long a sample is: slices may be of several lengths */
		cells[i].value /= moment->to_ms - moment->from_ms;
	}
}

static const struct cell *largest(const struct cell *cells, size_t num)
{
	const struct cell *most = cells;

	for (size_t i = 1; i < num; i++)
		if (cells[i].value > most->value)
			most = &cells[i];
	return most;
}

/* From samples in a millisecond. */
static double cpus(const struct page *page, double value)
{
	const struct row *sum = &page->functions.sum;

	return sum->samples ? value * ((double)sum->cpu_ns / sum->samples) / NS_OF_MS : 0;
}

static double end_ms(const struct page *page)
{
	return page->moments.list[page->moments.num - 1].to_ms;
}

static void begin_picture(struct page *page, const char *class, const struct cell *most)
{
	fprintf(page->out, "<td><svg class=\"%s\" viewBox=\"0 0 %.0f 10\" preserveAspectRatio=\"none\" "
		"role=\"img\"><title>at most %.2f CPUs, from %.2f s to %.2f s</title>", class,
		end_ms(page), cpus(page, most->value), most->from / 1e3, most->to / 1e3);
}

/* What a script covers: the slices that are not chosen. */
static void end_picture(struct page *page)
{
	fputs("<path class=\"veil\" d=\"\"/></svg></td></tr>\n", page->out);
}

static void put_line(struct page *page, const struct cell *cells, double most)
{
	fputs("<path class=\"area\" d=\"", page->out);
	for (size_t i = 0; i < page->moments.num; i++)
		if (cells[i].value > 0)
			fprintf(page->out, "M%.0f 10V%.2fH%.0fV10z", cells[i].from,
				10 - 10 * cells[i].value / most, cells[i].to);
	fputs("\"/>", page->out);
}

static void put_cpus(struct page *page)
{
	struct cell cells[MOMENTS_MAX];
	const struct cell *most;

	add_rows(page, 0, page->rows, cells);
	most = largest(cells, page->moments.num);
	fprintf(page->out, "<tr><th scope=\"row\">up to %.2f CPUs</th>",
		cpus(page, most->value));
	begin_picture(page, "when line", most);
	put_line(page, cells, most->value);
	end_picture(page);
}

static void put_row(struct page *page, size_t first, size_t last, const char *name, double most)
{
	struct cell cells[MOMENTS_MAX];

	add_rows(page, first, last, cells);
	fputs("<tr><th scope=\"row\">", page->out);
	html_name(page->out, name);
	fputs("</th>", page->out);
	begin_picture(page, "when", largest(cells, page->moments.num));
	html_cells(page->out, cells, page->moments.num, most, false);
	end_picture(page);
}

static void put_axis(struct page *page)
{
	double end = end_ms(page) / 1e3;
	int digits = end < 10 ? 2 : 0;

	fprintf(page->out, "<tr class=\"axis\"><td></td><td><span>0 s</span><span>%.*f s</span>"
		"<span>%.*f s</span></td></tr>\n", digits, end / 2, digits, end);
}

/* What only a script can do is not there without one. */
static void put_brush(struct page *page)
{
	fprintf(page->out, "<form class=\"script\" id=\"brush\" hidden>\n"
		"<label>from <input type=\"range\" id=\"from\" min=\"0\" max=\"%zu\" value=\"0\"></label>\n"
		"<label>to <input type=\"range\" id=\"to\" min=\"1\" max=\"%zu\" value=\"%zu\"></label>\n"
		"<button type=\"button\" id=\"whole\">all of the time</button>\n"
		"<output id=\"range\"></output>\n</form>\n",
		page->moments.num - 1, page->moments.num, page->moments.num);
}

/* What is darkest: one function, or all others, in one slice. */
static double find_most(const struct page *page, size_t rows)
{
	struct cell cells[MOMENTS_MAX];
	double most = 0;

	for (size_t row = 0; row <= rows; row++) {
		add_rows(page, row, row < rows ? row : page->rows, cells);
		most = fmax(most, largest(cells, page->moments.num)->value);
	}
	return most;
}

static void put_table(struct page *page)
{
	size_t rows = page->rows < PAGE_TIMES ? page->rows : PAGE_TIMES;
	double most = find_most(page, rows);

	fputs("<table class=\"strips\">\n<thead><tr><th scope=\"col\">function</th>"
	      "<th scope=\"col\">CPU time by slices of time</th></tr></thead>\n<tbody>\n",
	      page->out);
	put_cpus(page);
	for (size_t row = 0; row < rows; row++)
		put_row(page, row, row, page->functions.rows[row].name, most);
	if (page->functions.num > rows)
		put_row(page, rows, page->rows, "others", most);
	put_axis(page);
	fputs("</tbody>\n</table>\n", page->out);
}

void page_times(struct page *page)
{
	fputs("<section id=\"times\">\n<h2>When</h2>\n", page->out);
	if (page->moments.known) {
		fprintf(page->out, "<p>The stronger a cell, the more CPU time in that slice of time, of %zu. "
			"<span class=\"script\" hidden>Drag over the picture, or move the two controls: "
			"functions and objects below are of that range alone.</span></p>\n",
			page->moments.num);
		put_brush(page);
		put_table(page);
	} else {
		fputs("<p>The profile has no slices of time, or not all of its files have them, so when "
		      "functions ran is not known.</p>\n", page->out);
	}
	fputs("</section>\n", page->out);
}
