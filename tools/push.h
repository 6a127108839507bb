/* SPDX-License-Identifier: GPL-2.0-only */
/* Profiles of a spool, pushed to a server that takes them as Pyroscope does. */
#ifndef TOOLS_PUSH_H
#define TOOLS_PUSH_H

#include <stdio.h>
#include "spool.h"

struct push {
	const char *url;	/* of the server, without /ingest; NULL: nothing is pushed */
	const char *credentials;	/* what a file says, or NULL */
	const char *labels;	/* "KEY=VALUE,KEY=VALUE" */
	const struct spool *spool;
};

/* What the file of this name says, or $CREDENTIALS_DIRECTORY/push, to be freed; or NULL. */
char *push_credentials(const char *file, const char *url);

/* A label, which is added to others; false if it is none. */
bool push_label(char **labels, const char *label);

/* Takes over what 0.9 says of a folder, which is the last file that somebody has got. */
void push_begin(int folder);

/*
 * For a process of its own: pushes what was not pushed yet, the oldest first, and tries again
 * where that is of use, for some time.  Says tallies and messages, as interval_work().
 */
void push_work(void *push, FILE *out);

#endif /* TOOLS_PUSH_H */
