/* SPDX-License-Identifier: GPL-2.0-only */
/* Files that a profile or DWARF names, and the lines of such as are sources. */
#ifndef TOOLS_SOURCE_H
#define TOOLS_SOURCE_H

#include <stdbool.h>
#include <sys/stat.h>
#include "profile.h"

/*
 * Opens an ordinary file, and no device, that somebody else has named.  -1, with errno: also
 * EINVAL, for what is no ordinary file.
 */
int open_ordinary(const char *path, struct stat *st);

struct source {
	const char *path;
	char *bytes;
	size_t *lines;		/* where each begins; one more, where the last ends */
	size_t num;		/* of lines */
	struct stat st;
	int error;		/* why there are none */
};

/* Those that were read. */
struct sources {
	struct source **list;
	size_t num, room;
	off_t size;
};

const struct source *sources_find(struct sources *sources, const char *path);
void sources_free(struct sources *sources);

/* Line @number, from 1 on, as it may be printed. */
const char *source_line(struct profile *profile, const struct source *source, size_t number);

#endif /* TOOLS_SOURCE_H */
