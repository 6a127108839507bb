/* SPDX-License-Identifier: GPL-2.0-only */
/* The lines of a function in profil top, as they are when somebody asks for them. */
#ifndef TOOLS_CLOSEUP_H
#define TOOLS_CLOSEUP_H

#include "helper.h"
#include "live.h"
#include "screen.h"
#include "table.h"

struct closeup {
	struct helper helper;	/* reads the code */
	struct row row;		/* of a table by function */
	bool instructions;	/* also where there is source */
	size_t width;		/* for which it was made */
	char *text;		/* NULL: none is shown */
	char **lines;		/* of the text: a title, a heading, and what can be scrolled */
	size_t num, room, first;
};

/* Asks for the lines of the row's function.  False: there can be no process. */
bool closeup_start(struct closeup *closeup, struct live *live, size_t width);

/*
 * Takes the lines that have come, without waiting.  Returns whether the reading is over; what
 * it has failed at is said then, else it is "".
 */
bool closeup_take(struct closeup *closeup, char *said, size_t size);

/* On all of the screen but its last line. */
void closeup_draw(struct closeup *closeup);
void closeup_scroll(struct closeup *closeup, enum key key);
void closeup_end(struct closeup *closeup);

#endif /* TOOLS_CLOSEUP_H */
