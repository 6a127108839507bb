// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Calls by object.  The tables have addresses alone: when an object is unmapped,
 * its calls are kept apart, for other code may come to the same place.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include "block.h"
#include "gmon.h"

#define SAVED_MIN	64	/* entries at first */

static bool is_of(const struct libprofil_arc *arc, const struct libprofil_object *object)
{
	uintptr_t at = arc->self == BLOCK_SELF ? arc->from : arc->self;

	return at >= object->low && at < object->high;
}

/* The entry of an arc, or a free one for it: half of them are. */
static struct libprofil_arc *search(const struct libprofil_saved *saved,
				    uintptr_t self, uintptr_t from)
{
	size_t i = (from * ARCS_HASH + self) / ARC_BYTES;

	for (;; i++) {
		struct libprofil_arc *arc = &saved->first[i & (saved->room - 1)];

		if (!arc->self || (arc->self == self && arc->from == from))
			return arc;
	}
}

/*
 * Not at the place that the object has just left: then it would come back to
 * another one, and have another file.
 */
static void *map_elsewhere(const struct libprofil_object *object, size_t bytes)
{
	size_t left = object->end - object->begin;
	void *place = mmap((void *)object->begin, left, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
			   MAP_FIXED_NOREPLACE, -1, 0);
	void *memory = libprofil_map_zero(bytes);

	if (place != MAP_FAILED)
		munmap(place, left);
	return memory;
}

/*
 * A child that is forked meanwhile has at any moment memory of that room or more, which
 * is empty: so the old one goes last.
 */
static bool grow(struct libprofil_object *object)
{
	struct libprofil_saved old = object->saved;
	struct libprofil_saved saved = { .room = old.room ? 2 * old.room : SAVED_MIN };

	saved.first = map_elsewhere(object, saved.room * sizeof(*saved.first));
	if (!saved.first)
		return false;
	for (size_t i = 0; i < old.room; i++) {
		if (!old.first[i].self)
			continue;
		*search(&saved, old.first[i].self, old.first[i].from) = old.first[i];
		saved.num++;
	}
	object->saved.num = saved.num;
	__atomic_store_n(&object->saved.first, saved.first, __ATOMIC_RELEASE);
	__atomic_store_n(&object->saved.room, saved.room, __ATOMIC_RELEASE);
	if (old.room)
		munmap(old.first, old.room * sizeof(*old.first));
	return true;
}

static bool keep_arc(void *arg, struct libprofil_arc *arc)
{
	struct libprofil_object *object = arg;
	uintptr_t count = atomic_load(&arc->count) - arc->written;
	struct libprofil_arc *saved;

	if (!count || !is_of(arc, object))
		return true;
	if (object->saved.num >= object->saved.room / 2 && !grow(object))
		return false;
	saved = search(&object->saved, arc->self, arc->from);
	if (!saved->self) {
		saved->self = arc->self;
		saved->from = arc->from;
		object->saved.num++;
	}
	saved->count += count;
	arc->written += count;
	return true;
}

/**
 * libprofil_object_close() - Keep the calls of what is mapped no more
 * @object: Whose code does not run now
 *
 * Without memory they stay in the tables, and are lost.
 */
void libprofil_object_close(struct libprofil_object *object)
{
	object->mapped = false;
	libprofil_arcs_each(keep_arc, object);
}

/* Of an object, for @each of libprofil_object_arcs(). */
struct part {
	const struct libprofil_object *object;
	libprofil_arcs_fn *each;
	void *arg;
};

static bool if_of(void *arg, struct libprofil_arc *arc)
{
	const struct part *part = arg;

	return !is_of(arc, part->object) || part->each(part->arg, arc);
}

/**
 * libprofil_object_arcs() - Read all calls of an object's functions, and its blocks
 * @object: What is, or was, mapped
 * @each: Called for each, until it returns false
 * @arg: For @each
 *
 * Return: Whether @each was called for all.
 */
bool libprofil_object_arcs(const struct libprofil_object *object,
			   libprofil_arcs_fn *each, void *arg)
{
	struct part part = { object, each, arg };

	for (size_t i = 0; i < object->saved.room; i++)
		if (object->saved.first[i].self && !each(arg, &object->saved.first[i]))
			return false;
	return !object->mapped || libprofil_arcs_each(if_of, &part);
}
