/* SPDX-License-Identifier: GPL-2.0-only */
/* Jumps inside a function, drawn beside its instructions. */
#ifndef TOOLS_ARROWS_H
#define TOOLS_ARROWS_H

#include <stdio.h>
#include "listing.h"

struct arrows {
	unsigned char *cells;	/* of each line, as many as there are lanes */
	unsigned int used;	/* of the lanes */
};

/* Of the lines that are shown; where there are too many, the longest are left out. */
void arrows_make(struct arrows *arrows, const struct listing *listing);
void arrows_free(struct arrows *arrows);

/* How many columns they take, and those of a line. */
size_t arrows_columns(const struct arrows *arrows);
void arrows_put(FILE *out, const struct arrows *arrows, size_t line);

#endif /* TOOLS_ARROWS_H */
