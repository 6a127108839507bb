/* SPDX-License-Identifier: GPL-2.0-only */
/* The profiles of a folder of profil watch, by time. */
#ifndef TOOLS_RECALL_H
#define TOOLS_RECALL_H

#include <argp.h>
#include <stdbool.h>
#include "profile.h"

/* The options --since and --until. */
struct recall {
	uint64_t since_ns, until_ns;	/* 0: they were not given */
};

/* A child of a command's parser, whose input is a struct recall. */
extern const struct argp recall_argp;

static inline bool recall_wanted(const struct recall *recall)
{
	return recall->since_ns || recall->until_ns;
}

bool recall_is_folder(const char *path);

/* Adds up all intervals of the folder that have a part of the time.  Says it if there is none. */
void recall_read(const struct recall *recall, struct profile *profile, const char *folder);

/*
 * Of files, those that are there stay, and a span "FROM..TO" becomes the files of its intervals
 * in the folder.  @num are those of two sides, the first one's first.
 */
char **recall_expand(const char *folder, char *const *files, size_t num[2]);
void recall_free(char **files, const size_t num[2]);

#endif /* TOOLS_RECALL_H */
