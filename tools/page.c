// SPDX-License-Identifier: GPL-2.0-only
/* A profile as one file of HTML that asks for no other, and is whole without its script. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "formats.h"
#include "html.h"
#include "order.h"
#include "page.h"
#include "say.h"
#include "summary.h"

/* By what tells functions apart in the table. */
static int by_function(const void *a, const void *b)
{
	const struct row *x = *(const struct row *const *)a, *y = *(const struct row *const *)b;

	return compare_texts(x->name, y->name) ?: compare_texts(x->object, y->object) ?:
		compare_texts(x->build_id, y->build_id);
}

static struct row row_of(struct profile *profile, const struct place *place)
{
	const struct object *object = &profile->objects[place->object];

	return (struct row) {
		.name = place_name(profile, place), .object = object->file,
		.build_id = object->build_id,
	};
}

/* Of each place, the row of its function. */
static void find_rows(struct page *page)
{
	const struct table *table = &page->functions;
	const struct row **sorted = allocated(calloc(table->num + 1, sizeof(*sorted)));

	for (size_t i = 0; i < table->num; i++)
		sorted[i] = &table->rows[i];
	qsort(sorted, table->num, sizeof(*sorted), by_function);
	page->rows = table->num < PAGE_ROWS ? table->num : PAGE_ROWS;
	page->row_of = allocated(calloc(page->profile->num_places + 1, sizeof(*page->row_of)));
	for (size_t i = 0; i < page->profile->num_places; i++) {
		struct row row = row_of(page->profile, &page->profile->places[i]);
		const struct row *key = &row, **found;
		size_t index = page->rows;

		found = bsearch(&key, sorted, table->num, sizeof(*sorted), by_function);
		if (found && (size_t)(*found - table->rows) < page->rows)
			index = *found - table->rows;
		page->row_of[i] = index;
	}
	free(sorted);
}

static uint64_t system_samples(const struct sample *sample)
{
	double part = sample->cpu_ns ? (double)sample->system_ns / sample->cpu_ns : 0;

	return part < 1 ? sample->samples * part + 0.5 : sample->samples;
}

static void find_tallies(struct page *page)
{
	size_t moment = 0;

	page->tallies = allocated(calloc((page->rows + 1) * page->moments.num,
					 sizeof(*page->tallies)));
	for (size_t i = 0; i < page->num_samples; i++) {
		const struct sample *sample = &page->samples[i];
		uint64_t system = system_samples(sample);
		struct tally *tally;

		moment = moment_of(&page->moments, sample, moment);
		tally = page_tally(page, page->row_of[sample->place], moment);
		add(&tally->system, system);
		add(&tally->user, sample->samples - system);
	}
}

/* What has no time needs no more than one sample of each place, which is soon sorted. */
static void take_samples(struct page *page)
{
	struct profile *profile = page->profile;
	size_t n = 0;

	moments_find(profile, &page->moments);
	page->samples = profile->samples;
	page->num_samples = profile->num_samples;
	profile->samples = allocated(calloc(profile->num_places + 1, sizeof(*profile->samples)));
	profile->num_samples = 0;
	for (size_t i = 0; i < page->num_samples; i++) {
		struct sample *sum = &profile->samples[n ? n - 1 : 0];
		const struct sample *sample = &page->samples[i];

		if (!n || sum->place != sample->place) {
			profile->samples[n++] = *sample;
			continue;
		}
		add(&sum->samples, sample->samples);
		add(&sum->cpu_ns, sample->cpu_ns);
		add(&sum->user_ns, sample->user_ns);
		add(&sum->system_ns, sample->system_ns);
	}
	profile->num_samples = n;
}

