/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TOOLS_CONTRAST_H
#define TOOLS_CONTRAST_H

#include <stdio.h>
#include "sides.h"

/* Two sides for people: the answer in the first line, then so many rows; 0: all. */
void contrast_text(FILE *out, struct sides *sides, size_t rows);

#endif /* TOOLS_CONTRAST_H */
