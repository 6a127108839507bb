// SPDX-License-Identifier: GPL-2.0-only
/* The samples of a file, from its bytes to a profile. */
#include <string.h>
#include "unpacking.h"

#define SAMPLE WIRE_KEY(2, WIRE_BYTES)	/* of message Profile in profile.proto */

static const char no_messages[] = "its bytes are no messages of pprof";

/* The texts that labels have, each at its one address. */
struct words {
	const char *none, *pid, *program, *unit, *container, *run, *at, *milliseconds;
};

/* What of a sample is found before it is known to be whole. */
struct found {
	struct sample sample;
	int64_t run;
	uint64_t location;	/* of the innermost function: the first one */
	uint64_t values[TYPES_MAX];
	size_t num_values;
	bool negative;
};

bool samples_apart(struct wire all, unsigned char *rest, size_t *length)
{
	*length = 0;
	while (wire_left(&all)) {
		const unsigned char *begin = all.next;
		struct field field;

		if (!wire_field(&all, &field))
			return false;
		if (field.key == SAMPLE)
			continue;
		memcpy(rest + *length, begin, all.next - begin);
		*length += all.next - begin;
	}
	return true;
}

static void use_label(const struct words *words, const char *key, const char *str,
		      const char *unit, int64_t num, struct found *found)
{
	struct sample *sample = &found->sample;

	if (key == words->at && unit == words->milliseconds && num > 0 &&
	    num <= INT64_MAX / NS_OF_MS)
		sample->at_ns = num * NS_OF_MS;
	else if (key == words->pid)
		sample->pid = num;
	else if (key == words->program)
		sample->program = str;
	else if (key == words->unit)
		sample->unit = str;
	else if (key == words->container)
		sample->container = str;
	else if (key == words->run)
		found->run = num;
}

/* Its key, its text, its number, and what that counts. */
static const char *read_label(struct unpacking *unpacking, const struct words *words,
			      struct wire label, struct found *found)
{
	uint64_t numbers[5] = { 0 };
	const char *key, *str, *unit;

	while (wire_left(&label)) {
		struct field field;

		if (!wire_field(&label, &field))
			return no_messages;
		if (field.key % 8 == WIRE_NUMBER && field.key / 8 < 5)
			numbers[field.key / 8] = field.number;
	}
	key = unpacking_text(unpacking, numbers[1]);
	str = unpacking_text(unpacking, numbers[2]);
	unit = unpacking_text(unpacking, numbers[4]);
	if (!key || !str || !unit)
		return "a label names a text that is not there";
	use_label(words, key, str, unit, numbers[3], found);
	return NULL;
}

static void take_value(struct found *found, uint64_t value)
{
	found->negative = found->negative || value > INT64_MAX;
	if (found->num_values < TYPES_MAX)
		found->values[found->num_values] = value;
	found->num_values++;
}

/* Numbers come one by one, or several at once. */
static const char *read_numbers(struct field *field, struct found *found)
{
	uint64_t number = field->number;

	if (field->key == WIRE_KEY(1, WIRE_NUMBER)) {
		found->location = found->location ?: number;
	} else if (field->key == WIRE_KEY(2, WIRE_NUMBER)) {
		take_value(found, number);
	} else if (field->key == WIRE_KEY(1, WIRE_BYTES) ||
		   field->key == WIRE_KEY(2, WIRE_BYTES)) {
		while (wire_left(&field->bytes)) {
			if (!wire_number(&field->bytes, &number))
				return no_messages;
			if (field->key == WIRE_KEY(2, WIRE_BYTES))
				take_value(found, number);
			else
				found->location = found->location ?: number;
		}
	}
	return NULL;
}

static const char *read_sample(struct unpacking *unpacking, const struct words *words,
			       struct wire bytes, struct found *found)
{
	const char *wrong = NULL;

	while (wire_left(&bytes) && !wrong) {
		struct field field;

		if (!wire_field(&bytes, &field))
			return no_messages;
		wrong = field.key == WIRE_KEY(3, WIRE_BYTES) ?
			read_label(unpacking, words, field.bytes, found) :
			read_numbers(&field, found);
	}
	return wrong;
}

static const char *add_sample(struct unpacking *unpacking, struct found *found)
{
	struct profile *profile = unpacking->profile;
	struct sample *sample = &found->sample;
	const int *values = unpacking->values;
	size_t index;

	if (found->run < 1 || (uint64_t)found->run > profile->num_runs - unpacking->first_run)
		return "a sample is of a run that is not there";
	if (found->num_values != unpacking->in->n_sample_type)
		return "a sample has more or fewer values than there are types";
	if (found->negative)
		return "a sample has a negative value";
	if (!ids_find(&unpacking->places, found->location, &index))
		return "a sample names a location that is not there";
	sample->run = unpacking->first_run + found->run - 1;
	sample->place = unpacking->place_index[index];
	sample->samples = found->values[values[SAMPLES]];
	sample->cpu_ns = found->values[values[CPU]];
	sample->user_ns = found->values[values[values[USER] < 0 ? CPU : USER]];
	sample->system_ns = values[SYSTEM] < 0 ? 0 : found->values[values[SYSTEM]];
	profile_add_sample(profile, *sample);
	return NULL;
}

const char *samples_unpack(struct unpacking *unpacking)
{
	struct profile *profile = unpacking->profile;
	const struct words words = {
		profile_string(profile, ""), profile_string(profile, "pid"),
		profile_string(profile, "program"), profile_string(profile, "unit"),
		profile_string(profile, "container"), profile_string(profile, "run"),
		profile_string(profile, "at"), profile_string(profile, "milliseconds"),
	};
	struct wire all = unpacking->all;
	const char *wrong = NULL;
	struct field field;

	while (wire_left(&all) && !wrong) {
		struct found found = { .run = 1 };

		if (!wire_field(&all, &field))
			return no_messages;
		if (field.key != SAMPLE)
			continue;
		found.sample.program = words.none;
		found.sample.unit = words.none;
		found.sample.container = words.none;
		wrong = read_sample(unpacking, &words, field.bytes, &found) ?:
			add_sample(unpacking, &found);
	}
	return wrong;
}
