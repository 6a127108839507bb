/* SPDX-License-Identifier: GPL-2.0-only */
/* One order of what a profile holds, so that equal profiles are equal files. */
#ifndef TOOLS_ORDER_H
#define TOOLS_ORDER_H

#include "profile.h"

/* Sorts objects, places, samples and processes, and makes one of those that are equal. */
void profile_order(struct profile *profile);

/* -1, 0 or 1; for texts of one profile */
int compare_numbers(uint64_t a, uint64_t b);
int compare_texts(const char *a, const char *b);

#endif /* TOOLS_ORDER_H */
