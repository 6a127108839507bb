/* SPDX-License-Identifier: GPL-2.0-only */
/* What the screen of profil top says of its keys. */
#ifndef TOOLS_HINTS_H
#define TOOLS_HINTS_H

#include <stdbool.h>

/* The last line, as much of it as there is room for; @machine: all of it is counted. */
const char *hints(bool machine);
const char *hints_of_closeup(void);

/* The help, below the first line. */
void hints_help(bool machine);

#endif /* TOOLS_HINTS_H */
