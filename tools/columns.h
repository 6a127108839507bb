/* SPDX-License-Identifier: GPL-2.0-only */
/* Columns of tables for people. */
#ifndef TOOLS_COLUMNS_H
#define TOOLS_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define NAME_MAX_COLUMNS 40	/* that all rows have for a name, where there is no terminal */
#define OBJECT_MAX_COLUMNS 24

/* How many columns the terminal has; 0: it is none. */
size_t columns_of(FILE *out);

/* How wide a column of names is, where so many others are @used. */
size_t columns_for_names(FILE *out, size_t longest, size_t used);

/* Text in a column: a long one without its middle, if that is wanted. */
void put_column(FILE *out, const char *text, size_t width, bool cut);

/* The blanks after a text that has been put. */
void put_blanks(FILE *out, const char *text, size_t width);

#endif /* TOOLS_COLUMNS_H */
