// SPDX-License-Identifier: GPL-2.0-only
/* Of a page: the table of functions. */
#include <inttypes.h>
#include "html.h"
#include "page.h"
#include "stats.h"

/* A row: a function of the table, or all that have no row. */
struct line {
	const struct row *row;
	const char *kind;	/* what the script calls it */
	size_t others;		/* functions, where it is several */
};

/* A bar of user and system time, and a line over where the share may be. */
static void put_bar(struct page *page, const struct row *row, double scale)
{
	const struct row *sum = &page->functions.sum;
	double low, high, share = sum->samples ? (double)row->samples / sum->samples : 0;
	double system = row->cpu_ns ? (double)row->system_ns / row->cpu_ns : 0;
	double user = share * (system < 1 ? 1 - system : 0);
	FILE *out = page->out;

	stats_interval(row->samples, sum->samples, &low, &high);
	fprintf(out, "<svg class=\"bar\" viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" "
		"role=\"img\"><title>%.1f %% user, %.1f %% system; 19 times of 20 between %.1f and "
		"%.1f %%</title>", 100 * user, 100 * (share - user), 100 * low, 100 * high);
	fprintf(out, "<path class=\"user\" d=\"M0 1H%.0fV9H0z\"/>", scale * user);
	fprintf(out, "<path class=\"system\" d=\"M%.0f 1H%.0fV9H%.0fz\"/>", scale * user,
		scale * share, scale * user);
	fprintf(out, "<path class=\"whisker\" d=\"M%.0f 5H%.0fM%.0f 2V8M%.0f 2V8\"/></svg>",
		scale * low, scale * high, scale * low, scale * high);
}

static void put_numbers(struct page *page, const struct row *row)
{
	const struct row *sum = &page->functions.sum;
	FILE *out = page->out;
	double low, high;

	fputs("<td>", out);
	html_share(out, row->samples, sum->samples);
	fputs("</td><td class=\"sure\">", out);
	stats_interval(row->samples, sum->samples, &low, &high);
	if (row->samples < STATS_LEAST)
		fputs("·", out);
	else
		fprintf(out, "%.1f", 50 * (high - low));
	fputs("</td><td>", out);
	html_seconds(out, row->user_ns);
	fputs("</td><td>", out);
	html_seconds(out, row->system_ns);
	fputs("</td>", out);
}

static void put_line(struct page *page, const struct line *line, double scale)
{
	const struct object object = { .file = line->row->object };
	FILE *out = page->out;

	fprintf(out, "<tr class=\"%s\"><td>", line->kind);
	put_bar(page, line->row, scale);
	fputs("</td>", out);
	put_numbers(page, line->row);
	fputs("<th scope=\"row\">", out);
	if (line->others) {
		fprintf(out, "%zu more functions <small>profil report --all</small>", line->others);
	} else {
		html_name(out, line->row->name);
		fputs(" <small>", out);
		html_name(out, object_name(&object));
		fputs("</small>", out);
	}
	fputs("</th></tr>\n", out);
}

static struct row sum_of_others(const struct page *page)
{
	struct row others = { .name = "", .object = "" };

	for (size_t i = page->rows; i < page->functions.num; i++) {
		add(&others.samples, page->functions.rows[i].samples);
		add(&others.cpu_ns, page->functions.rows[i].cpu_ns);
		add(&others.user_ns, page->functions.rows[i].user_ns);
		add(&others.system_ns, page->functions.rows[i].system_ns);
	}
	return others;
}

/* What a bar and its whisker at most need is all of the width. */
static double find_scale(const struct page *page, const struct row *others)
{
	const struct row *sum = &page->functions.sum;
	uint64_t most = others->samples;
	double low, high;

	if (page->rows && page->functions.rows[0].samples > most)
		most = page->functions.rows[0].samples;
	stats_interval(most, sum->samples, &low, &high);
	return 1000 / high;
}

static void put_table(struct page *page)
{
	struct row others = sum_of_others(page);
	size_t num = page->functions.num - page->rows;
	double scale = find_scale(page, &others);
	FILE *out = page->out;

	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Functions\">\n"
	      "<table id=\"rows\">\n<thead><tr><th scope=\"col\">user, system</th>"
	      "<th scope=\"col\">self</th><th scope=\"col\" class=\"sure\">±95 %</th>"
	      "<th scope=\"col\">user</th><th scope=\"col\">system</th><th scope=\"col\">function</th>"
	      "</tr></thead>\n<tbody>\n", out);
	for (size_t i = 0; i < page->rows; i++)
		put_line(page, &(struct line) { &page->functions.rows[i], "function", 0 }, scale);
	fputs("</tbody>\n", out);
	if (num) {
		fputs("<tfoot>\n", out);
		put_line(page, &(struct line) { &others, "others", num }, scale);
		fputs("</tfoot>\n", out);
	}
	fputs("</table>\n</div>\n", out);
}

void page_functions(struct page *page)
{
	FILE *out = page->out;

	fputs("<section id=\"functions\">\n<h2>Functions</h2>\n", out);
	fprintf(out, "<p><span id=\"which\">%" PRIu64 " samples.</span> "
		"<i class=\"key user\"></i>user and <i class=\"key system\"></i>system time; the thin line "
		"is where the share may be: 19 times of 20 it is there.</p>\n",
		page->functions.sum.samples);
	fputs("<p class=\"script\" hidden><label>only what has <input type=\"search\" id=\"filter\" "
	      "placeholder=\"function or object\"></label> "
	      "<output id=\"found\"></output></p>\n", out);
	put_table(page);
	fputs("</section>\n", out);
}
