/* SPDX-License-Identifier: GPL-2.0-only */
/* What pages are made of: text that is nothing but text, and rows of cells. */
#ifndef TOOLS_HTML_H
#define TOOLS_HTML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define HTML_LEVELS 7		/* shades of one colour: classes l1 to l7 of the style */
#define HTML_NAME_COLUMNS 160	/* of a name; longer ones lose their middle */

/* Whatever the text is, no reader of HTML finds an element or an attribute in it. */
void html_text(FILE *out, const char *text);
void html_name(FILE *out, const char *name);

/* "0.36 s", "50.8 %" in a cell of a table; nothing is a dash. */
void html_seconds(FILE *out, double ns);
void html_share(FILE *out, double part, double all);

/* How dark: 0 to HTML_LEVELS.  The more of @most a value is; @log: by its logarithm. */
int html_level(double value, double most, bool log);

struct cell {
	double from, to;	/* where it is in the row */
	double value;
};

/* The cells of a row: a path for each level. */
void html_cells(FILE *out, const struct cell *cells, size_t num, double most, bool log);

#endif /* TOOLS_HTML_H */
