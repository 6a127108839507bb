// SPDX-License-Identifier: GPL-2.0-only
/* From a profile to the messages of profile.proto. */
#define _GNU_SOURCE
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "comments.h"
#include "kernel.h"
#include "obstacks.h"
#include "order.h"
#include "pack.h"
#include "profile.pb-c.h"
#include "say.h"
#include "texts.h"

enum { VALUES = 4, LABELS = 6 };

/* A name that several places have. */
struct function {
	const char *name;
	const char *symbol;
	const char *source;
};

struct packing {
	struct profile *profile;
	Pb__Profile out;
	struct obstack memory;
	struct texts texts;
	size_t room_comments;
	struct function *functions;
	size_t num_functions;
};

static void *room(struct packing *packing, size_t num, size_t size)
{
	void *memory;

	/* a length is an int there */
	if (num > INT_MAX / size)
		die("so many places are too much for one file; export fewer files at a time");
	memory = obstack_alloc(&packing->memory, num * size);
	return memset(memory, 0, num * size);
}

/* A message, as the function init leaves it. */
#define NEW(packing, type, init) ({			\
	type *_new = room(packing, 1, sizeof(type));	\
	init(_new);					\
	_new;						\
})

static int64_t text(struct packing *packing, const char *s)
{
	return texts_index(&packing->texts, s);
}

static int64_t word(struct packing *packing, const char *s)
{
	return text(packing, profile_string(packing->profile, s));
}

static int64_t value(uint64_t n)
{
	return n > INT64_MAX ? INT64_MAX : n;
}

static void pack_types(struct packing *packing)
{
	static const char *const types[VALUES][2] = {
		{ "samples", "count" }, { "cpu", "nanoseconds" },
		{ "user", "nanoseconds" }, { "system", "nanoseconds" },
	};
	const struct profile *profile = packing->profile;
	Pb__Profile *out = &packing->out;

	out->n_sample_type = VALUES;
	out->sample_type = room(packing, VALUES, sizeof(*out->sample_type));
	for (int i = 0; i < VALUES; i++) {
		out->sample_type[i] = NEW(packing, Pb__ValueType, pb__value_type__init);
		out->sample_type[i]->type = word(packing, types[i][0]);
		out->sample_type[i]->unit = word(packing, types[i][1]);
	}
	out->period_type = out->sample_type[1];
	out->default_sample_type = out->period_type->type;
	out->period = value(profile->period_ns);
	out->time_nanos = value(profile->time_ns);
	out->duration_nanos = value(profile->duration_ns);
}

static Pb__Mapping *pack_object(struct packing *packing, size_t i)
{
	const struct object *object = &packing->profile->objects[i];
	Pb__Mapping *mapping = NEW(packing, Pb__Mapping, pb__mapping__init);

	mapping->id = i + 1;
	mapping->memory_start = object->start;
	mapping->memory_limit = object->limit;
	mapping->file_offset = object->offset;
	mapping->filename = strcmp(object->file, KERNEL_NAME) ? text(packing, object->file) :
		word(packing, KERNEL_NAME_PPROF);
	mapping->build_id = text(packing, object->build_id);
	/* pprof would look for names itself, and find fewer */
	mapping->has_functions = true;
	mapping->has_filenames = true;
	mapping->has_line_numbers = true;
	return mapping;
}

static int by_function(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return compare_texts(x->name, y->name) ?: compare_texts(x->symbol, y->symbol) ?:
		compare_texts(x->source, y->source);
}

static struct function function_of(const struct place *place)
{
	return (struct function) { place->function, place->symbol, place->source };
}

static void find_functions(struct packing *packing)
{
	const struct profile *profile = packing->profile;
	struct function *functions = room(packing, profile->num_places, sizeof(*functions));
	size_t num = 0, n = 0;

	for (size_t i = 0; i < profile->num_places; i++)
		if (profile->places[i].function[0])
			functions[num++] = function_of(&profile->places[i]);
	qsort(functions, num, sizeof(*functions), by_function);
	for (size_t i = 0; i < num; i++)
		if (!n || by_function(&functions[n - 1], &functions[i]))
			functions[n++] = functions[i];
	packing->functions = functions;
	packing->num_functions = n;
}

static Pb__Function *pack_function(struct packing *packing, size_t i)
{
	Pb__Function *function = NEW(packing, Pb__Function, pb__function__init);

	function->id = i + 1;
	function->name = text(packing, packing->functions[i].name);
	function->system_name = text(packing, packing->functions[i].symbol);
	function->filename = text(packing, packing->functions[i].source);
	return function;
}

