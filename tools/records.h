/* SPDX-License-Identifier: GPL-2.0-only */
/* A listing for programs: all lines, and what they are of. */
#ifndef TOOLS_RECORDS_H
#define TOOLS_RECORDS_H

#include <stdio.h>
#include "listing.h"

void records_tsv(FILE *out, const struct row *row, const struct body *body,
		 const struct listing *listing);
void records_json(FILE *out, const struct row *row, const struct body *body,
		  const struct listing *listing);

#endif /* TOOLS_RECORDS_H */
