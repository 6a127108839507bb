// SPDX-License-Identifier: GPL-2.0-only
/* A profile in memory. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
/* which does not include what it needs */
#include <libiberty/hashtab.h>
#include "profile.h"
#include "say.h"

const char *const count_names[COUNTS] = {
	"ticks", "in_slots", "exec", "full", "not_due",
	"full_objects", "hinted", "borrowed", "execs_denied", "forks_missed",
	"charged_user_ns", "charged_system_ns",
	"idle", "kthreads", "interrupts", "placed", "cpus_ns",
};

void profile_init(struct profile *profile)
{
	memset(profile, 0, sizeof(*profile));
	profile->command = profile_string(profile, "");
}

void profile_free(struct profile *profile)
{
	if (profile->texts)
		htab_delete(profile->texts);
	free(profile->objects);
	free(profile->places);
	free(profile->samples);
	free(profile->runs);
	free(profile->processes);
	free(profile->facts);
}

/* Texts come from others, who are not to know which of them are in each other's way. */
static hashval_t hash_text(const void *text)
{
	static hashval_t secret;

	if (!secret && getrandom(&secret, sizeof(secret), GRND_NONBLOCK) != sizeof(secret))
		secret = (uintptr_t)&text >> 4;
	return iterative_hash(text, strlen(text), secret);
}

static int is_text(const void *a, const void *b)
{
	return !strcmp(a, b);
}

const char *profile_text(struct profile *profile, const char *text, size_t length)
{
	static char buffer[4 * PROFILE_TEXT_MAX + 1];
	void **found;

	length = printable(buffer, text, length < PROFILE_TEXT_MAX ? length : PROFILE_TEXT_MAX);
	/* not in the middle of a character, or a second look would change the text */
	if (length > PROFILE_TEXT_MAX) {
		length = PROFILE_TEXT_MAX;
		while ((buffer[length] & 0xc0) == 0x80)
			length--;
		buffer[length] = '\0';
	}
	if (!profile->texts)
		profile->texts = htab_create(1024, hash_text, is_text, free);
	found = htab_find_slot(profile->texts, buffer, INSERT);
	if (!*found) {
		*found = allocated(strdup(buffer));
		profile->texts_size += length + 1;
	}
	return *found;
}

const char *profile_string(struct profile *profile, const char *text)
{
	return profile_text(profile, text, strlen(text));
}

size_t profile_add_object(struct profile *profile, struct object object)
{
	profile->objects = more(profile->objects, &profile->room_objects, profile->num_objects,
				sizeof(object));
	profile->objects[profile->num_objects] = object;
	return profile->num_objects++;
}

size_t profile_add_place(struct profile *profile, struct place place)
{
	profile->places = more(profile->places, &profile->room_places, profile->num_places,
			       sizeof(place));
	profile->places[profile->num_places] = place;
	return profile->num_places++;
}

void profile_add_sample(struct profile *profile, struct sample sample)
{
	if (!sample.unit)
		sample.unit = profile_string(profile, "");
	if (!sample.container)
		sample.container = profile_string(profile, "");
	profile->samples = more(profile->samples, &profile->room_samples, profile->num_samples,
				sizeof(sample));
	profile->samples[profile->num_samples++] = sample;
}

void profile_add_run(struct profile *profile, struct run run)
{
	profile->runs = more(profile->runs, &profile->room_runs, profile->num_runs, sizeof(run));
	profile->runs[profile->num_runs++] = run;
}

void profile_add_process(struct profile *profile, struct process process)
{
	if (!process.unit)
		process.unit = profile_string(profile, "");
	if (!process.container)
		process.container = profile_string(profile, "");
	profile->processes = more(profile->processes, &profile->room_processes,
				  profile->num_processes, sizeof(process));
	profile->processes[profile->num_processes++] = process;
}

void profile_add_fact(struct profile *profile, const char *fact)
{
	profile->facts = more(profile->facts, &profile->room_facts, profile->num_facts,
			      sizeof(*profile->facts));
	profile->facts[profile->num_facts++] = profile_string(profile, fact);
}

const char *last_part(const char *file)
{
	const char *slash = file[0] == '[' ? NULL : strrchr(file, '/');

	return slash && slash[1] ? slash + 1 : file;
}

const char *object_name(const struct object *object)
{
	return last_part(object->file);
}

size_t file_length(const char *file)
{
	static const char deleted[] = " (deleted)";
	size_t length = strlen(file), tail = strlen(deleted);

	return length > tail && !strcmp(file + length - tail, deleted) ? length - tail : length;
}

const char *place_name(struct profile *profile, const struct place *place)
{
	const char *object = object_name(&profile->objects[place->object]);
	const char *name;
	char *text;

	if (place->function[0])
		return place->function;
	/* what is no file has them already */
	if (object[0] == '[')
		return object;
	if (asprintf(&text, "[%s]", object) < 0)
		allocated(NULL);
	name = profile_string(profile, text);
	free(text);
	return name;
}

static const char elsewhere[] = "[elsewhere in ";

const char *profile_elsewhere(struct profile *profile, const char *file)
{
	const char *name = last_part(file);
	size_t brackets = name[0] == '[', length = strlen(name);
	const char *made;
	char *text;

	if (asprintf(&text, "%s%.*s]", elsewhere, (int)(length - 2 * brackets),
		     name + brackets) < 0)
		allocated(NULL);
	made = profile_string(profile, text);
	free(text);
	return made;
}

bool is_elsewhere(const char *function)
{
	return !strncmp(function, elsewhere, strlen(elsewhere));
}

bool is_named(const struct place *place)
{
	return place->function[0] && place->function[0] != '[' &&
		strncmp(place->function, "fn@", 3);
}
