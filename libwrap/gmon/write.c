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

/* As the environment says. */
static bool anew;	/* after each file */
static bool verbose;

/* That are counted. */
static size_t bins(const struct libprofil_object *object)
{
	return object->counts ? libprofil_object_bins(object) : 0;
}

static bool is_told(void *arg, struct libprofil_arc *arc)
{
	(void)arg;
	return arc->count == arc->written;
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

static int write_anew(struct libprofil_gmon *gmon)
{
	size_t bytes = bins(gmon->object) * sizeof(uint32_t);
	uint32_t *taken;
	int err;

	if (!bytes)
		return libprofil_path_write(gmon);
	taken = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (taken == MAP_FAILED)
		return errno;
	take_counts(gmon->object, taken);
	gmon->counts = taken;
	err = libprofil_path_write(gmon);
	if (err)
		give_back(gmon->object, taken);
	munmap(taken, bytes);
	return err;
}

/* 0, or the reason, which has been told. */
static int write_object(struct libprofil_object *object, bool last)
{
	struct libprofil_gmon gmon = {
		.object = object,
		.counts = object->counts,
		.rate = libprofil_profile.rate,
		.anew = anew && !last,
		.last = last,
	};
	int err = gmon.anew ? write_anew(&gmon) : libprofil_path_write(&gmon);

	if (err)
		libprofil_path_complain(object, err);
	return err;
}

/* 0, or the reason of the first file that was not written. */
static int write_objects(bool last)
{
	const struct libprofil_profile *profile = &libprofil_profile;
	int first = 0;

	libprofil_fallback_take(profile->objects);
	for (size_t i = 0; i < profile->num; i++) {
		struct libprofil_object *object = &profile->objects[i];
		int err;

		if (i && is_empty(object) && !libprofil_block_any(object))
			continue;
		err = write_object(object, last);
		if (!err)
			libprofil_state->wrote = true;
		else if (!first)
			first = err;
	}
	return first;
}

/* Replaces no file that has been written. */
static void begin_series(void)
{
	if (libprofil_state->wrote)
		libprofil_state->series++;
	libprofil_state->wrote = false;
}

/*
 * What became of all samples, if PROFIL_VERBOSE asks.  Those in the files include
 * such as were written before counts began anew.
 */
static void say_samples(void)
{
	struct profil_ioc_stats stats = { .size = sizeof(stats) };
	char line[192];
	const char *const parts[LIBPROFIL_PARTS] = { line };

	if (!verbose || profil_stats(&stats))
		return;
	/* What a rate below the tick's leaves out is no sample. */
	snprintf(line, sizeof(line),
		 "profil: of %llu samples %llu are in files, %llu in no object, %llu lost; "
		 "the rate is %u a second\n",
		 stats.out_ticks - stats.out_not_due, stats.out_in_range,
		 stats.out_outside, stats.out_lost + stats.out_saturated, libprofil_profile.rate);
	libprofil_say(parts);
}

static void say_calls(void)
{
	char number[24];
	const char *const parts[LIBPROFIL_PARTS] = {
		"profil: ", number, " calls are not counted: ",
		"no memory for more arcs; give more KiB in PROFIL_ARCS\n",
	};

	snprintf(number, sizeof(number), "%lu", libprofil_arcs_lost);
	if (libprofil_arcs_lost)
		libprofil_say(parts);
}

/* Of @num objects, from @object on. */
static void say_object(const struct libprofil_object *object, size_t num, const char *what)
{
	char others[32] = "";
	const char *const parts[LIBPROFIL_PARTS] = {
		"profil: samples in ", *object->name ? object->name : "the program", others, what,
		"; raise its limit (ulimit -v, ulimit -d or ulimit -l)\n",
	};

	if (num > 1)
		snprintf(others, sizeof(others), " and %zu more", num - 1);
	libprofil_say(parts);
}

static void say_objects(void)
{
	const struct libprofil_object *left_out = NULL, *coarse = NULL;
	size_t left_outs = 0, coarses = 0;

	for (size_t i = libprofil_profile.num; i-- > 0;) {
		const struct libprofil_object *object = &libprofil_profile.objects[i];

		if (!object->counts) {
			left_out = object;
			left_outs++;
		} else if (object->shift > LIBPROFIL_SHIFT_SMALL ||
			   (object->shift && !libprofil_profile.small)) {
			coarse = object;
			coarses++;
		}
	}
	if (left_out)
		say_object(left_out, left_outs, " are not counted: no memory for them");
	if (coarse)
		say_object(coarse, coarses, " are known less exactly: no memory for small bins");
}

static void say_lost(void)
{
	say_calls();
	say_objects();
	say_samples();
}

/**
 * libprofil_write() - Write all files
 * @flags: WRITE_*
 *
 * Context: Any thread and signal handler, with WRITE_AMID.
 * Return: 0, with errno as it was; or -1 with that of the first that was not written,
 * and a line on stderr said so.
 */
int libprofil_write(unsigned int flags)
{
	struct libprofil_profile *profile = &libprofil_profile;
	bool last = flags & WRITE_LAST;
	struct libprofil_hold hold;
	int before = errno, err = 0;

	if (!profile->num || !libprofil_state_is_ours())
		return 0;
	libprofil_state_lock(&hold);
	if (!(flags & WRITE_AMID))
		libprofil_path_look();
	if (!profile->written) {
		err = write_objects(last);
		if (last)
			say_lost();
		else if (anew)
			begin_series();
		profile->written = last;
	}
	libprofil_state_unlock(&hold);
	errno = err ? err : before;
	return err ? -1 : 0;
}

bool libprofil_is_set(const char *variable)
{
	const char *value = secure_getenv(variable);

	return value && !strcmp(value, "1");
}

/**
 * libprofil_write_begin() - Look at what the environment says of files
 */
void libprofil_write_begin(void)
{
	libprofil_path_begin();
	anew = libprofil_is_set("PROFIL_RESET");
	verbose = libprofil_is_set("PROFIL_VERBOSE");
}

static bool forget_arc(void *arg, struct libprofil_arc *arc)
{
	(void)arg;
	arc->written = atomic_load(&arc->count);
	return true;
}

static void forget(const struct libprofil_object *object)
{
	for (size_t i = 0; i < bins(object); i++)
		if (object->counts[i])
			__atomic_store_n(&object->counts[i], 0, __ATOMIC_RELAXED);
	/* Also of what is unmapped. */
	libprofil_object_arcs(object, forget_arc, NULL);
}

PROFIL_API
int profil_dump(void)
{
	if (!libprofil_profile.num) {
		errno = ENOENT;
		return -1;
	}
	libprofil_sampling_follow();
	return libprofil_write(0);
}

PROFIL_API
int profil_reset(void)
{
	struct libprofil_hold hold;

	if (!libprofil_profile.num) {
		errno = ENOENT;
		return -1;
	}
	libprofil_sampling_follow();
	libprofil_state_lock(&hold);
	libprofil_fallback_take(libprofil_profile.objects);
	for (size_t i = 0; i < libprofil_profile.num; i++)
		forget(&libprofil_profile.objects[i]);
	/* And those of no object. */
	libprofil_arcs_each(forget_arc, NULL);
	begin_series();
	libprofil_state_unlock(&hold);
	return 0;
}
