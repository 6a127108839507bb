// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* What is mapped, and what was: histograms for it. */
#define _GNU_SOURCE
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include "gmon.h"

#define OBJECTS_FIRST	4096	/* for so many there is room at first */
#define ALIGNMENT	16	/* then scale and ratio of a histogram are exact */

/* How far the search for changes has come. */
struct finding {
	struct libprofil_profile *profile;
	size_t next;		/* object, if there is no new one */
	bool program_seen, changed;
};

static void widen(uintptr_t *low, uintptr_t *high, uintptr_t begin, uintptr_t end)
{
	if (begin < *low)
		*low = begin;
	if (end > *high)
		*high = end;
}

static void span(const struct dl_phdr_info *info, struct libprofil_object *object)
{
	object->begin = UINTPTR_MAX;
	object->end = 0;
	object->low = UINTPTR_MAX;
	object->high = 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];
		uintptr_t begin = info->dlpi_addr + phdr->p_vaddr;

		if (phdr->p_type != PT_LOAD)
			continue;
		widen(&object->begin, &object->end, begin, begin + phdr->p_memsz);
		if (phdr->p_flags & PF_X)
			widen(&object->low, &object->high, begin, begin + phdr->p_memsz);
	}
}

/* Without its folder, for that is what its file is called; the program has none. */
static void describe(struct dl_phdr_info *info, struct libprofil_object *object)
{
	const char *slash = strrchr(info->dlpi_name, '/');
	const char *name = slash ? slash + 1 : info->dlpi_name;

	*object = (struct libprofil_object) { .base = info->dlpi_addr };
	memcpy(object->name, name, strnlen(name, sizeof(object->name) - 1));
	span(info, object);
}

static void align(struct libprofil_object *object)
{
	object->low &= -ALIGNMENT;
	object->high = (object->high + ALIGNMENT - 1) & -ALIGNMENT;
}

/* In a forked child @like has the name of the file itself, and no link's to it. */
static bool is_same(const struct libprofil_object *known, const struct libprofil_object *like)
{
	return known->base == like->base && known->low == like->low &&
	       known->high == like->high &&
	       (!strcmp(known->name, like->name) || (libprofil_forked && known->mapped));
}

/*
 * One that comes back to the same place goes on.  Most are where they were in the order,
 * behind the one before: then it is found at once.
 */
static struct libprofil_object *find(struct finding *finding,
				     const struct libprofil_object *like)
{
	struct libprofil_profile *profile = finding->profile;

	for (size_t i = 0; i < profile->num; i++) {
		size_t at = (finding->next + i) % profile->num;

		if (at && is_same(&profile->objects[at], like)) {
			finding->next = at + 1;
			return &profile->objects[at];
		}
	}
	return NULL;
}

static unsigned int same_name(const struct libprofil_profile *profile, const char *name)
{
	unsigned int number = 0;

	for (size_t i = 1; i < profile->num; i++)
		number += !strcmp(profile->objects[i].name, name);
	return number;
}

static bool grow(struct libprofil_profile *profile)
{
	size_t bytes = profile->room * sizeof(*profile->objects);
	void *more = mremap(profile->objects, bytes, 2 * bytes, MREMAP_MAYMOVE);

	if (more == MAP_FAILED)
		return false;
	profile->objects = more;
	profile->room *= 2;
	return true;
}

static void add(struct finding *finding, struct libprofil_object *object)
{
	struct libprofil_profile *profile = finding->profile;

	if (object->low >= object->high || (profile->num == profile->room && !grow(profile)))
		return;
	object->counts = libprofil_map_zero((object->high - object->low) / 2 *
					    sizeof(uint32_t));
	if (!object->counts)
		return;
	object->mapped = true;
	object->seen = true;
	profile->objects[profile->num++] = *object;
	finding->changed = true;
}

/*
 * If it names the beginning of its code, that is the start-up file, which believes that
 * there is none beyond etext.
 */
static bool names_part(const struct libprofil_profile *profile)
{
	uintptr_t entry = getauxval(AT_ENTRY);

	return profile->high && (entry < profile->low || entry >= profile->high);
}

/* The program comes first, and may have said itself which part of its code is meant. */
static void see_program(struct finding *finding, struct libprofil_object *object)
{
	struct libprofil_profile *profile = finding->profile;

	finding->program_seen = true;
	if (profile->num) {
		profile->objects->seen = true;
		return;
	}
	if (names_part(profile)) {
		object->low = profile->low;
		object->high = profile->high;
	}
	*object->name = 0;
	align(object);
	add(finding, object);
}

static int see(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct finding *finding = arg;
	struct libprofil_object object, *known;

	(void)size;
	describe(info, &object);
	if (!finding->program_seen) {
		see_program(finding, &object);
		return 0;
	}
	align(&object);
	known = find(finding, &object);
	if (!known) {
		object.number = same_name(finding->profile, object.name);
		add(finding, &object);
		return 0;
	}
	finding->changed |= !known->mapped;
	known->mapped = true;
	known->seen = true;
	return 0;
}

static bool map_objects(struct libprofil_profile *profile)
{
	void *objects = mmap(NULL, OBJECTS_FIRST * sizeof(*profile->objects),
			     PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (objects == MAP_FAILED)
		return false;
	profile->objects = objects;
	profile->room = OBJECTS_FIRST;
	return true;
}

/**
 * libprofil_objects_find() - Find what was mapped, and what was unmapped
 * @profile: Objects, or none, and the lock held
 *
 * Context: libprofil_loaded_each() may be called.
 * Return: Whether there was any.
 */
bool libprofil_objects_find(struct libprofil_profile *profile)
{
	struct finding finding = { .profile = profile };

	if (!profile->objects && !map_objects(profile))
		return false;
	for (size_t i = 0; i < profile->num; i++)
		profile->objects[i].seen = false;
	libprofil_loaded_each(see, &finding);
	/* It cannot be known what there is. */
	if (!finding.program_seen)
		return false;
	for (size_t i = 1; i < profile->num; i++)
		if (profile->objects[i].mapped && !profile->objects[i].seen) {
			libprofil_object_close(&profile->objects[i]);
			finding.changed = true;
		}
	return finding.changed;
}
