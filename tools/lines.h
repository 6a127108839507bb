/* SPDX-License-Identifier: GPL-2.0-only */
/* Which lines of a function are shown: of its source, of its instructions, or both. */
#ifndef TOOLS_LINES_H
#define TOOLS_LINES_H

#include "about.h"

/* What somebody wants to see; neither: source, or instructions where that is not there. */
struct form {
	bool source, instructions;
};

/* Ends the program, with a sentence, if this is not the code of the function that was counted. */
void lines_check(const struct row *row, const struct body *body);

/* Fills in the listing, and @about->source.  Ends the program if there are no such lines. */
void lines_list(struct profile *profile, struct about *about, struct form form,
		struct sources *sources, struct listing *listing);

#endif /* TOOLS_LINES_H */
