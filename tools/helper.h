/* SPDX-License-Identifier: GPL-2.0-only */
/* A process of ours that does what takes long, while somebody looks at a screen. */
#ifndef TOOLS_HELPER_H
#define TOOLS_HELPER_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct helper {
	pid_t pid;		/* 0: there is none */
	int fd;			/* what it says comes from here; -1: there is none */
	char *text;		/* all that has come */
	size_t length, room;
};

/*
 * Starts one that does the work and says the result; its messages are a part of that if
 * @messages, and else nobody sees them.  False if there can be no process.
 */
bool helper_start(struct helper *helper, void (*work)(void *data, FILE *out), void *data,
		  bool messages);

/* Reads what it has said, without waiting.  True when that was all, and it has ended. */
bool helper_read(struct helper *helper);

/* The last line of what it has said: how it went, if it has failed. */
const char *helper_last_line(struct helper *helper);

/* Ends it, and frees the text. */
void helper_end(struct helper *helper);

#endif /* TOOLS_HELPER_H */
