/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TOOLS_SHEET_H
#define TOOLS_SHEET_H

#include <stdio.h>
#include "listing.h"

/*
 * Prints a listing for people: samples, shares of the function, bars, jumps, and the text.
 * @width: columns that there are; 0: each line is as long as it is.
 */
void sheet_put(FILE *out, const struct body *body, const struct listing *listing, size_t width);

#endif /* TOOLS_SHEET_H */
