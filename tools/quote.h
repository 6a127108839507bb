/* SPDX-License-Identifier: GPL-2.0-only */
/* Commands that are printed so that somebody gives them to a shell. */
#ifndef TOOLS_QUOTE_H
#define TOOLS_QUOTE_H

#include <stdio.h>

/* The text as one word of a shell, whatever is in it: functions and files have any names. */
void quote(FILE *out, const char *text);

#endif /* TOOLS_QUOTE_H */
