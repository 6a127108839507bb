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
	"function", "line", "object", "process", "address", "unit", "container", "program",
};

bool by_who(enum by by)
{
	return by == BY_PROCESS || by >= BY_UNIT;
}

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

/* What a sample or a process is of.  Who has a unit may have no container. */
static const char *who(struct profile *profile, enum by by, const char *unit,
		       const char *container, const char *program)
{
	if (by == BY_PROCESS || (by == BY_PROGRAM && program[0]))
		return program;
	if (by == BY_UNIT && unit[0])
		return unit;
	if (by == BY_CONTAINER && container[0])
		return container;
	if (by == BY_CONTAINER && unit[0])
		return profile_string(profile, "[no container]");
	return profile_string(profile, "[not known]");
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
		.unnamed = is_named(place) || is_elsewhere(place->function) ? 0 :
			sample->samples,
	};

	if (by_who(by)) {
		row.name = who(profile, by, sample->unit, sample->container, sample->program);
		row.pid = by == BY_PROCESS ? sample->pid : 0;
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

static size_t rows_of_processes(struct profile *profile, enum by by, struct row *rows)
{
	const char *none = profile_string(profile, "");

	for (size_t i = 0; i < profile->num_processes; i++) {
		const struct process *process = &profile->processes[i];

		rows[i] = (struct row) {
			.name = who(profile, by, process->unit, process->container,
				    process->program),
			.object = none, .build_id = none, .source = none,
			.pid = by == BY_PROCESS ? process->pid : 0,
			.samples = process->samples,
			.recent = process->recent, .cpu_ns = process->user_ns,
			.user_ns = process->user_ns, .system_ns = process->system_ns,
		};
		add(&rows[i].cpu_ns, process->system_ns);
	}
	return profile->num_processes;
}

bool table_knows(const struct profile *profile, enum by by)
{
	for (size_t i = 0; i < profile->num_samples; i++) {
		const struct sample *sample = &profile->samples[i];

		if (by == BY_PROCESS ? !sample->pid : by == BY_PROGRAM ? !sample->program[0] :
		    by_who(by) && !sample->unit[0])
			return false;
	}
	return true;
}

/* Processes have all their ticks, and samples those that found a place. */
static bool processes_know(const struct profile *profile, enum by by)
{
	if (!by_who(by) || !profile->num_processes)
		return false;
	for (size_t i = 0; i < profile->num_processes && by != BY_PROCESS; i++)
		if (profile->processes[i].unit[0])
			return true;
	return !table_knows(profile, by);
}

void table_make(struct profile *profile, enum by by, struct table *table)
{
	size_t most = profile->num_samples + profile->num_processes + 1, num, n = 0;
	struct row *rows = allocated(calloc(most, sizeof(*rows)));

	if (processes_know(profile, by))
		num = rows_of_processes(profile, by, rows);
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
