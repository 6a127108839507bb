/* SPDX-License-Identifier: GPL-2.0-only */
/* What the process that reads a file tells of it: texts that each end with a NUL byte. */
#ifndef TOOLS_TOLD_H
#define TOOLS_TOLD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "profile.h"

/* What a reader has written. */
struct told {
	const char *next, *end;
	char *texts;		/* all of them, to be freed */
	const char *failure;	/* how the process ended, if it was not as it should */
	bool passes;		/* that need not be the file's doing: it may go better next time */
};

/* The next text.  A reader that went astray may have written anything: NULL, or false. */
const char *told_text(struct told *told);
bool told_number(struct told *told, uint64_t *number);
bool told_string(struct told *told, struct profile *profile, const char **string);

/* For who tells; of a text, no more than a profile keeps. */
void tell_text(FILE *out, const char *text);
void tell_number(FILE *out, uint64_t number);

#endif /* TOOLS_TOLD_H */
