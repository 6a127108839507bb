/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TOOLS_TIMELINE_H
#define TOOLS_TIMELINE_H

#include <stdio.h>
#include "profile.h"

/* A row for each slice of time: how much ran in it, and the function that had the most. */
void timeline_text(FILE *out, struct profile *profile);

#endif /* TOOLS_TIMELINE_H */
