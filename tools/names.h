/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TOOLS_NAMES_H
#define TOOLS_NAMES_H

#include "profile.h"

/* Whether an object with so many samples, of so many, is worth a download. */
bool names_fetched(uint64_t samples, uint64_t all);

/*
 * Fills in @object, but for its name, and the first @num of @places, whose addresses are
 * offsets in the file behind @fd.  @path says what it is called, @fetch whether debuginfod
 * may be asked, @few that there are so few samples that their lines are worth no long look.
 * Closes @fd.  What cannot be read leaves the places without names.
 */
void names_find(struct profile *profile, int fd, const char *path, bool fetch, bool few,
		struct object *object, struct place *places, size_t num);

/* The same without lines, which may take long. */
void names_find_functions(struct profile *profile, int fd, const char *path, bool fetch,
			  struct object *object, struct place *places, size_t num);

/* The same for places that have addresses already, with lines. */
void names_find_again(struct profile *profile, int fd, const char *path, bool fetch,
		      struct object *object, struct place *places, size_t num);

#endif /* TOOLS_NAMES_H */
