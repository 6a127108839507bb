// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Has the kernel count all objects, and those that come later.  Without the device,
 * and if PROFIL_FALLBACK asks for it: the program's own code alone, counted by the C
 * library at its signal, in counters of 16 bits.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "arcs.h"
#include "gmon.h"
#include "internal.h"

/* As many as the program has bins, and behind them what of each was taken. */
static unsigned short *counters;
static bool wanted;

/**
 * libprofil_fallback_begin() - Look at what the environment says
 *
 * Context: Without the lock of state.c, under which the C library's profil() must
 * not be looked for.
 */
void libprofil_fallback_begin(void)
{
	const char *value = secure_getenv("PROFIL_FALLBACK");

	wanted = value && !strcmp(value, "signal") && libprofil_c_library_exists();
}

/* Has the program counted by the C library, if that is wanted.  Under the lock of state.c. */
static bool fallback_start(const struct libprofil_object *program)
{
	size_t bytes = libprofil_object_bins(program) * sizeof(*counters);

	if (wanted && program->counts && !counters)
		counters = libprofil_map_zero(2 * bytes);
	return counters && !libprofil_c_library_profil(counters, bytes, program->low,
						       65536 >> program->shift);
}

/**
 * libprofil_fallback_take() - Add what was counted so to the histogram
 * @program: The first object
 *
 * Nothing is written where the C library counts.  Its handler, in another thread, reads a
 * counter and then writes it: one that was set to 0 in between would be what it was, and
 * one more.
 *
 * Context: The lock of state.c, under which no signal comes to this thread.
 */
void libprofil_fallback_take(const struct libprofil_object *program)
{
	size_t bins = libprofil_object_bins(program);

	if (!counters)
		return;
	for (size_t i = 0; i < bins; i++) {
		unsigned short now = __atomic_load_n(&counters[i], __ATOMIC_RELAXED);
		unsigned short *taken = &counters[bins + i];

		if (now == *taken)
			continue;
		program->counts[i] += (unsigned short)(now - *taken);
		*taken = now;
	}
}

/* One of scale 0 is none; but without any region, START would end the profile. */
static uint32_t fill(struct profil_region *regions)
{
	const struct libprofil_object *object = libprofil_profile.objects;
	uint32_t num = 0;

	for (size_t i = 0; i < libprofil_profile.num; i++, object++)
		if (object->mapped)
			regions[num++] = (struct profil_region) {
				.buf_uptr = (uintptr_t)object->counts,
				.bytes = libprofil_object_bins(object) * sizeof(uint32_t),
				.offset = object->low,
				.scale = object->counts ? 65536 >> object->shift : 0,
				.flags = PROFIL_REGION_F_U32,
			};
	return num;
}

/* The program is first, then come those that were there first. */
static void leave_out(uint32_t *num, uint32_t most)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	char has[16], may[16];
	const char *const parts[LIBPROFIL_PARTS] = {
		"profil: only ", may, " of the program and its ", has,
		" libraries are counted: a profile has no more regions; "
		"samples in the others are in no object\n",
	};

	if (*num <= most)
		return;
	snprintf(has, sizeof(has), "%u", *num - 1);
	snprintf(may, sizeof(may), "%u", most);
	libprofil_say_once(&said, parts);
	*num = most;
}

/* Under the lock of state.c. */
static struct profil_ioc_start command = {
	.size = sizeof(command),
	.region_len = sizeof(struct profil_region),
};

static uint32_t rate;	/* of the command, 0 until it is known */
static uint32_t regions_max;

/*
 * Every tick, unless the environment asks for something else.  It is asked once, for
 * all samples of a file have one rate.  0, -1 or NO_DEVICE.
 */
static int choose_rate(void)
{
	struct profil_ioc_query query = { .size = sizeof(query) };
	int ret;

	if (rate)
		return 0;
	ret = libprofil_command(PROFIL_IOC_QUERY, &query);
	if (ret)
		return ret;
	libprofil_rate_choose(&command, &query);
	regions_max = query.out_regions_max;
	/* Last: a child that is forked meanwhile asks again, or knows both. */
	__atomic_store_n(&rate, command.rate ? command.rate : query.out_tick_hz,
			 __ATOMIC_RELEASE);
	return 0;
}

/**
 * libprofil_sampling_start() - Have all objects counted that there are
 *
 * Where there is no device and no other way, arcs alone are counted.
 *
 * Context: The lock of state.c.
 */
void libprofil_sampling_start(void)
{
	static struct profil_region few[8];
	struct profil_region *regions = few;
	size_t bytes = libprofil_profile.num * sizeof(*regions);
	int ret;

	if (bytes > sizeof(few))
		regions = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (regions == MAP_FAILED) {
		libprofil_complain_start();
		return;
	}
	command.region_num = fill(regions);
	command.regions_uptr = (uintptr_t)regions;
	ret = choose_rate();
	if (!ret) {
		leave_out(&command.region_num, regions_max);
		ret = libprofil_start(&command);
	}
	if (!ret)
		libprofil_profile.rate = rate;
	else if (ret != NO_DEVICE)
		libprofil_complain_start();
	else if (!fallback_start(libprofil_profile.objects))
		libprofil_complain("");
	if (regions != few)
		munmap(regions, bytes);
}

/* Whether any has come or gone since this was asked last. */
static bool is_new(const struct dl_phdr_info *info)
{
	static unsigned long long adds, subs;
	bool changed = info->dlpi_adds != adds || info->dlpi_subs != subs;

	adds = info->dlpi_adds;
	subs = info->dlpi_subs;
	return changed;
}

/* In the order in which a thread that loads a library takes the two locks. */
static int follow(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct libprofil_hold hold;

	(void)size;
	(void)arg;
	libprofil_state_lock(&hold);
	/* Without a rate none has begun: for one that begins, the environment is read. */
	if ((!info || is_new(info)) && libprofil_objects_find(&libprofil_profile, !info) &&
	    rate && !libprofil_arcs_off())
		libprofil_sampling_start();
	libprofil_state_unlock(&hold);
	return 1;
}

/**
 * libprofil_sampling_find() - Find what there is, first of all
 * @by_kernel: Without a lock of the C library
 */
void libprofil_sampling_find(bool by_kernel)
{
	if (by_kernel)
		follow(NULL, 0, NULL);
	else
		dl_iterate_phdr(follow, NULL);
}

static void follow_if_ours(bool by_kernel)
{
	int err = errno;

	if (libprofil_profile.num && libprofil_state_is_ours())
		libprofil_sampling_find(by_kernel);
	errno = err;
}

/**
 * libprofil_sampling_follow() - Count what has been mapped meanwhile
 */
void libprofil_sampling_follow(void)
{
	follow_if_ours(libprofil_forked);
}

/**
 * libprofil_sampling_follow_unlocked() - Do so without a lock of the C library
 */
void libprofil_sampling_follow_unlocked(void)
{
	follow_if_ours(true);
}
