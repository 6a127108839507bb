// SPDX-License-Identifier: GPL-2.0-only
/* Of a page: where the wall time went, as one bar and as a table. */
#include <inttypes.h>
#include "html.h"
#include "page.h"

enum { USER, SYSTEM, EXEC, LOST, WAITING, PARTS };

struct part {
	const char *name, *class, *text;
	double ns;
	uint64_t samples;
};

/* Of a sample, also where files of several rates were added up. */
static double sample_ns(const struct page *page)
{
	const struct row *sum = &page->functions.sum;

	if (page->profile->period_ns || !sum->samples)
		return page->profile->period_ns;
	return (double)sum->cpu_ns / sum->samples;
}

static void find_parts(const struct page *page, struct part *parts)
{
	static const struct part names[PARTS] = {
		[USER] = { "user", "user", "the program's own code", 0, 0 },
		[SYSTEM] = { "system", "system", "the kernel, called by it", 0, 0 },
		[EXEC] = { "in exec", "exec", "no program had a place yet", 0, 0 },
		[LOST] = { "lost", "lost", "no room in the table of places", 0, 0 },
		[WAITING] = { "not running", "waiting", "it waited, or no CPU was free", 0, 0 },
	};
	const struct row *sum = &page->functions.sum;
	const uint64_t *counts = page->profile->counts;
	double used = 0;

	for (int i = 0; i < PARTS; i++)
		parts[i] = names[i];
	parts[USER].ns = sum->user_ns;
	parts[SYSTEM].ns = sum->system_ns;
	parts[EXEC].samples = counts[COUNT_EXEC];
	parts[LOST].samples = counts[COUNT_FULL];
	for (int i = 0; i < WAITING; i++) {
		if (parts[i].samples)
			parts[i].ns = parts[i].samples * sample_ns(page);
		used += parts[i].ns;
	}
	if (page->profile->duration_ns > used)
		parts[WAITING].ns = page->profile->duration_ns - used;
}

static void put_bar(FILE *out, const struct part *parts, double all)
{
	double at = 0;

	fputs("<svg class=\"wall\" viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" role=\"img\">"
	      "<title>", out);
	for (int i = 0; i < PARTS; i++) {
		if (parts[i].ns <= 0)
			continue;
		fprintf(out, "%s%s ", at > 0 ? ", " : "", parts[i].name);
		html_share(out, parts[i].ns, all);
		at += parts[i].ns;
	}
	fputs("</title>", out);
	at = 0;
	for (int i = 0; i < PARTS; i++) {
		if (parts[i].ns <= 0)
			continue;
		fprintf(out, "<path class=\"%s\" d=\"M%.1f 0H%.1fV10H%.1fz\"/>", parts[i].class,
			1000 * at / all, 1000 * (at + parts[i].ns) / all, 1000 * at / all);
		at += parts[i].ns;
	}
	fputs("</svg>\n", out);
}

static void put_part(FILE *out, const struct part *part, double wall)
{
	fprintf(out, "<tr><th scope=\"row\"><i class=\"key %s\"></i>%s</th><td>", part->class,
		part->name);
	html_seconds(out, part->ns);
	fputs("</td><td>", out);
	html_share(out, part->ns, wall);
	fprintf(out, "</td><td class=\"text\">%s", part->text);
	if (part->samples)
		fprintf(out, ": %" PRIu64 " samples", part->samples);
	fputs("</td></tr>\n", out);
}

static void put_table(FILE *out, const struct part *parts, double wall)
{
	fputs("<table>\n<thead><tr><th scope=\"col\">part</th><th scope=\"col\">time</th>"
	      "<th scope=\"col\">of the wall time</th><th scope=\"col\">what it is</th></tr></thead>\n"
	      "<tbody>\n", out);
	for (int i = 0; i < PARTS; i++)
		if (parts[i].ns > 0 || i <= SYSTEM || i == WAITING)
			put_part(out, &parts[i], wall);
	fputs("</tbody>\n</table>\n", out);
}

void page_wall(struct page *page)
{
	double used = 0, wall = page->profile->duration_ns;
	struct part parts[PARTS];
	FILE *out = page->out;

	find_parts(page, parts);
	for (int i = 0; i < WAITING; i++)
		used += parts[i].ns;
	fputs("<section id=\"wall\">\n<h2>Where the wall time went</h2>\n<p>", out);
	html_seconds(out, used);
	fputs(" of CPU", out);
	if (wall > 0)
		fprintf(out, " in %.2f s: %.2f CPUs were in use on average", wall / 1e9,
			used / wall);
	fputs(".</p>\n", out);
	if (used + parts[WAITING].ns > 0)
		put_bar(out, parts, used + parts[WAITING].ns);
	put_table(out, parts, wall);
	fputs("</section>\n", out);
}
