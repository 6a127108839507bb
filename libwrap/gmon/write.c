// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Files of all that was counted, and when counts begin anew. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "arcs.h"
#include "block.h"
#include "gmon.h"
#include "internal.h"

static bool anew;	/* after each file */

static size_t bins(const struct libprofil_object *object)
{
	return (object->high - object->low) / 2;
}

static bool is_told(void *arg, struct libprofil_arc *arc)
{
	(void)arg;
	return arc->count == arc->told;
}

static bool is_empty(const struct libprofil_object *object)
{
	for (size_t i = 0; i < bins(object); i++)
		if (object->counts[i])
			return false;
	return libprofil_object_arcs(object, is_told, NULL);
}

/* The kernel counts meanwhile, and each sample is on one side of this. */
static void take_counts(const struct libprofil_object *object, uint32_t *taken)
{
	for (size_t i = 0; i < bins(object); i++)
		if (object->counts[i])
			taken[i] = __atomic_exchange_n(&object->counts[i], 0,
						       __ATOMIC_RELAXED);
}

/* For the next file, as this one could not be written. */
static void give_back(const struct libprofil_object *object, const uint32_t *taken)
{
	for (size_t i = 0; i < bins(object); i++)
		if (taken[i])
			__atomic_add_fetch(&object->counts[i], taken[i], __ATOMIC_RELAXED);
}

static bool write_anew(struct libprofil_gmon *gmon)
{
	size_t bytes = bins(gmon->object) * sizeof(uint32_t);
	uint32_t *taken = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	bool done;
	int err;

	if (taken == MAP_FAILED)
		return false;
	take_counts(gmon->object, taken);
	gmon->counts = taken;
	done = libprofil_place_write(gmon);
	err = errno;
	if (!done)
		give_back(gmon->object, taken);
	munmap(taken, bytes);
	errno = err;
	return done;
}

/* 0, or the reason, which has been told. */
static int write_object(const struct libprofil_object *object, bool last)
{
	struct libprofil_gmon gmon = {
		.object = object,
		.counts = object->counts,
		.rate = libprofil_profile.rate,
		.anew = anew && !last,
	};
	int err;

	if (libprofil_place_name(object) &&
	    (gmon.anew ? write_anew(&gmon) : libprofil_place_write(&gmon)))
		return 0;
	err = errno;
	libprofil_place_complain();
	return err;
}

/* 0, or the reason of the first file that was not written. */
static int write_objects(bool last)
{
	const struct libprofil_profile *profile = &libprofil_profile;
	int first = 0;

	libprofil_fallback_take(profile->objects);
	for (size_t i = 0; i < profile->num; i++) {
		const struct libprofil_object *object = &profile->objects[i];
		int err;

		if (i && is_empty(object) && !libprofil_block_any(object))
			continue;
		err = write_object(object, last);
		if (!err)
			libprofil_own->wrote = true;
		else if (!first)
			first = err;
	}
	return first;
}

/**
 * libprofil_dump_series() - Replace no file that has been written
 */
void libprofil_dump_series(void)
{
	if (libprofil_own->wrote)
		libprofil_own->series++;
	libprofil_own->wrote = false;
}

static void tell_lost(void)
{
	char number[24];
	const char *const parts[LIBPROFIL_PARTS] = {
		"profil: ", number, " calls are not counted: ",
		"no memory for more arcs; raise its limit (ulimit -v)\n",
	};

	snprintf(number, sizeof(number), "%lu", libprofil_arcs_lost);
	if (libprofil_arcs_lost)
		libprofil_say(parts);
	libprofil_verbose();
}

/**
 * libprofil_dump() - Write all files
 * @flags: DUMP_*
 *
 * Context: Any thread and signal handler, with DUMP_ASYNC.
 * Return: 0, with errno as it was; or -1 with that of the first that was not written,
 * and a line on stderr said so.
 */
int libprofil_dump(unsigned int flags)
{
	struct libprofil_profile *profile = &libprofil_profile;
	bool last = flags & DUMP_LAST;
	struct libprofil_hold hold;
	int before = errno, err = 0;

	if (!profile->num || !libprofil_own_is())
		return 0;
	libprofil_own_take(&hold);
	if (!(flags & DUMP_ASYNC))
		libprofil_place_look();
	if (!profile->written) {
		err = write_objects(last);
		if (last)
			tell_lost();
		else if (anew)
			libprofil_dump_series();
		profile->written = last;
	}
	libprofil_own_give(&hold);
	errno = err ? err : before;
	return err ? -1 : 0;
}

/**
 * libprofil_dump_begin() - Look at what the environment says of files
 */
void libprofil_dump_begin(void)
{
	const char *value = secure_getenv("PROFIL_RESET");

	libprofil_place_begin();
	anew = value && !strcmp(value, "1");
}
