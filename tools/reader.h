/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files that nobody vouches for are read by a process of its own: one that is made to crash
 * its reader, or to keep it busy, costs what that file would have said, and nothing else.
 */
#ifndef TOOLS_READER_H
#define TOOLS_READER_H

#include <stdbool.h>
#include <stdio.h>
#include "told.h"

/* What runs in that process: writes texts that each end with a NUL byte. */
typedef void reader_tell(void *data, int fd, FILE *out);

/* A descriptor that can be read once no file is to be read any more; -1: there is none. */
extern int reader_ends;
bool reader_ended(void);

/* Whether debuginfod was, for any file. */
extern bool reader_has_asked;

struct reader_how {
	bool fetch;		/* debuginfod may be asked */
	int also;		/* a descriptor that it writes to, too; 0: none */
	double seconds;		/* that it may take; 0: as long as any */
};

/* Closes @fd. */
void reader_run(int fd, struct reader_how how, reader_tell *tell, void *data, struct told *told);

#endif /* TOOLS_READER_H */
