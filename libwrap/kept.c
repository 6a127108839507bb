// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Calls by object.  The tables have addresses alone: when an object is unmapped,
 * its calls are kept apart, for other code may come to the same place.
 */
#include <string.h>
#include <sys/mman.h>
#include "gmon.h"

struct keeping {
	const struct libprofil_object *object;
	struct libprofil_arc *kept;
	size_t num, room;
};

static bool is_of(const struct libprofil_arc *arc, const struct libprofil_object *object)
{
	return arc->self >= object->low && arc->self < object->high;
}

static bool count_arc(void *arg, struct libprofil_arc *arc)
{
	struct keeping *keeping = arg;

	keeping->room += is_of(arc, keeping->object);
	return true;
}

static bool keep_arc(void *arg, struct libprofil_arc *arc)
{
	struct keeping *keeping = arg;
	struct libprofil_arc *kept = &keeping->kept[keeping->num];
	uintptr_t count = atomic_load(&arc->count) - arc->told;

	if (!count || !is_of(arc, keeping->object))
		return true;
	if (keeping->num == keeping->room)
		return false;
	arc->told += count;
	kept->self = arc->self;
	kept->from = arc->from;
	kept->count = count;
	keeping->num++;
	return true;
}

/* Those kept before, too. */
static bool make_room(struct keeping *keeping)
{
	const struct libprofil_object *object = keeping->object;
	size_t bytes;

	libprofil_arcs_each(count_arc, keeping);
	if (!keeping->room)
		return false;
	keeping->room += object->kept_num;
	bytes = keeping->room * sizeof(*keeping->kept);
	keeping->kept = libprofil_map_zero(bytes);
	if (!keeping->kept)
		return false;
	if (object->kept_num)
		memcpy(keeping->kept, object->kept, object->kept_num * sizeof(*object->kept));
	keeping->num = object->kept_num;
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
	struct keeping keeping = { .object = object };

	object->mapped = false;
	if (!make_room(&keeping))
		return;
	libprofil_arcs_each(keep_arc, &keeping);
	if (object->kept_num)
		munmap(object->kept, object->kept_num * sizeof(*object->kept));
	object->kept = keeping.kept;
	object->kept_num = keeping.num;
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
 * libprofil_object_arcs() - Read all calls of an object's functions
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

	for (size_t i = 0; i < object->kept_num; i++)
		if (object->kept[i].self && !each(arg, &object->kept[i]))
			return false;
	return !object->mapped || libprofil_arcs_each(if_of, &part);
}
