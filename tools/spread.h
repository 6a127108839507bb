/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TOOLS_SPREAD_H
#define TOOLS_SPREAD_H

#include <stdio.h>
#include "profile.h"

/* How much the runs of a profile differ: a line, if there are several. */
void spread_line(FILE *out, const struct profile *profile);

#endif /* TOOLS_SPREAD_H */
