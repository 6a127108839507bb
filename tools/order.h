/* SPDX-License-Identifier: GPL-2.0-only */
/* One order of what a profile holds, so that equal profiles are equal files. */
#ifndef TOOLS_ORDER_H
#define TOOLS_ORDER_H

#include <stddef.h>
#include <string.h>
#include "profile.h"

/* Sorts objects, places, samples and processes, and makes one of those that are equal. */
void profile_order(struct profile *profile);

static inline int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Of one profile: those that are equal have one address. */
static inline int compare_texts(const char *a, const char *b)
{
	return a == b ? 0 : strcmp(a, b);
}

/*
 * How many of an array that ascends by a member, a uint64_t, have one up to @number: behind
 * them are the larger ones.
 */
#define UP_TO(array, num, member, number) \
	up_to(array, num, sizeof(*(array)), offsetof(typeof(*(array)), member), number)
size_t up_to(const void *array, size_t num, size_t size, size_t offset, uint64_t number);

#endif /* TOOLS_ORDER_H */
