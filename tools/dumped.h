/* SPDX-License-Identifier: GPL-2.0-only */
/* A table of dump.h, looked up where it lies. */
#ifndef TOOLS_DUMPED_H
#define TOOLS_DUMPED_H

#include <stdbool.h>
#include "dump.h"
#include "profile.h"

struct dumped {
	const struct dump_head *head;
	const struct dump_segment *segments;
	const struct dump_function *functions;
	const char *texts;
	size_t length;
};

/* False if it is none: it was made by a process that may have gone astray. */
bool dumped_open(struct dumped *dumped, int fd);

/* The one that begins last at this address or below, or one without a name. */
const struct dump_function *dumped_function(const struct dumped *dumped, uint64_t address);

/* As names_find_functions(). */
void dumped_find(const struct dumped *dumped, struct profile *profile, struct object *object,
		 struct place *places, size_t num);
void dumped_close(struct dumped *dumped);

#endif /* TOOLS_DUMPED_H */
