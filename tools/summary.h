/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TOOLS_SUMMARY_H
#define TOOLS_SUMMARY_H

#include <stdio.h>
#include "table.h"

/* What is said above a table, and below one of functions. */
void summary_head(FILE *out, const struct profile *profile, const struct table *table);
void summary_tail(FILE *out, struct profile *profile, const struct table *table);

#endif /* TOOLS_SUMMARY_H */
