/* SPDX-License-Identifier: GPL-2.0-only */
/* Control groups by their numbers: which unit and which container each is of. */
#ifndef TOOLS_UNITS_H
#define TOOLS_UNITS_H

#include <stddef.h>
#include <stdint.h>
#include "unit.h"

struct session;
struct units;

struct units *units_make(void);
void units_free(struct units *units);

/*
 * Looks for the groups of rows that the session has got since the last time.  One that has
 * ended before somebody looks has no name: this is to be called once a second or so.  It
 * needs no system call where there is no new row, and walks over the hierarchy at most once.
 */
void units_read(struct units *units, const struct session *session);

/* From here on rows are those of another session.  What is known of groups stays. */
void units_begin(struct units *units);

/*
 * The names of a group that units_read() has looked for: one that had ended by then is
 * "[ended group 1234]".  Group 0 is "[others]".  The result stays until the next call.
 */
const struct unit *units_find(struct units *units, uint64_t group);

/* Its path in the file system, to be freed, or NULL: it has ended. */
char *units_path(struct units *units, uint64_t group);

#endif /* TOOLS_UNITS_H */
