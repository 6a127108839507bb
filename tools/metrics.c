// SPDX-License-Identifier: GPL-2.0-only
/* Counters of the hottest functions, as Prometheus and others like it read them. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "metrics.h"
#include "order.h"
#include "say.h"
#include "source.h"
#include "whole.h"

#define NAME "profil_cpu_seconds_total"
#define OTHERS_LABEL "[others]"
#define FULL (METRICS_SERIES - 2)	/* there is always room for all others, in both modes */

/* What a line of the file says, and in what braces: the labels are not taken apart. */
struct series {
	char *labels;
	double seconds;
};

struct metrics {
	struct series *list;	/* in the order of their labels */
	size_t num, room;
};

/* The time of a function in a unit. */
struct row {
	const char *unit, *object, *function;
	uint64_t user_ns, system_ns;
	uint64_t unit_ns;	/* of all functions of the unit */
};

struct rows {
	struct row *list;
	size_t num;
};

/* Index of the first one with these labels, or behind them. */
static size_t find(const struct metrics *metrics, const char *labels)
{
	size_t low = 0, high = metrics->num;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(metrics->list[middle].labels, labels) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool has(const struct metrics *metrics, const char *labels)
{
	size_t i = find(metrics, labels);

	return i < metrics->num && !strcmp(metrics->list[i].labels, labels);
}

static void add_series(struct metrics *metrics, const char *labels, double seconds)
{
	size_t i = find(metrics, labels);

	if (!has(metrics, labels)) {
		metrics->list = more(metrics->list, &metrics->room, metrics->num,
				     sizeof(*metrics->list));
		memmove(&metrics->list[i + 1], &metrics->list[i],
			(metrics->num++ - i) * sizeof(*metrics->list));
		metrics->list[i] = (struct series) { .labels = allocated(strdup(labels)) };
	}
	metrics->list[i].seconds += seconds;
}

/* Where the labels of a line end, behind which a number comes; values may have braces in them. */
static char *end_of_labels(char *labels)
{
	bool quoted = false;
	char *p = labels;

	for (; *p && (quoted || *p != '}'); p++) {
		if (quoted && *p == '\\' && p[1])
			p++;
		else if (*p == '"')
			quoted = !quoted;
	}
	return *p && p[1] == ' ' ? p : NULL;
}

/* What this program has written there before; nobody waits for a pipe. */
static void load(struct metrics *metrics, const char *file)
{
	struct stat st;
	int fd = open_ordinary(file, &st);
	FILE *in = fd < 0 ? NULL : allocated(fdopen(fd, "r"));
	char *line = NULL;
	size_t room = 0;

	while (in && getline(&line, &room, in) > 0 && metrics->num <= METRICS_SERIES) {
		char *labels = line + strlen(NAME "{"), *end;

		if (strncmp(line, NAME "{", strlen(NAME "{")))
			continue;
		end = end_of_labels(labels);
		if (!end)
			continue;
		*end = '\0';
		add_series(metrics, labels, strtod(end + 2, NULL));
	}
	free(line);
	if (in)
		fclose(in);
}

static void free_metrics(struct metrics *metrics)
{
	for (size_t i = 0; i < metrics->num; i++)
		free(metrics->list[i].labels);
	free(metrics->list);
	*metrics = (struct metrics) { 0 };
}

static void put_label(FILE *out, const char *name, const char *value)
{
	fprintf(out, "%s=\"", name);
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			putc('\\', out);
		putc(*value, out);
	}
	fputs("\",", out);
}

/* To be freed. */
static char *labels_of(const char *unit, const char *object, const char *function,
		       const char *mode)
{
	size_t length;
	char *labels;
	FILE *out = allocated(open_memstream(&labels, &length));

	put_label(out, "unit", unit);
	put_label(out, "object", object);
	put_label(out, "function", function);
	fprintf(out, "mode=\"%s\"", mode);
	if (fclose(out))
		allocated(NULL);
	return labels;
}

static int by_name(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return compare_texts(x->unit, y->unit) ?: compare_texts(x->function, y->function) ?:
		compare_texts(x->object, y->object);
}

/* Units with the most time first, and of each the functions with the most. */
static int by_heat(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return compare_numbers(y->unit_ns, x->unit_ns) ?: compare_texts(x->unit, y->unit) ?:
		compare_numbers(y->user_ns + y->system_ns, x->user_ns + x->system_ns) ?:
		by_name(a, b);
}

