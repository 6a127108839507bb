// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* What is mapped, and what was: histograms for it. */
#define _GNU_SOURCE
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include "gmon.h"

#define OBJECTS_FEW	8	/* for which no memory is needed */
#define ROOM		(256 * 1024)	/* bytes that are left beside a histogram */
#define ROOM_PROGRAM	(32 * 1024)
#define ALIGNMENT	16	/* then scale and ratio of a histogram are exact */

/* How far the search for changes has come. */
struct finding {
	struct libprofil_profile *profile;
	size_t next;		/* object, if there is no new one */
	bool by_kernel, program_seen, changed;
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

/* The name may be that of a link to the file, or of a file that is gone. */
static bool is_same(const struct libprofil_object *known, const struct libprofil_object *like)
{
	return known->base == like->base && known->low == like->low &&
	       known->high == like->high &&
	       (!strcmp(known->name, like->name) ||
		((known->by_kernel || like->by_kernel) && known->mapped));
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

/* Much of a limit on memory is left to the program: to its tables of calls, and to itself. */
static bool is_room(size_t bytes)
{
	struct rlimit data;
	int prot = PROT_NONE;
	void *memory;

	/* What cannot be written is not data, but also not made to be there by mlockall(). */
	if (!getrlimit(RLIMIT_DATA, &data) && data.rlim_cur != RLIM_INFINITY)
		prot = PROT_READ | PROT_WRITE;
	memory = mmap(NULL, bytes, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return false;
	munmap(memory, bytes);
	return true;
}

static void map_counts(struct libprofil_object *object, unsigned int shift, size_t room)
{
	size_t bytes;

	object->shift = shift;
	bytes = libprofil_object_bins(object) * sizeof(uint32_t);
	if (!room || is_room(room + 4 * bytes))
		object->counts = libprofil_map_zero(bytes);
}

/* As small bins as there is memory for; the program has some if there is any. */
static void find_memory(struct libprofil_object *object, bool program, bool small)
{
	static const unsigned char shifts[] = { 0, 1, LIBPROFIL_SHIFT_SMALL, 5, 7 };

	for (size_t i = 0; i < sizeof(shifts) && !object->counts; i++)
		if (program || !small || shifts[i] >= LIBPROFIL_SHIFT_SMALL)
			map_counts(object, shifts[i], program ? ROOM_PROGRAM : ROOM);
	if (program && !object->counts)
		map_counts(object, object->shift, 0);
}

/*
 * Memory may run out, but not of the program: it is one of the few.  A child that is forked
 * meanwhile has all objects at any moment: so the old ones go last.
 */
static bool grow(struct libprofil_profile *profile)
{
	static struct libprofil_object few[OBJECTS_FEW];
	struct libprofil_object *old = profile->objects;
	size_t bytes = profile->room * sizeof(*few);
	void *more = few;

	if (profile->room)
		more = mmap(NULL, 2 * bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (more == MAP_FAILED)
		return false;
	if (profile->room)
		memcpy(more, old, bytes);
	__atomic_store_n(&profile->objects, more, __ATOMIC_RELEASE);
	__atomic_store_n(&profile->room, profile->room ? 2 * profile->room : OBJECTS_FEW,
			 __ATOMIC_RELEASE);
	if (profile->room > 2 * OBJECTS_FEW)
		munmap(old, bytes);
	return true;
}

static void add(struct finding *finding, struct libprofil_object *object)
{
	struct libprofil_profile *profile = finding->profile;

	if (object->low >= object->high || (profile->num == profile->room && !grow(profile)))
		return;
	find_memory(object, !profile->num, profile->small);
	object->mapped = true;
	object->seen = true;
	profile->objects[profile->num] = *object;
	__atomic_store_n(&profile->num, profile->num + 1, __ATOMIC_RELEASE);
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
	object.by_kernel = finding->by_kernel;
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

static bool look_for_lock(void *arg, const char *name, uintptr_t *place)
{
	bool *locks = arg;

	(void)place;
	*locks = !strcmp(name, "mlockall");
	return !*locks;
}

static int look_at_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	bool *locks = arg;

	(void)size;
	libprofil_needed_each(info, look_for_lock, locks);
	return *locks;
}

/**
 * libprofil_objects_locked() - Whether the program may lock all of its memory
 *
 * Such a one has a limit for all that is mapped, and all of it is used.
 *
 * Context: libprofil_loaded_each() may be called.
 */
bool libprofil_objects_locked(void)
{
	bool locks = false;

	return libprofil_loaded_each(look_at_object, &locks);
}

/**
 * libprofil_objects_find() - Find what was mapped, and what was unmapped
 * @profile: Objects, or none, and the lock held
 * @by_kernel: Without a lock of the C library
 *
 * Context: libprofil_loaded_each() may be called, or @by_kernel.
 * Return: Whether there was any.
 */
bool libprofil_objects_find(struct libprofil_profile *profile, bool by_kernel)
{
	struct finding finding = { .profile = profile, .by_kernel = by_kernel };

	for (size_t i = 0; i < profile->num; i++)
		profile->objects[i].seen = false;
	if (by_kernel)
		libprofil_loaded_each_unlocked(see, &finding);
	else
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
