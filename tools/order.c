// SPDX-License-Identifier: GPL-2.0-only
/* One order of what a profile holds, so that equal profiles are equal files. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "order.h"
#include "say.h"

size_t up_to(const void *array, size_t num, size_t size, size_t offset, uint64_t number)
{
	size_t low = 0, high = num;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (*(const uint64_t *)((const char *)array + middle * size + offset) <= number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_program(const struct object *object)
{
	return object->file[0] != '[' && !strstr(object->file, ".so");
}

/* Programs first: pprof says of a file that it is about the first one. */
static int by_object(const void *a, const void *b)
{
	const struct object *x = a, *y = b;

	return is_program(y) - is_program(x) ?: compare_texts(x->file, y->file) ?:
		compare_texts(x->build_id, y->build_id) ?:
		compare_numbers(x->start, y->start) ?:
		compare_numbers(x->limit, y->limit) ?:
		compare_numbers(x->offset, y->offset);
}

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return compare_numbers(x->object, y->object) ?:
		compare_numbers(x->address, y->address) ?:
		compare_texts(x->function, y->function) ?:
		compare_texts(x->symbol, y->symbol) ?:
		compare_texts(x->source, y->source) ?:
		compare_numbers(x->line, y->line);
}

static int by_sample(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	return compare_numbers(x->place, y->place) ?:
		compare_numbers(x->pid, y->pid) ?:
		compare_texts(x->program, y->program) ?:
		compare_texts(x->unit, y->unit) ?: compare_texts(x->container, y->container) ?:
		compare_numbers(x->run, y->run) ?: compare_numbers(x->at_ns, y->at_ns);
}

/* The hottest first. */
static int by_heat(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	return compare_numbers(y->samples, x->samples) ?:
		compare_numbers(x->pid, y->pid) ?:
		compare_texts(x->program, y->program) ?:
		compare_texts(x->unit, y->unit) ?: compare_texts(x->container, y->container) ?:
		compare_numbers(x->parent, y->parent) ?:
		compare_numbers(x->images, y->images) ?:
		compare_numbers(x->user_ns, y->user_ns);
}

/* What is to be sorted: an array, and how it is compared. */
struct sorting {
	const char *array;
	size_t size;
	int (*compare)(const void *a, const void *b);
};

static int by_index(const void *a, const void *b, void *sorting)
{
	const struct sorting *s = sorting;

	return s->compare(s->array + *(const size_t *)a * s->size,
			  s->array + *(const size_t *)b * s->size);
}

/* Sorts the array and leaves one of equals.  The result says where each one is now. */
static size_t *unique(void *array, size_t *num, size_t size,
		      int (*compare)(const void *a, const void *b))
{
	struct sorting sorting = { array, size, compare };
	size_t *order = allocated(calloc(*num + 1, sizeof(*order)));
	size_t *now = allocated(calloc(*num + 1, sizeof(*now)));
	char *sorted = allocated(calloc(*num + 1, size));
	size_t n = 0;

	for (size_t i = 0; i < *num; i++)
		order[i] = i;
	qsort_r(order, *num, sizeof(*order), by_index, &sorting);
	for (size_t i = 0; i < *num; i++) {
		const char *from = sorting.array + order[i] * size;

		if (!n || compare(sorted + (n - 1) * size, from))
			memcpy(sorted + n++ * size, from, size);
		now[order[i]] = n - 1;
	}
	if (n)
		memcpy(array, sorted, n * size);
	*num = n;
	free(sorted);
	free(order);
	return now;
}

/* As files have them: each behind the one before. */
static bool in_order(const struct sample *samples, size_t num)
{
	for (size_t i = 1; i < num; i++)
		if (by_sample(&samples[i - 1], &samples[i]) >= 0)
			return false;
	return true;
}

static void add_up(struct profile *profile)
{
	struct sample *samples = profile->samples;
	size_t n = 0;

	if (in_order(samples, profile->num_samples))
		return;
	qsort(samples, profile->num_samples, sizeof(*samples), by_sample);
	for (size_t i = 0; i < profile->num_samples; i++) {
		if (!n || by_sample(&samples[n - 1], &samples[i])) {
			samples[n++] = samples[i];
			continue;
		}
		add(&samples[n - 1].samples, samples[i].samples);
		add(&samples[n - 1].cpu_ns, samples[i].cpu_ns);
		add(&samples[n - 1].user_ns, samples[i].user_ns);
		add(&samples[n - 1].system_ns, samples[i].system_ns);
	}
	profile->num_samples = n;
}

void profile_order(struct profile *profile)
{
	size_t *now;

	now = unique(profile->objects, &profile->num_objects, sizeof(*profile->objects),
		     by_object);
	for (size_t i = 0; i < profile->num_places; i++)
		profile->places[i].object = now[profile->places[i].object];
	free(now);
	now = unique(profile->places, &profile->num_places, sizeof(*profile->places), by_place);
	for (size_t i = 0; i < profile->num_samples; i++)
		profile->samples[i].place = now[profile->samples[i].place];
	free(now);
	add_up(profile);
	if (profile->num_processes)
		qsort(profile->processes, profile->num_processes, sizeof(*profile->processes),
		      by_heat);
}
