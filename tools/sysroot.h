/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The option --names: a folder with files of the machine that was profiled, or with their
 * debug symbols.  They are there by their build ids, as in /usr/lib/debug or in debuginfod's
 * cache, by their paths, as in a copy of that machine, or by their names alone.
 */
#ifndef TOOLS_SYSROOT_H
#define TOOLS_SYSROOT_H

#include <argp.h>
#include <sys/stat.h>
#include "profile.h"

struct sysroot {
	char *folder;	/* NULL: it was not given */
};

/* A child of a command's parser, whose input is a struct sysroot. */
extern const struct argp sysroot_argp;

/* Gives places the names and lines that they do not have.  What is missing is said. */
void sysroot_names(const struct sysroot *sysroot, struct profile *profile);

/*
 * Opens the code of an object: the file of the folder that is it, or the one that has its
 * path on this machine.  Returns -1 and errno if there is none.
 */
int sysroot_open(const struct sysroot *sysroot, struct profile *profile,
		 const struct object *object, const char **path, struct stat *st);

void sysroot_free(struct sysroot *sysroot);

#endif /* TOOLS_SYSROOT_H */
