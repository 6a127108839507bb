/* SPDX-License-Identifier: GPL-2.0-only */
/* Whose samples those of a row are. */
#ifndef TOOLS_OWNERS_H
#define TOOLS_OWNERS_H

#include "profile.h"
#include "counts.h"
#include "units.h"

/* What was counted of programs that found no row of their own. */
#define OTHERS "[others]"
#define OTHER_PROGRAMS "[other programs]"	/* of one unit */

/* A process; or, of the whole machine, a program in a unit, which has no pid. */
struct owner {
	int64_t pid;
	const char *program;
	const char *unit;
	const char *container;
};

/* @units: the row is one of the whole machine; otherwise NULL.  @first: it has no process. */
struct owner owner_of_row(struct profile *profile, const struct profil_process *row, bool first,
			  struct units *units);

/* Of each row of the table, to be freed. */
struct owner *owners_make(struct profile *profile, const struct counts *table,
			  struct units *units);

/* Threads that are looked at for all rows together: 100 ms to a second. */
#define OWNERS_LOOKS 65536

/*
 * Whether the process that was seen first in a row of the machine is there, and no other of
 * its group has a thread of that name: addresses of the row are then its own.  @looks becomes
 * less by the threads that it looked at; without any left, the answer is no.
 */
bool owner_is_alone(struct units *units, const struct profil_process *row, size_t *looks);

#endif /* TOOLS_OWNERS_H */
