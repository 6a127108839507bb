/* SPDX-License-Identifier: GPL-2.0-only */
/* A profile as a page of HTML: its parts, in the order in which they are there. */
#ifndef TOOLS_PAGE_H
#define TOOLS_PAGE_H

#include <stdio.h>
#include "moments.h"
#include "table.h"

#define PAGE_ROWS 300		/* functions in the table */
#define PAGE_TIMES 12		/* of them in the picture of when */
#define PAGE_OBJECTS 10		/* in the picture of where */
#define PAGE_CELLS 128		/* of the largest object there */
#define PAGE_EXCERPTS 10	/* functions whose source is shown */

/* Samples of one column: a slice of time. */
struct tally {
	uint64_t user, system;
};

struct page {
	FILE *out;
	struct profile *profile;	/* its samples are one a place now */
	struct table functions;
	size_t rows;			/* of the functions in the table; the others are one more */
	size_t *row_of;			/* of each place; rows: none in the table */
	struct sample *samples;		/* each with its slice */
	size_t num_samples;
	struct moments moments;
	struct tally *tallies;		/* of each row, each slice */
};

/* The samples of a row in a slice. */
static inline struct tally *page_tally(const struct page *page, size_t row, size_t moment)
{
	return &page->tallies[row * page->moments.num + moment];
}

/* Writes a page.  The profile is in order; afterwards it has no times. */
void page_write(struct profile *profile, FILE *out);

/* Where the wall time went. */
void page_wall(struct page *page);

/* When: functions by slices of time. */
void page_times(struct page *page);

/* Functions, and how sure their shares are. */
void page_functions(struct page *page);

/* Where in each object; its numbers for the script go to @data, behind a comma. */
void page_space(struct page *page, FILE *data);

/* Lines of source, where there are any to be read. */
void page_excerpts(struct page *page);

/* Files of their own in the source, and what a policy calls their content. */
extern const char page_style[], page_style_hash[], page_script[], page_script_hash[];

#endif /* TOOLS_PAGE_H */
