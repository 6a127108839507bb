// SPDX-License-Identifier: GPL-2.0-only
/* A profile added up by function, line, object, process or address. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "order.h"
#include "say.h"
#include "table.h"

const char *const by_names[BY_KINDS] = {
	"function", "line", "object", "process", "address",
};

/* By all that tells rows apart; what does not is the same in all of them. */
static int by_key(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return compare_texts(x->name, y->name) ?: compare_texts(x->object, y->object) ?:
		compare_texts(x->build_id, y->build_id) ?:
		compare_texts(x->source, y->source) ?: compare_numbers(x->line, y->line) ?:
		compare_numbers(x->address, y->address) ?: compare_numbers(x->pid, y->pid);
}

/* Equal counts in a fixed order, so that two reports can be compared. */
static int by_samples(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return compare_numbers(y->samples, x->samples) ?: by_key(a, b);
}

static void add_row(struct row *sum, const struct row *row)
{
	add(&sum->samples, row->samples);
	add(&sum->recent, row->recent);
	add(&sum->cpu_ns, row->cpu_ns);
	add(&sum->user_ns, row->user_ns);
	add(&sum->system_ns, row->system_ns);
	add(&sum->unnamed, row->unnamed);
}

static struct row make_row(struct profile *profile, enum by by, const struct sample *sample,
			   const char *none)
{
	const struct place *place = &profile->places[sample->place];
	const struct object *object = &profile->objects[place->object];
	struct row row = {
		.name = none, .object = none, .build_id = none, .source = none,
		.samples = sample->samples, .recent = sample->recent,
		.cpu_ns = sample->cpu_ns, .user_ns = sample->user_ns,
		.system_ns = sample->system_ns,
		.unnamed = is_named(place) ? 0 : sample->samples,
	};

	if (by == BY_PROCESS) {
		row.name = sample->program;
		row.pid = sample->pid;
		return row;
	}
	row.name = by == BY_OBJECT ? object->file : place_name(profile, place);
	row.object = object->file;
	row.build_id = object->build_id;
	if (by == BY_ADDRESS)
		row.address = place->address;
	if (by == BY_LINE) {
		row.source = place->source;
		row.line = place->line;
	}
	return row;
}

static size_t rows_of_samples(struct profile *profile, enum by by, struct row *rows)
{
	const char *none = profile_string(profile, "");
	size_t num = 0;

	/* those of one address, but of other times, are one behind the other: fewer to sort */
	for (size_t i = 0; i < profile->num_samples; i++) {
		struct row row = make_row(profile, by, &profile->samples[i], none);

		if (num && !by_key(&rows[num - 1], &row))
			add_row(&rows[num - 1], &row);
		else
			rows[num++] = row;
	}
	return num;
}

static size_t rows_of_processes(struct profile *profile, struct row *rows)
{
	const char *none = profile_string(profile, "");

	for (size_t i = 0; i < profile->num_processes; i++) {
		const struct process *process = &profile->processes[i];

		rows[i] = (struct row) {
			.name = process->program, .object = none, .build_id = none,
			.source = none, .pid = process->pid, .samples = process->samples,
			.recent = process->recent, .cpu_ns = process->user_ns,
			.user_ns = process->user_ns, .system_ns = process->system_ns,
		};
		add(&rows[i].cpu_ns, process->system_ns);
	}
	return profile->num_processes;
}

bool table_knows_processes(const struct profile *profile)
{
	for (size_t i = 0; i < profile->num_samples; i++)
		if (!profile->samples[i].pid)
			return false;
	return true;
}

void table_make(struct profile *profile, enum by by, struct table *table)
{
	size_t most = profile->num_samples + profile->num_processes + 1, num, n = 0;
	struct row *rows = allocated(calloc(most, sizeof(*rows)));

	if (by == BY_PROCESS && profile->num_processes && !table_knows_processes(profile))
		num = rows_of_processes(profile, rows);
	else
		num = rows_of_samples(profile, by, rows);
	qsort(rows, num, sizeof(*rows), by_key);
	*table = (struct table) { .by = by, .rows = rows };
	for (size_t i = 0; i < num; i++) {
		add_row(&table->sum, &rows[i]);
		if (n && !by_key(&rows[n - 1], &rows[i]))
			add_row(&rows[n - 1], &rows[i]);
		else
			rows[n++] = rows[i];
	}
	qsort(rows, n, sizeof(*rows), by_samples);
	/* what no tick has found is no row */
	while (n && !rows[n - 1].samples)
		n--;
	table->num = n;
}

void table_make_of(struct profile *profile, enum by by, struct sample *samples, size_t num,
		   struct table *table)
{
	struct sample *all = profile->samples;
	size_t num_all = profile->num_samples;

	profile->samples = samples;
	profile->num_samples = num;
	table_make(profile, by, table);
	profile->samples = all;
	profile->num_samples = num_all;
}

void table_free(struct table *table)
{
	free(table->rows);
}

char *row_place(const struct table *table, const struct row *row)
{
	char *place = NULL;
	int length = 0;

	if (table->by == BY_ADDRESS)
		length = asprintf(&place, "%#" PRIx64, row->address);
	else if (table->by == BY_PROCESS && row->pid)
		length = asprintf(&place, "%" PRId64, row->pid);
	else if (table->by == BY_LINE && row->source[0])
		length = asprintf(&place, "%s:%" PRIu64, row->source, row->line);
	else
		place = strdup("");
	if (length < 0)
		place = NULL;
	return allocated(place);
}
