/* SPDX-License-Identifier: GPL-2.0-only */
/* A table for programs: all rows, and the counts of the profile. */
#ifndef TOOLS_ROWS_H
#define TOOLS_ROWS_H

#include <stdio.h>
#include "table.h"

void rows_tsv(FILE *out, const struct profile *profile, const struct table *table);
void rows_json(FILE *out, const struct profile *profile, const struct table *table);

/* A row for each slice of time. */
void rows_times_tsv(FILE *out, struct profile *profile);
void rows_times_json(FILE *out, struct profile *profile);

#endif /* TOOLS_ROWS_H */