static Pb__Location *pack_place(struct packing *packing, size_t i)
{
	const struct place *place = &packing->profile->places[i];
	Pb__Location *location = NEW(packing, Pb__Location, pb__location__init);
	struct function function = function_of(place), *found;

	location->id = i + 1;
	location->mapping_id = place->object + 1;
	location->address = place->address;
	if (!place->function[0])
		return location;
	found = bsearch(&function, packing->functions, packing->num_functions, sizeof(function),
			by_function);
	location->n_line = 1;
	location->line = room(packing, 1, sizeof(*location->line));
	location->line[0] = NEW(packing, Pb__Line, pb__line__init);
	location->line[0]->function_id = found - packing->functions + 1;
	location->line[0]->line = value(place->line);
	return location;
}

static Pb__Label *add_label(struct packing *packing, Pb__Sample *sample, const char *key)
{
	Pb__Label *label = NEW(packing, Pb__Label, pb__label__init);

	label->key = word(packing, key);
	sample->label[sample->n_label++] = label;
	return label;
}

/* pprof has no label of the number 0: that is why slices of time are known by their end. */
static void pack_labels(struct packing *packing, const struct sample *from, Pb__Sample *sample)
{
	sample->label = room(packing, LABELS, sizeof(*sample->label));
	if (from->pid)
		add_label(packing, sample, "pid")->num = from->pid;
	if (from->program[0])
		add_label(packing, sample, "program")->str = text(packing, from->program);
	if (from->unit[0])
		add_label(packing, sample, "unit")->str = text(packing, from->unit);
	if (from->container[0])
		add_label(packing, sample, "container")->str = text(packing, from->container);
	if (packing->profile->num_runs > 1)
		add_label(packing, sample, "run")->num = from->run + 1;
	if (from->at_ns) {
		Pb__Label *at = add_label(packing, sample, "at");

		at->num = value(from->at_ns / NS_OF_MS);
		at->num_unit = word(packing, "milliseconds");
	}
}

static Pb__Sample *pack_sample(struct packing *packing, size_t i)
{
	const struct sample *from = &packing->profile->samples[i];
	Pb__Sample *sample = NEW(packing, Pb__Sample, pb__sample__init);

	sample->n_location_id = 1;
	sample->location_id = room(packing, 1, sizeof(*sample->location_id));
	sample->location_id[0] = from->place + 1;
	sample->n_value = VALUES;
	sample->value = room(packing, VALUES, sizeof(*sample->value));
	sample->value[0] = value(from->samples);
	sample->value[1] = value(from->cpu_ns);
	sample->value[2] = value(from->user_ns);
	sample->value[3] = value(from->system_ns);
	pack_labels(packing, from, sample);
	return sample;
}

static void pack_comment(void *data, const char *comment)
{
	struct packing *packing = data;
	Pb__Profile *out = &packing->out;

	out->comment = more(out->comment, &packing->room_comments, out->n_comment,
			    sizeof(*out->comment));
	out->comment[out->n_comment++] = word(packing, comment);
}

/* A repeated field of the file: so many, each made by a function. */
#define PACK(packing, field, num, pack) do {						\
	(packing)->out.n_##field = (num);						\
	(packing)->out.field = room(packing, num, sizeof(*(packing)->out.field));	\
	for (size_t _i = 0; _i < (num); _i++)						\
		(packing)->out.field[_i] = pack(packing, _i);				\
} while (0)

static void pack_texts(struct packing *packing)
{
	const struct texts *texts = &packing->texts;
	ProtobufCBinaryData *list = room(packing, texts->num, sizeof(*list));

	for (size_t i = 0; i < texts->num; i++) {
		list[i].len = strlen(texts->list[i]);
		list[i].data = (uint8_t *)texts->list[i];
	}
	packing->out.n_string_table = texts->num;
	packing->out.string_table = list;
}

unsigned char *profile_pack(struct profile *profile, size_t *length)
{
	struct packing packing = { .profile = profile };
	unsigned char *bytes;

	profile_order(profile);
	obstacks_init();
	obstack_init(&packing.memory);
	pb__profile__init(&packing.out);
	word(&packing, "");
	pack_types(&packing);
	find_functions(&packing);
	PACK(&packing, mapping, profile->num_objects, pack_object);
	PACK(&packing, function, packing.num_functions, pack_function);
	PACK(&packing, location, profile->num_places, pack_place);
	PACK(&packing, sample, profile->num_samples, pack_sample);
	comments_write(profile, pack_comment, &packing);
	pack_texts(&packing);
	bytes = allocated(malloc(pb__profile__get_packed_size(&packing.out) + 1));
	*length = pb__profile__pack(&packing.out, bytes);
	free(packing.out.comment);
	texts_free(&packing.texts);
	obstack_free(&packing.memory, NULL);
	return bytes;
}
