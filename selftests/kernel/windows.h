/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The race windows of a test build of the module, see race/race.c.  Any other build has none,
 * and takes no notice.
 */
#ifndef WINDOWS_H
#define WINDOWS_H

#include "profil_common.h"

#define PARAMETERS	"/sys/module/profil/parameters/"

/* How wide all windows are; a build that is no test has none. */
static inline void widen(const char *spins)
{
	write_file(PARAMETERS "race_spins", 0, spins);
}

/* Whoever comes to @point stays for @us, there too. */
static inline void hold(const char *point, unsigned int us)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", us);
	write_file(PARAMETERS "race_hold_us", 0, number);
	write_file(PARAMETERS "race_hold", 0, point);
}

/* Whether somebody stays anywhere, so that a test knows what it has to meet. */
static inline bool holds(void)
{
	return !access(PARAMETERS "race_hold", F_OK);
}

#endif /* WINDOWS_H */
