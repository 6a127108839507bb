// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include "records.h"
#include "say.h"
#include "stats.h"

static bool is_record(const struct line *line)
{
	return line->kind == LINE_SOURCE || line->kind == LINE_CODE;
}

static const char *kind(const struct line *line)
{
	return line->kind == LINE_CODE ? "instruction" : "line";
}

/* What is at addresses that are not in the code is a line, too: sums agree. */
static struct line elsewhere(const struct body *body)
{
	return (struct line) {
		.kind = LINE_SOURCE, .text = "(elsewhere)", .inlined = "", .source = "",
		.cost = body->elsewhere,
	};
}

static void put_tsv(FILE *out, const struct body *body, const struct line *line)
{
	double low, high;

	stats_interval(line->cost.samples, body->sum.samples, &low, &high);
	fprintf(out, "%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%.6f\t%.6f\t%s\t%s\t",
		kind(line), line->cost.samples, line->cost.cpu_ns, line->cost.user_ns,
		line->cost.system_ns, low, high, line->inlined, line->source);
	fprintf(out, "%" PRIu64 "\t%#" PRIx64 "\t%#" PRIx64 "\t%s\n", line->number, line->address,
		line->target, line->text);
}

void records_tsv(FILE *out, const struct row *row, const struct body *body,
		 const struct listing *listing)
{
	struct line rest = elsewhere(body);

	fprintf(out, "about\tfunction\t%s\nabout\tobject\t%s\nabout\tbuild_id\t%s\n", row->name,
		row->object, body->build_id);
	fprintf(out, "count\tsamples\t%" PRIu64 "\ncount\tcpu_ns\t%" PRIu64 "\n",
		body->sum.samples, body->sum.cpu_ns);
	for (size_t i = 0; i < listing->num; i++)
		if (is_record(&listing->lines[i]))
			put_tsv(out, body, &listing->lines[i]);
	if (rest.cost.samples)
		put_tsv(out, body, &rest);
}

/* JSON has signed numbers. */
static json_int_t number(uint64_t n)
{
	return n > INT64_MAX ? INT64_MAX : n;
}

static void add_json(json_t *lines, const struct body *body, const struct line *line)
{
	const struct cost *cost = &line->cost;
	double low, high;
	json_t *object;

	stats_interval(cost->samples, body->sum.samples, &low, &high);
	object = json_pack("{s:s, s:I, s:I, s:I, s:I, s:f, s:f, s:s, s:s, s:I, s:I, s:I, s:s}",
			   "kind", kind(line), "samples", number(cost->samples),
			   "cpu_ns", number(cost->cpu_ns), "user_ns", number(cost->user_ns),
			   "system_ns", number(cost->system_ns), "low", low, "high", high,
			   "inlined", line->inlined, "source", line->source,
			   "line", number(line->number), "address", number(line->address),
			   "target", number(line->target), "text", line->text);
	if (json_array_append_new(lines, object))
		allocated(NULL);
}

void records_json(FILE *out, const struct row *row, const struct body *body,
		  const struct listing *listing)
{
	json_t *lines = allocated(json_array()), *all;
	struct line rest = elsewhere(body);

	for (size_t i = 0; i < listing->num; i++)
		if (is_record(&listing->lines[i]))
			add_json(lines, body, &listing->lines[i]);
	if (rest.cost.samples)
		add_json(lines, body, &rest);
	all = allocated(json_pack("{s:s, s:s, s:s, s:I, s:I, s:o}", "function", row->name,
				  "object", row->object, "build_id", body->build_id,
				  "samples", number(body->sum.samples),
				  "cpu_ns", number(body->sum.cpu_ns), "lines", lines));
	json_dumpf(all, out, JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(6));
	putc('\n', out);
	json_decref(all);
}
