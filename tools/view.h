/* SPDX-License-Identifier: GPL-2.0-only */
/* What top shows, as lines of text. */
#ifndef TOOLS_VIEW_H
#define TOOLS_VIEW_H

#include "live.h"
#include "table.h"

struct view {
	enum by by;
	bool by_all;		/* not the most samples of the interval come first */
	struct table table;
	/* columns; 0: this one is left out */
	size_t times, place, name, object;
	bool cut;		/* texts that are too long lose their middle */
};

/* Makes the table anew, @rows of which are shown, in so many columns; 0: no screen. */
void view_make(struct view *view, struct live *live, size_t rows, size_t width);
void view_free(struct view *view);

/* Lines, to be freed. */
char *view_head(const struct live *live, size_t width);
char *view_heading(const struct view *view);
char *view_row(const struct view *view, size_t i);

/* Whether they are the same in two tables of the same live profile. */
bool view_same_row(const struct row *a, const struct row *b);

#endif /* TOOLS_VIEW_H */