static void add_up(struct rows *rows)
{
	size_t n = 0, first = 0;
	uint64_t sum = 0;

	for (size_t i = 0; i < rows->num; i++) {
		struct row *row = &rows->list[i];

		if (n && !by_name(&rows->list[n - 1], row)) {
			rows->list[n - 1].user_ns += row->user_ns;
			rows->list[n - 1].system_ns += row->system_ns;
		} else {
			rows->list[n++] = *row;
		}
	}
	rows->num = n;
	for (size_t i = 0; i < n; i++) {
		sum += rows->list[i].user_ns + rows->list[i].system_ns;
		if (i + 1 < n && !compare_texts(rows->list[i].unit, rows->list[i + 1].unit))
			continue;
		for (; first <= i; first++)
			rows->list[first].unit_ns = sum;
		sum = 0;
	}
}

static void make_rows(struct profile *profile, struct rows *rows)
{
	rows->list = allocated(calloc(profile->num_samples + 1, sizeof(*rows->list)));
	rows->num = profile->num_samples;
	for (size_t i = 0; i < rows->num; i++) {
		const struct sample *sample = &profile->samples[i];
		const struct place *place = &profile->places[sample->place];

		rows->list[i] = (struct row) {
			.unit = sample->unit,
			.object = object_name(&profile->objects[place->object]),
			.function = place_name(profile, place),
			.user_ns = sample->user_ns, .system_ns = sample->system_ns,
		};
	}
	qsort(rows->list, rows->num, sizeof(*rows->list), by_name);
	add_up(rows);
	qsort(rows->list, rows->num, sizeof(*rows->list), by_heat);
}

/* Under its own name if there is one, or may be; else with all others of its unit, or of all. */
static void count(struct metrics *metrics, const struct row *row, bool hot_unit, bool hot,
		  const char *mode, uint64_t ns)
{
	bool room = metrics->num < FULL;
	char *labels;

	if (!ns)
		return;
	labels = labels_of(row->unit, row->object, row->function, mode);
	if (!has(metrics, labels) && !(room && hot)) {
		free(labels);
		labels = labels_of(row->unit, "", OTHERS_LABEL, mode);
	}
	if (!has(metrics, labels) && !(room && hot_unit)) {
		free(labels);
		labels = labels_of(OTHERS_LABEL, "", OTHERS_LABEL, mode);
	}
	add_series(metrics, labels, ns / 1e9);
	free(labels);
}

static void count_rows(struct metrics *metrics, const struct rows *rows)
{
	size_t units = 0, functions = 0;

	for (size_t i = 0; i < rows->num; i++) {
		const struct row *row = &rows->list[i];
		bool hot_unit, hot;

		if (i && compare_texts(row[-1].unit, row->unit)) {
			units++;
			functions = 0;
		}
		hot_unit = units < METRICS_UNITS;
		hot = hot_unit && functions++ < METRICS_FUNCTIONS;
		count(metrics, row, hot_unit, hot, "user", row->user_ns);
		count(metrics, row, hot_unit, hot, "system", row->system_ns);
	}
}

static void print(const struct metrics *metrics, const uint64_t tallies[TALLIES], FILE *out)
{
	fprintf(out, "# HELP " NAME " CPU time of the functions that have the most of it.\n"
		"# TYPE " NAME " counter\n");
	for (size_t i = 0; i < metrics->num; i++)
		fprintf(out, NAME "{%s} %.6f\n", metrics->list[i].labels,
			metrics->list[i].seconds);
	fprintf(out, "# HELP profil_watch_total What profil watch has done since it began.\n"
		"# TYPE profil_watch_total counter\n");
	for (int i = 0; i < TALLIES; i++)
		fprintf(out, "profil_watch_total{what=\"%s\"} %" PRIu64 "\n", tally_names[i],
			tallies[i]);
}

void metrics_add(struct profile *profile, const uint64_t tallies[TALLIES], const char *file)
{
	struct metrics metrics = { 0 };
	struct rows rows;
	size_t length;
	char *text;
	FILE *out = allocated(open_memstream(&text, &length));

	load(&metrics, file);
	if (metrics.num >= FULL)
		free_metrics(&metrics);
	make_rows(profile, &rows);
	count_rows(&metrics, &rows);
	print(&metrics, tallies, out);
	if (fclose(out))
		allocated(NULL);
	if (!whole_write(file, text, length))
		say("the metrics cannot be written to %s: %s; choose another file with --metrics",
		    file, strerror(errno));
	free_metrics(&metrics);
	free(rows.list);
	free(text);
}
