/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TOOLS_TEXT_H
#define TOOLS_TEXT_H

#include <stdio.h>
#include "table.h"

/* Prints so many rows, or all if it is 0; what is left out is the last row. */
void text_table(FILE *out, const struct table *table, size_t rows);

#endif /* TOOLS_TEXT_H */
