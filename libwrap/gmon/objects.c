// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* What is mapped, and what was: histograms for it. */
#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include "gmon.h"

#define OBJECTS_MAX	4096	/* as many as one START takes */
#define ALIGNMENT	16	/* then scale and ratio of a histogram are exact */

/* How far the search for changes has come. */
struct finding {
	struct libprofil_profile *profile;
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

	*object = (struct libprofil_object) { .base = info->dlpi_addr };
	snprintf(object->name, sizeof(object->name), "%s",
		 slash ? slash + 1 : info->dlpi_name);
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

/* One that comes back to the same place goes on; others of its name are numbered. */
static struct libprofil_object *find(struct libprofil_profile *profile,
				     struct libprofil_object *like)
{
	for (size_t i = 1; i < profile->num; i++) {
		if (is_same(&profile->objects[i], like))
			return &profile->objects[i];
		like->number += !strcmp(profile->objects[i].name, like->name);
	}
	return NULL;
}

static void add(struct finding *finding, struct libprofil_object *object)
{
	struct libprofil_profile *profile = finding->profile;

	if (object->low >= object->high || profile->num == OBJECTS_MAX)
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

/* The program comes first, and may have said itself what its code is. */
static void see_program(struct finding *finding, struct libprofil_object *object)
{
	struct libprofil_profile *profile = finding->profile;

	finding->program_seen = true;
	if (profile->num) {
		profile->objects->seen = true;
		return;
	}
	if (profile->high) {
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
	known = find(finding->profile, &object);
	if (!known) {
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
	void *objects = mmap(NULL, OBJECTS_MAX * sizeof(*profile->objects),
			     PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (objects != MAP_FAILED)
		profile->objects = objects;
	return profile->objects;
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
