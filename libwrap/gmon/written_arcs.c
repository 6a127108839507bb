// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Calls that are in a file after which counts begin anew: noted while it is
 * written, and told once it is whole.  One that cannot be written loses none.
 */
#include <stddef.h>
#include <sys/mman.h>
#include "gmon.h"

/* Arcs that come while the file is written. */
#define SPARE	4096

struct note {
	struct libprofil_arc *arc;
	uintptr_t count;
};

/*
 * All under the lock of state.c, which a child that is forked meanwhile does not find taken:
 * at any moment, notes has memory of that much room, or is NULL.
 */
static struct note *notes;
static size_t num, room;

static bool count_arc(void *arg, struct libprofil_arc *arc)
{
	(void)arg;
	(void)arc;
	room++;
	return true;
}

/**
 * libprofil_written_begin() - Begin to note what is in a file
 * @object: Whose file it is
 *
 * Return: Whether there is memory for it; if not, errno says why.
 */
bool libprofil_written_begin(const struct libprofil_object *object)
{
	void *memory;

	libprofil_written_end(false);
	room = SPARE + object->saved.num;
	libprofil_arcs_each(count_arc, NULL);
	memory = mmap(NULL, room * sizeof(*notes), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return false;
	__atomic_store_n(&notes, memory, __ATOMIC_RELEASE);
	return true;
}

/**
 * libprofil_written_add() - Note that a file has calls
 * @arc: Of this arc
 * @count: So many
 *
 * Return: False if there is no room: then they are for the next file.
 */
bool libprofil_written_add(struct libprofil_arc *arc, uintptr_t count)
{
	if (num == room)
		return false;
	notes[num++] = (struct note) { arc, count };
	return true;
}

/**
 * libprofil_written_end() - Take back what was noted, or have it be told
 * @done: The file is whole
 */
void libprofil_written_end(bool done)
{
	struct note *old = notes;

	for (size_t i = 0; done && i < num; i++)
		notes[i].arc->written += notes[i].count;
	num = 0;
	__atomic_store_n(&notes, NULL, __ATOMIC_RELEASE);
	if (old)
		munmap(old, room * sizeof(*old));
}
