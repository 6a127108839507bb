/* SPDX-License-Identifier: GPL-2.0-only */
/* The terminal, while it is a screen.  Only screen.c knows curses. */
#ifndef TOOLS_SCREEN_H
#define TOOLS_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

/* What was pressed, by what it means. */
enum key {
	PRESS_NONE, PRESS_OTHER, PRESS_GONE,	/* there will be no more of them */
	PRESS_QUIT, PRESS_FUNCTION, PRESS_OBJECT, PRESS_PROCESS, PRESS_UNIT,
	PRESS_CONTAINER, PRESS_SORT, PRESS_FREEZE,
	PRESS_ZERO, PRESS_WRITE, PRESS_HELP, PRESS_UP, PRESS_DOWN, PRESS_PAGE_UP,
	PRESS_PAGE_DOWN, PRESS_FIRST, PRESS_LAST,
	PRESS_ANNOTATE, PRESS_INSTRUCTIONS, PRESS_BACK,
};

/* False if there is no terminal that can be one.  Whatever ends the program ends it, too. */
bool screen_start(void);
void screen_end(void);

/* To be polled: a key was pressed, or the size has changed. */
int screen_fd(void);

/* The next key, or PRESS_NONE; takes up a new size as well. */
enum key screen_key(void);

size_t screen_rows(void);
size_t screen_columns(void);

enum look { LOOK_PLAIN, LOOK_STRONG, LOOK_MARKED };

/* Nothing is on it; a line of it; all that was put is seen. */
void screen_clear(void);
void screen_put(size_t row, const char *text, enum look look);
/* In the last line, and, if it is too long, in those above as well. */
void screen_put_last(const char *text, enum look look);
void screen_show(void);

#endif /* TOOLS_SCREEN_H */
