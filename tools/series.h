/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TOOLS_SERIES_H
#define TOOLS_SERIES_H

#include "counting.h"
#include "profile.h"

/* What is to be counted, and for how long. */
struct series {
	struct counting counting;
	size_t runs;		/* of the program, one after another */
	double seconds;		/* of each; negative: no limit */
	size_t rows;		/* of the table at the end */
	uint64_t slice_ns;	/* length of the first slices of time; 0: there are none */
};

/*
 * Adds the runs to the profile, all of them or those that there were until somebody ended
 * the series, which is said.  Returns the first exit status that is not 0, or 0.  Where one
 * cannot be begun, those before it are written, and the program ends.
 */
int series_run(const struct series *series, struct profile *profile);

#endif /* TOOLS_SERIES_H */
