/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages, and what may reach a terminal. */
#ifndef TOOLS_SAY_H
#define TOOLS_SAY_H

#include <stdbool.h>
#include <stddef.h>

/* The exit status of die(): 1, or 125 of run before the program has begun. */
extern int die_status;

/* What die() does before that, once: keeps what there is.  NULL: nothing. */
extern void (*die_keep)(void);

/* One line to standard error: what failed, on what, and what to do. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Both end the program where there is no memory. */
void *allocated(void *memory);
void *more(void *array, size_t *room, size_t num, size_t size);

/*
 * Copies text with all that could move a cursor, or make a line look like another one,
 * as \xNN.  Returns the length; the copy takes at most 4 * length + 1 bytes.
 */
size_t printable(char *to, const char *from, size_t length);

/* How many columns text takes that printable() has made. */
size_t columns(const char *text);

/*
 * What takes long says so on a terminal: a line that the next one replaces.  Without a
 * format it goes away.
 */
void progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif /* TOOLS_SAY_H */