/* Nothing is fetched, and no script runs but ours. */
static void put_head(struct page *page)
{
	FILE *out = page->out;

	fprintf(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"style-src 'sha256-%s'; script-src 'sha256-%s'; img-src data:; base-uri 'none'; "
		"form-action 'none'\">\n", page_style_hash, page_script_hash);
	fputs("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n"
	      "<link rel=\"icon\" href=\"data:,\">\n<title>profil: ", out);
	html_name(out, page->profile->command);
	fprintf(out, "</title>\n<style>%s</style>\n</head>\n<body>\n<header>\n<h1>", page_style);
	html_name(out, page->profile->command[0] ? page->profile->command : "a profile");
	fputs("</h1>\n", out);
	for (size_t i = 0; i < page->profile->num_facts; i++) {
		fputs(i ? "<br>" : "<p>", out);
		html_name(out, page->profile->facts[i]);
	}
	if (page->profile->num_facts)
		fputs("</p>\n", out);
	fputs("</header>\n<main>\n", out);
}

/* What the end of profil run says, in its words. */
static void put_summary(struct page *page)
{
	size_t length;
	char *text;
	FILE *summary = allocated(open_memstream(&text, &length));

	summary_tail(summary, page->profile, &page->functions);
	if (fclose(summary))
		allocated(NULL);
	/* what is wider than the page can be scrolled, also by keys */
	fputs("<pre tabindex=\"0\">", page->out);
	html_text(page->out, text);
	fputs("</pre>\n", page->out);
	free(text);
}

static void put_numbers(FILE *out, const struct page *page, size_t row, size_t offset)
{
	for (size_t i = 0; i < page->moments.num; i++) {
		const char *tally = (const char *)page_tally(page, row, i);
		uint64_t value = *(const uint64_t *)(tally + offset);

		if (i)
			putc(',', out);
		if (value)
			fprintf(out, "%" PRIu64, value);
	}
}

/* For each row a text of numbers with commas; a number that is not there is 0. */
static void put_tallies(FILE *out, const struct page *page, const char *name, size_t offset)
{
	fprintf(out, ",\n\"%s\":[", name);
	for (size_t row = 0; row <= page->rows; row++) {
		fputs(row ? ",\n\"" : "\"", out);
		put_numbers(out, page, row, offset);
		putc('"', out);
	}
	putc(']', out);
}

/* Numbers alone: no text of the profile can end this. */
static void put_data(struct page *page, const char *space)
{
	const struct moments *moments = &page->moments;
	const struct row *sum = &page->functions.sum;
	FILE *out = page->out;

	fprintf(out, "<script type=\"application/json\" id=\"data\">{\"sample_ns\":%.0f,\"slices\":[",
		sum->samples ? (double)sum->cpu_ns / sum->samples : 0);
	for (size_t i = 0; i < moments->num; i++)
		fprintf(out, "%s[%" PRIu64 ",%" PRIu64 "]", i ? "," : "",
			moments->list[i].from_ms, moments->list[i].to_ms);
	putc(']', out);
	put_tallies(out, page, "user", offsetof(struct tally, user));
	put_tallies(out, page, "system", offsetof(struct tally, system));
	fprintf(out, "%s}</script>\n", space);
}

static void put_foot(struct page *page, const char *space)
{
	FILE *out = page->out;

	fputs("</main>\n<footer><p>profil " VERSION ". A profile of CPU time: there are no stacks, "
	      "and what waits is not seen.</p></footer>\n", out);
	put_data(page, space);
	fprintf(out, "<script>%s</script>\n</body>\n</html>\n", page_script);
}

void page_write(struct profile *profile, FILE *out)
{
	struct page page = { .out = out, .profile = profile };
	size_t length;
	char *space;
	FILE *data = allocated(open_memstream(&space, &length));

	take_samples(&page);
	table_make(profile, BY_FUNCTION, &page.functions);
	find_rows(&page);
	find_tallies(&page);
	put_head(&page);
	page_wall(&page);
	put_summary(&page);
	page_times(&page);
	page_functions(&page);
	page_space(&page, data);
	page_excerpts(&page);
	if (fclose(data))
		allocated(NULL);
	put_foot(&page, space);
	free(space);
	free(page.tallies);
	free(page.row_of);
	free(page.samples);
	table_free(&page.functions);
}
