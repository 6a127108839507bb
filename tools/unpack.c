// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the messages of profile.proto to a profile.  Nothing in them is trusted: an index
 * or an id is looked up, and a number is not negative.
 */
#include <stdlib.h>
#include <string.h>
#include "comments.h"
#include "ids.h"
#include "kernel.h"
#include "limited.h"
#include "profile.pb-c.h"
#include "say.h"
#include "unpack.h"

/* What the values of a sample may be; others are not looked at. */
enum { SAMPLES, CPU, USER, SYSTEM, VALUES };

struct unpacking {
	struct profile *profile;
	const Pb__Profile *in;
	int values[VALUES];	/* where each of them is, or -1 */
	struct ids objects, functions, places;
	size_t *object_index;	/* of each mapping, in the profile */
	size_t *place_index;	/* of each location */
	size_t first_run;	/* of this file, in the profile */
	const char **texts;	/* those that were looked at, each at its index */
};

/* Of a repeated field: fills in which message has which id. */
#define IDS(set, messages, count) ({						\
	(set)->num = (count);							\
	(set)->ids = allocated(calloc((set)->num + 1, sizeof(*(set)->ids)));	\
	for (size_t _i = 0; _i < (set)->num; _i++)				\
		(set)->ids[_i] = (struct id) { (messages)[_i]->id, _i };	\
	ids_sort(set);								\
})

/* NULL if there is no such text. */
static const char *text(struct unpacking *unpacking, int64_t index)
{
	const Pb__Profile *in = unpacking->in;

	if (index < 0 || (uint64_t)index >= in->n_string_table)
		return NULL;
	if (!unpacking->texts[index])
		unpacking->texts[index] =
			profile_text(unpacking->profile,
				     (const char *)in->string_table[index].data,
				     in->string_table[index].len);
	return unpacking->texts[index];
}

static const char *unpack_types(struct unpacking *unpacking)
{
	static const char *const types[VALUES] = { "samples", "cpu", "user", "system" };
	const Pb__Profile *in = unpacking->in;

	for (int v = 0; v < VALUES; v++) {
		unpacking->values[v] = -1;
		for (size_t i = 0; i < in->n_sample_type && i < 16; i++) {
			const char *type = text(unpacking, in->sample_type[i]->type);
			const char *unit = text(unpacking, in->sample_type[i]->unit);

			if (type && unit && !strcmp(type, types[v]) &&
			    !strcmp(unit, v == SAMPLES ? "count" : "nanoseconds"))
				unpacking->values[v] = i;
		}
	}
	return unpacking->values[SAMPLES] < 0 || unpacking->values[CPU] < 0 ?
		"it does not count samples of CPU time" : NULL;
}

static const char *unpack_objects(struct unpacking *unpacking)
{
	const Pb__Profile *in = unpacking->in;

	if (!IDS(&unpacking->objects, in->mapping, in->n_mapping))
		return "it has two mappings of one id";
	unpacking->object_index = allocated(calloc(in->n_mapping + 1, sizeof(size_t)));
	for (size_t i = 0; i < in->n_mapping; i++) {
		const Pb__Mapping *mapping = in->mapping[i];
		struct object object = {
			.file = text(unpacking, mapping->filename),
			.build_id = text(unpacking, mapping->build_id),
			.start = mapping->memory_start,
			.limit = mapping->memory_limit,
			.offset = mapping->file_offset,
		};

		if (!object.file || !object.build_id)
			return "a mapping names a text that is not there";
		if (!strcmp(object.file, KERNEL_NAME_PPROF))
			object.file = profile_string(unpacking->profile, KERNEL_NAME);
		unpacking->object_index[i] = profile_add_object(unpacking->profile, object);
	}
	return NULL;
}

/* The name and the line of a location, if it has one. */
static const char *unpack_line(struct unpacking *unpacking, const Pb__Location *location,
			       struct place *place)
{
	const Pb__Function *function;
	size_t index;

	if (!location->n_line)
		return NULL;
	if (!ids_find(&unpacking->functions, location->line[0]->function_id, &index))
		return "a location names a function that is not there";
	function = unpacking->in->function[index];
	place->function = text(unpacking, function->name);
	place->symbol = text(unpacking, function->system_name);
	place->source = text(unpacking, function->filename);
	place->line = location->line[0]->line;
	if (!place->function || !place->symbol || !place->source)
		return "a function names a text that is not there";
	return location->line[0]->line < 0 ? "a line has a negative number" : NULL;
}

/* The object of a location, which may have none. */
static const char *unpack_mapping(struct unpacking *unpacking, uint64_t id, size_t *object)
{
	struct profile *profile = unpacking->profile;
	size_t index;

	if (!id) {
		*object = profile_add_object(profile, (struct object) {
			.file = profile_string(profile, "[unknown]"),
			.build_id = profile_string(profile, ""),
		});
		return NULL;
	}
	if (!ids_find(&unpacking->objects, id, &index))
		return "a location names a mapping that is not there";
	*object = unpacking->object_index[index];
	return NULL;
}

