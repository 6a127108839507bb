// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "listing.h"
#include "order.h"
#include "say.h"

#define CONTEXT 5	/* lines that are shown around those with samples */
#define GAP_LEAST 3	/* one line says that lines are left out: fewer than this stay */
#define FILL_MOST 10000	/* lines between two that have code, which are of one function */
#define LINES_MOST 200000	/* no more lines without code where there are so many */

/* Code of one line; of one function that was put in, or of the outer one. */
struct entry {
	const char *inlined, *source;
	uint64_t line;
	struct cost cost;
};

/* Entries of one function in one file. */
struct section {
	const struct entry *entries;
	size_t num;
	uint64_t samples;
	bool own;		/* the outer function, where it was written */
};

static void add_line(struct listing *listing, struct line line)
{
	listing->lines = more(listing->lines, &listing->room, listing->num, sizeof(line));
	listing->lines[listing->num++] = line;
}

static void add_head(struct profile *profile, struct listing *listing, const char *format,
		     const char *first, const char *second)
{
	const char *none = profile_string(profile, "");
	char *text;

	if (asprintf(&text, format, first, second) < 0)
		allocated(NULL);
	add_line(listing, (struct line) {
		.kind = LINE_HEAD, .text = profile_string(profile, text),
		.inlined = none, .source = none,
	});
	free(text);
}

const char *listing_source_of(const struct body *body)
{
	const struct step *most = NULL;

	for (size_t i = 0; i < body->num_steps; i++) {
		const struct step *step = &body->steps[i];

		if (!step->inlined[0] && step->source[0] &&
		    (!most || step->cost.samples > most->cost.samples))
			most = step;
	}
	return most ? most->source : body->num_ranges ? body->ranges[0].source : "";
}

static int by_line(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return compare_texts(x->inlined, y->inlined) ?: compare_texts(x->source, y->source) ?:
		compare_numbers(x->line, y->line);
}

static struct entry *make_entries(const struct body *body, size_t *num)
{
	struct entry *entries = allocated(calloc(body->num_steps + 1, sizeof(*entries)));
	size_t n = 0;

	for (size_t i = 0; i < body->num_steps; i++)
		entries[i] = (struct entry) {
			body->steps[i].inlined, body->steps[i].source, body->steps[i].line,
			body->steps[i].cost,
		};
	if (body->num_steps)
		qsort(entries, body->num_steps, sizeof(*entries), by_line);
	for (size_t i = 0; i < body->num_steps; i++)
		if (n && !by_line(&entries[n - 1], &entries[i]))
			cost_add(&entries[n - 1].cost, &entries[i].cost);
		else
			entries[n++] = entries[i];
	*num = n;
	return entries;
}

static int by_heat(const void *a, const void *b)
{
	const struct section *x = a, *y = b;

	return y->own - x->own ?: compare_numbers(y->samples, x->samples) ?:
		by_line(x->entries, y->entries);
}

static struct section *make_sections(const struct entry *entries, size_t num_entries,
				     const char *own, size_t *num)
{
	struct section *sections = allocated(calloc(num_entries + 1, sizeof(*sections)));

	*num = 0;
	for (size_t i = 0; i < num_entries; i++) {
		const struct entry *entry = &entries[i];

		if (!i || entry->inlined != entry[-1].inlined || entry->source != entry[-1].source)
			sections[(*num)++] = (struct section) {
				.entries = entry, .own = !entry->inlined[0] && entry->source == own,
			};
		sections[*num - 1].num++;
		add(&sections[*num - 1].samples, entry->cost.samples);
	}
	if (*num)
		qsort(sections, *num, sizeof(*sections), by_heat);
	return sections;
}

/* Where the text of a function begins, if it is known. */
static uint64_t first_line(const struct body *body, const struct section *section)
{
	uint64_t first = section->entries[0].line;

	for (size_t i = 0; i < body->num_ranges && section->own; i++)
		if (body->ranges[i].source == section->entries[0].source &&
		    body->ranges[i].line && (!first || body->ranges[i].line < first))
			first = body->ranges[i].line;
	return first;
}

/* Lines that are not code, up to @end: comments, braces, what never became any. */
static void fill(struct profile *profile, struct listing *listing, const struct section *section,
		 const struct source *source, uint64_t first, uint64_t end)
{
	if (end > first && (end - first > FILL_MOST || listing->num > LINES_MOST)) {
		add_line(listing, (struct line) {
			.kind = LINE_GAP, .text = profile_string(profile, ""),
			.inlined = section->entries->inlined, .source = section->entries->source,
			.hidden = end - first,
		});
		return;
	}
	for (uint64_t number = first; number < end && number <= source->num; number++)
		add_line(listing, (struct line) {
			.kind = LINE_SOURCE, .text = source_line(profile, source, number),
			.inlined = section->entries->inlined, .source = section->entries->source,
			.number = number,
		});
}

