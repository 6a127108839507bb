/* SPDX-License-Identifier: GPL-2.0-only */
/* What a session has counted, by slices of time. */
#ifndef TOOLS_SLICES_H
#define TOOLS_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "session.h"

struct slices;

/* What of a slot is of one slice. */
struct part {
	struct profil_slot slot;
	uint64_t at_ns;		/* when the slice ended; 0: there are no slices */
};

/* A file of so many parts is below what the reader takes. */
#define PARTS_MAX ((size_t)1 << 20)

/*
 * The first slices have this length; 0: there are none.  They become longer, so that there
 * are never more than SLICES_MAX of them, nor more than @most parts while there are two
 * slices, and that to take them costs little.
 */
struct slices *slices_make(struct session *session, uint64_t length_ns, size_t most);
void slices_free(struct slices *slices);

/* The length that they have by now, and when the one that has begun is to be taken. */
uint64_t slices_length(const struct slices *slices);
uint64_t slices_due(const struct slices *slices);

/* Takes what was counted since the last time; @last: also of a slice that is not over. */
void slices_take(struct slices *slices, uint64_t now_ns, bool last);

/* All that was taken, to be freed; added up it is what the session has. */
struct part *slices_parts(const struct slices *slices, size_t *num);

#endif /* TOOLS_SLICES_H */
