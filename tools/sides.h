/* SPDX-License-Identifier: GPL-2.0-only */
/* Profiles of two sides, A and B, function by function. */
#ifndef TOOLS_SIDES_H
#define TOOLS_SIDES_H

#include "compare.h"
#include "filter.h"
#include "profile.h"
#include "span.h"
#include "sysroot.h"

/* A function of either side, or of both. */
struct pair {
	const char *name;
	const char *object;	/* without its folder, and without the version of a library */
	const char *id;		/* what a place without a name needs beside that */
	struct counted *counted;	/* runs that have samples of it */
	size_t num;
	struct comparison comparison;
};

struct sides {
	struct runs runs;
	char *const *files;		/* A's first; a file has one run or more */
	size_t num_files[SIDES];
	struct profile *profiles;	/* of the first file of each side; the others are empty */
	double *seconds;		/* of CPU time in each run */
	struct counted *counted;	/* that of all pairs */
	struct pair *pairs;
	size_t num;
	struct pair total;
	size_t tested, changed;		/* of the pairs */
	double log_p;			/* that the first of them has to have */
};

/* What of the files is compared, and how. */
struct sides_wish {
	struct sysroot sysroot;
	struct span span;
	struct filter filter;
	bool shares;
};

/* Reads so many files of each side, A's first; what is no profile ends the program. */
void sides_read(struct sides *sides, char *const *files, const size_t num[SIDES],
		const struct sides_wish *wish);

/* Decides what has changed; it comes first, the largest change at the top. */
void sides_compare(struct sides *sides);
void sides_free(struct sides *sides);

/* "new", "gone", "changed", "same", or "few": with samples that could show no change. */
const char *pair_verdict(const struct pair *pair);

#endif /* TOOLS_SIDES_H */
