/* SPDX-License-Identifier: GPL-2.0-only */
/* The screen of profil top: what is on it, and what keys do. */
#ifndef TOOLS_WINDOW_H
#define TOOLS_WINDOW_H

#include "closeup.h"
#include "top.h"

#define WINDOW_SECONDS 5	/* that a message is seen */

struct window {
	struct top *top;
	struct view view;
	bool frozen, help;
	bool writes;		/* the profile is to be written now */
	bool follows;		/* a row was chosen, and is followed */
	struct row row;		/* that row */
	struct closeup closeup;	/* the lines of a function, which cover the table */
	size_t first;		/* row that is shown */
	char message[512];
	double until;		/* when the message goes away */
};

/* What is said below the table for some seconds. */
void window_say(struct window *window, const char *text, double seconds);

/* Makes the table anew, of what is counted by now. */
void window_make(struct window *window);
void window_draw(struct window *window);

/* Takes the lines of a function, if they have come. */
void window_take(struct window *window);

/* Does what a key means. */
void window_press(struct window *window, enum key key);

#endif /* TOOLS_WINDOW_H */
