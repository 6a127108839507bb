/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions of files with code, kept in a folder: each file is read once, by a process of
 * its own, and what it has of names costs no memory after that.
 */
#ifndef TOOLS_TABLES_H
#define TOOLS_TABLES_H

#include <stdbool.h>
#include <stdio.h>
#include "dumped.h"
#include "profile.h"

#define TABLES_KEY 96	/* bytes of the name of a table with its NUL byte */

/*
 * From here on names come from tables in this folder, which is made if there is none, and
 * files that have none yet are read until so many seconds from now, and no longer.  Returns
 * false, with errno, if there can be no folder.
 */
bool tables_use(int spool, double seconds);

bool tables_used(void);

/* So many seconds there are yet. */
double tables_left(void);

/* A number for this boot. */
uint64_t tables_boot(void);

/* The table of this name, to be closed; false if there is none that is whole. */
bool tables_map(const char *key, struct dumped *dumped);

/* Writes one, whole or not at all. */
void tables_keep(const char *key, void (*write)(void *data, FILE *out), void *data);

/*
 * As names_find_functions(), from a table.  False if tables are not used, or the file's state
 * cannot be had.  @fetch: tables_finish() may ask debuginfod for better names.
 */
bool tables_find(struct profile *profile, int fd, const char *path, bool fetch,
		 struct object *object, struct place *places, size_t num);

/*
 * Makes the tables for which there was no time, and asks debuginfod for the names of files that
 * have few, once a day for each.  That may take long; what it finds is in a later profile.
 * Removes the tables that were not used for the longest time, if there are too many.
 */
void tables_finish(void);

#endif /* TOOLS_TABLES_H */