static const char *unpack_places(struct unpacking *unpacking)
{
	struct profile *profile = unpacking->profile;
	const Pb__Profile *in = unpacking->in;
	const char *none = profile_string(profile, "");

	if (!IDS(&unpacking->functions, in->function, in->n_function))
		return "it has two functions of one id";
	if (!IDS(&unpacking->places, in->location, in->n_location))
		return "it has two locations of one id";
	unpacking->place_index = allocated(calloc(in->n_location + 1, sizeof(size_t)));
	for (size_t i = 0; i < in->n_location; i++) {
		struct place place = { .function = none, .symbol = none, .source = none };
		const char *wrong =
			unpack_line(unpacking, in->location[i], &place) ?:
			unpack_mapping(unpacking, in->location[i]->mapping_id, &place.object);

		place.address = in->location[i]->address;
		if (wrong)
			return wrong;
		unpacking->place_index[i] = profile_add_place(profile, place);
	}
	return NULL;
}

static const char *unpack_labels(struct unpacking *unpacking, const Pb__Sample *in,
				 struct sample *sample)
{
	int64_t run = 1;

	for (size_t i = 0; i < in->n_label; i++) {
		const char *key = text(unpacking, in->label[i]->key);
		const char *str = text(unpacking, in->label[i]->str);
		const char *unit = text(unpacking, in->label[i]->num_unit);
		int64_t num = in->label[i]->num;

		if (!key || !str || !unit)
			return "a label names a text that is not there";
		if (!strcmp(key, "pid"))
			sample->pid = num;
		if (!strcmp(key, "program"))
			sample->program = str;
		if (!strcmp(key, "unit"))
			sample->unit = str;
		if (!strcmp(key, "container"))
			sample->container = str;
		if (!strcmp(key, "at") && !strcmp(unit, "milliseconds") && num > 0 &&
		    num <= INT64_MAX / NS_OF_MS)
			sample->at_ns = num * NS_OF_MS;
		if (!strcmp(key, "run"))
			run = num;
	}
	if (run < 1 || (uint64_t)run > unpacking->profile->num_runs - unpacking->first_run)
		return "a sample is of a run that is not there";
	sample->run = unpacking->first_run + run - 1;
	return NULL;
}

static const char *unpack_samples(struct unpacking *unpacking)
{
	const char *none = profile_string(unpacking->profile, "");
	const int *values = unpacking->values;
	const Pb__Profile *in = unpacking->in;

	for (size_t i = 0; i < in->n_sample; i++) {
		struct sample sample = { .program = none, .unit = none, .container = none };
		const Pb__Sample *from = in->sample[i];
		const char *wrong = unpack_labels(unpacking, from, &sample);
		size_t index;

		if (wrong)
			return wrong;
		if (from->n_value != in->n_sample_type)
			return "a sample has more or fewer values than there are types";
		for (size_t j = 0; j < from->n_value; j++)
			if (from->value[j] < 0)
				return "a sample has a negative value";
		if (!from->n_location_id ||
		    !ids_find(&unpacking->places, from->location_id[0], &index))
			return "a sample names a location that is not there";
		sample.place = unpacking->place_index[index];
		sample.samples = from->value[values[SAMPLES]];
		sample.cpu_ns = from->value[values[CPU]];
		sample.user_ns = from->value[values[values[USER] < 0 ? CPU : USER]];
		sample.system_ns = values[SYSTEM] < 0 ? 0 : from->value[values[SYSTEM]];
		profile_add_sample(unpacking->profile, sample);
	}
	return NULL;
}

static const char *unpack_rest(struct unpacking *unpacking)
{
	struct profile *profile = unpacking->profile;
	const Pb__Profile *in = unpacking->in;

	if (in->time_nanos < 0 || in->duration_nanos < 0 || in->period < 0)
		return "it has a negative time";
	for (size_t i = 0; i < in->n_comment; i++) {
		const char *comment = text(unpacking, in->comment[i]);

		if (!comment)
			return "a comment is a text that is not there";
		comments_read(profile, unpacking->first_run, comment);
	}
	if (profile->num_runs == unpacking->first_run)
		profile_add_run(profile, (struct run) { .to_ns = in->duration_nanos });
	if (!profile->files) {
		profile->time_ns = in->time_nanos;
		profile->period_ns = in->period;
	}
	if (profile->period_ns != (uint64_t)in->period)
		profile->period_ns = 0;
	add(&profile->duration_ns, in->duration_nanos);
	profile->files++;
	return NULL;
}

static const char *unpack(struct profile *profile, const Pb__Profile *in)
{
	struct unpacking unpacking = {
		.profile = profile, .in = in, .first_run = profile->num_runs,
		.texts = allocated(calloc(in->n_string_table + 1, sizeof(*unpacking.texts))),
	};
	const char *wrong =
		unpack_types(&unpacking) ?: unpack_objects(&unpacking) ?:
		unpack_places(&unpacking) ?: unpack_rest(&unpacking) ?: unpack_samples(&unpacking);
	free(unpacking.objects.ids);
	free(unpacking.functions.ids);
	free(unpacking.places.ids);
	free(unpacking.object_index);
	free(unpacking.place_index);
	free(unpacking.texts);
	return wrong;
}

const char *profile_unpack(struct profile *profile, const unsigned char *bytes, size_t length)
{
	struct limited limited;
	const char *wrong = "its bytes are no messages of pprof";
	Pb__Profile *in;

	limited_init(&limited);
	in = pb__profile__unpack(&limited.allocator, length, bytes);
	if (in)
		wrong = unpack(profile, in);
	limited_free(&limited);
	return wrong;
}
