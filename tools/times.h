/* SPDX-License-Identifier: GPL-2.0-only */
/* The time of a profile: slices, of all its runs together, each from its begin. */
#ifndef TOOLS_TIMES_H
#define TOOLS_TIMES_H

#include "profile.h"

/* A slice, and the function that has the most of it. */
struct moment {
	uint64_t at_ns;		/* when it ended */
	uint64_t wall_ns;	/* how long it was, added up over the runs */
	uint64_t samples, cpu_ns, user_ns, system_ns;
	const char *name, *object;	/* "" if there are no samples */
	uint64_t most;			/* samples of that function */
};

/* How long the longest slices are.  Ends the program if a run has none; @what: a file, or NULL. */
uint64_t times_slice(const struct profile *profile, const char *what);

/* All slices in their order, to be freed. */
struct moment *times_make(struct profile *profile, size_t *num);

/* Leaves what is between two times, moved out to borders of slices, and of which that is all. */
void times_cut(struct profile *profile, uint64_t from_ns, uint64_t to_ns, const char *what);

/* Is it a part of the time?  Then which. */
bool times_span(const struct profile *profile, uint64_t *from_ns, uint64_t *to_ns);

#endif /* TOOLS_TIMES_H */
