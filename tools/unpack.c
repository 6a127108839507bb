// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the messages of profile.proto to a profile.  Nothing in them is trusted: an index
 * or an id is looked up, and a number is not negative.
 */
#include <stdlib.h>
#include <string.h>
#include "comments.h"
#include "kernel.h"
#include "limited.h"
#include "say.h"
#include "unpack.h"
#include "unpacking.h"

#define COMMENTS_MAX 4000000	/* each of which may be a process */

/* Of a repeated field: fills in which message has which id. */
#define IDS(set, messages, count) ({						\
	(set)->num = (count);							\
	(set)->ids = allocated(calloc((set)->num + 1, sizeof(*(set)->ids)));	\
	for (size_t _i = 0; _i < (set)->num; _i++)				\
		(set)->ids[_i] = (struct id) { (messages)[_i]->id, _i };	\
	ids_sort(set);								\
})

const char *unpacking_text(struct unpacking *unpacking, int64_t index)
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
		for (size_t i = 0; i < in->n_sample_type && i < TYPES_MAX; i++) {
			const char *type = unpacking_text(unpacking, in->sample_type[i]->type);
			const char *unit = unpacking_text(unpacking, in->sample_type[i]->unit);

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
			.file = unpacking_text(unpacking, mapping->filename),
			.build_id = unpacking_text(unpacking, mapping->build_id),
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
	place->function = unpacking_text(unpacking, function->name);
	place->symbol = unpacking_text(unpacking, function->system_name);
	place->source = unpacking_text(unpacking, function->filename);
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

static const char *unpack_rest(struct unpacking *unpacking)
{
	struct profile *profile = unpacking->profile;
	const Pb__Profile *in = unpacking->in;

	if (in->time_nanos < 0 || in->duration_nanos < 0 || in->period < 0)
		return "it has a negative time";
	if (in->n_comment > COMMENTS_MAX)
		return "it has more than 4 million comments";
	for (size_t i = 0; i < in->n_comment; i++) {
		const char *comment = unpacking_text(unpacking, in->comment[i]);

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

static const char *unpack(struct profile *profile, const Pb__Profile *in, struct wire all)
{
	struct unpacking unpacking = {
		.profile = profile, .in = in, .all = all, .first_run = profile->num_runs,
		.texts = allocated(calloc(in->n_string_table + 1, sizeof(*unpacking.texts))),
	};
	const char *wrong =
		unpack_types(&unpacking) ?: unpack_objects(&unpacking) ?:
		unpack_places(&unpacking) ?: unpack_rest(&unpacking) ?: samples_unpack(&unpacking);
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
	const struct wire all = { bytes, bytes + length };
	unsigned char *rest = allocated(malloc(length + 1));
	const char *wrong = "its bytes are no messages of pprof";
	struct limited limited;
	Pb__Profile *in = NULL;

	limited_init(&limited);
	if (samples_apart(all, rest, &length))
		in = pb__profile__unpack(&limited.allocator, length, rest);
	if (in)
		wrong = unpack(profile, in, all);
	limited_free(&limited);
	free(rest);
	return wrong;
}
