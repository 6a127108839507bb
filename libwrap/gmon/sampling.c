// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Without the device, and if PROFIL_FALLBACK asks for it: the program's own code,
 * counted by the C library at its signal, in counters of 16 bits.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "gmon.h"
#include "internal.h"

static unsigned short *counters;	/* as many as the program has bins */
static bool wanted;

/**
 * libprofil_fallback_begin() - Look at what the environment says
 *
 * Context: Without the lock of own.c, under which the C library's profil() must
 * not be looked for.
 */
void libprofil_fallback_begin(void)
{
	const char *value = secure_getenv("PROFIL_FALLBACK");

	wanted = value && !strcmp(value, "signal") && libprofil_next_exists();
}

/**
 * libprofil_fallback_start() - Have the program counted by the C library
 * @program: The first object
 *
 * Context: The lock of own.c.
 * Return: Whether it is.
 */
bool libprofil_fallback_start(const struct libprofil_object *program)
{
	size_t bytes = (program->high - program->low) / 2 * sizeof(*counters);

	if (wanted && !counters)
		counters = libprofil_map_zero(bytes);
	return counters && !libprofil_next_start(counters, bytes, program->low, 65536);
}

/**
 * libprofil_fallback_take() - Add what was counted so to the histogram
 * @program: The first object
 *
 * Context: The lock of own.c, under which no signal comes to this thread.
 */
void libprofil_fallback_take(const struct libprofil_object *program)
{
	if (!counters)
		return;
	for (size_t i = 0; i < (program->high - program->low) / 2; i++)
		if (counters[i])
			program->counts[i] += __atomic_exchange_n(&counters[i], 0,
								  __ATOMIC_RELAXED);
}
