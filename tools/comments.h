/* SPDX-License-Identifier: GPL-2.0-only */
/* What a file says in comments: the counts of the session, its processes, the machine. */
#ifndef TOOLS_COMMENTS_H
#define TOOLS_COMMENTS_H

#include "profile.h"

/* A file names so many processes; one row more has the sum of all others. */
#define PROCESSES_MAX 20

/* Calls @tell for each comment; the text is not kept. */
void comments_write(const struct profile *profile,
		    void (*tell)(void *data, const char *comment), void *data);

/*
 * Adds what the comment of a file says, before which there were so many runs.  One that is
 * not understood is a fact.
 */
void comments_read(struct profile *profile, size_t runs_before, const char *comment);

#endif /* TOOLS_COMMENTS_H */
