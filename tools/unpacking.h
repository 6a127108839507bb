/* SPDX-License-Identifier: GPL-2.0-only */
/* What unpack.c and samples.c share: a file that is being read. */
#ifndef TOOLS_UNPACKING_H
#define TOOLS_UNPACKING_H

#include "ids.h"
#include "profile.h"
#include "profile.pb-c.h"
#include "wire.h"

/* What the values of a sample may be; others are not looked at. */
enum { SAMPLES, CPU, USER, SYSTEM, VALUES };

#define TYPES_MAX 16	/* so many types are looked at */

struct unpacking {
	struct profile *profile;
	const Pb__Profile *in;	/* all of the file but its samples, */
	struct wire all;	/* which are in here */
	int values[VALUES];	/* where each of them is, or -1 */
	struct ids objects, functions, places;
	size_t *object_index;	/* of each mapping, in the profile */
	size_t *place_index;	/* of each location */
	size_t first_run;	/* of this file, in the profile */
	const char **texts;	/* those that were looked at, each at its index */
};

/* NULL if there is no such text. */
const char *unpacking_text(struct unpacking *unpacking, int64_t index);

/*
 * Copies what of a file are no samples; @rest has room for all of it.  False: these are no
 * messages.
 */
bool samples_apart(struct wire all, unsigned char *rest, size_t *length);

/* Adds the samples to the profile.  NULL, or what is wrong with one of them. */
const char *samples_unpack(struct unpacking *unpacking);

#endif /* TOOLS_UNPACKING_H */
