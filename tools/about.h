/* SPDX-License-Identifier: GPL-2.0-only */
/* What is above and below the lines of a function: where they come from. */
#ifndef TOOLS_ABOUT_H
#define TOOLS_ABOUT_H

#include <stdio.h>
#include "choice.h"
#include "listing.h"

struct about {
	const struct profile *profile;
	const struct table *table;
	const struct choice *choice;	/* whose first one is not always it */
	const struct row *row;
	const char *path;		/* of the file with its code */
	const struct body *body;
	const struct source *source;	/* or NULL */
	struct stat object;
};

/* The first line of the head: which function, and how much of all it has. */
void about_title(FILE *out, const struct about *about);
void about_head(FILE *out, const struct about *about);
void about_tail(FILE *out);

#endif /* TOOLS_ABOUT_H */