static void add_section(struct profile *profile, const struct body *body,
			const struct section *section, const struct source *source,
			struct listing *listing)
{
	uint64_t next = first_line(body, section);

	for (size_t i = 0; i < section->num; i++) {
		const struct entry *entry = &section->entries[i];

		if (source->num && entry->line) {
			fill(profile, listing, section, source, next, entry->line);
			next = entry->line + 1;
		} else if (!entry->cost.samples) {
			continue;
		}
		add_line(listing, (struct line) {
			.kind = LINE_SOURCE, .inlined = entry->inlined, .source = entry->source,
			.text = entry->line ? source_line(profile, source, entry->line) :
				profile_string(profile, "(no line)"),
			.number = entry->line, .cost = entry->cost,
		});
	}
}

void listing_source(struct profile *profile, const struct body *body, struct sources *sources,
		    struct listing *listing)
{
	size_t num_entries, num;
	struct entry *entries = make_entries(body, &num_entries);
	struct section *sections = make_sections(entries, num_entries, listing_source_of(body),
						 &num);

	for (size_t i = 0; i < num; i++) {
		const struct section *section = &sections[i];
		const struct entry *entry = section->entries;

		if (!section->own && !section->samples)
			continue;
		if (entry->inlined[0])
			add_head(profile, listing, "%s, which was inlined, in %s", entry->inlined,
				 entry->source[0] ? entry->source : "no file that is known");
		else if (!section->own)
			add_head(profile, listing, "%s%s", "in ",
				 entry->source[0] ? entry->source : "no file that is known");
		add_section(profile, body, section, sources_find(sources, entry->source), listing);
	}
	free(sections);
	free(entries);
}

static void add_step(struct profile *profile, const struct body *body, size_t i,
		     struct sources *sources, struct listing *listing)
{
	const struct step *step = &body->steps[i];
	bool same = i && step[-1].line == step->line && step[-1].source == step->source &&
		step[-1].inlined == step->inlined;

	if (sources && step->line && !same)
		add_line(listing, (struct line) {
			.kind = LINE_SOURCE, .inlined = step->inlined, .source = step->source,
			.number = step->line,
			.text = source_line(profile, sources_find(sources, step->source),
					    step->line),
		});
	add_line(listing, (struct line) {
		.kind = LINE_CODE, .text = step->text, .inlined = step->inlined,
		.source = step->source, .number = step->line, .address = step->address,
		.target = step->jumps ? step->target : 0, .cost = step->cost,
	});
}

void listing_code(struct profile *profile, const struct body *body, struct sources *sources,
		  struct listing *listing)
{
	size_t range = 0;

	for (size_t i = 0; i < body->num_steps; i++) {
		for (; range < body->num_ranges && body->ranges[range].first <= i; range++)
			if (body->num_ranges > 1)
				add_head(profile, listing, "%s%s", body->ranges[range].name, "");
		add_step(profile, body, i, sources, listing);
	}
}

/* How far each line is from one with samples, or a beginning. */
static bool *find_shown(const struct listing *listing)
{
	bool *shown = allocated(calloc(listing->num + 1, sizeof(*shown)));
	size_t left = 0;

	for (size_t i = 0; i < listing->num; i++) {
		const struct line *line = &listing->lines[i];
		bool begins = !i || line->kind == LINE_HEAD || line[-1].kind == LINE_HEAD;

		left = line->cost.samples ? CONTEXT + 1 : left;
		shown[i] = left || begins || line->kind == LINE_GAP;
		left -= left > 0;
	}
	left = 0;
	for (size_t i = listing->num; i-- > 0;) {
		left = listing->lines[i].cost.samples ? CONTEXT + 1 : left;
		shown[i] = shown[i] || left;
		left -= left > 0;
	}
	return shown;
}

void listing_fold(struct listing *listing)
{
	bool *shown = find_shown(listing);
	size_t num = 0, hidden;

	for (size_t i = 0; i < listing->num; i += hidden + !hidden) {
		for (hidden = 0; i + hidden < listing->num && !shown[i + hidden]; hidden++)
			;
		if (hidden && hidden < GAP_LEAST) {
			shown[i] = true;
			hidden = 0;
		}
		listing->lines[num] = listing->lines[i];
		if (hidden) {
			listing->lines[num].kind = LINE_GAP;
			listing->lines[num].hidden = hidden;
		}
		num++;
	}
	free(shown);
	listing->num = num;
}
