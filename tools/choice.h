/* SPDX-License-Identifier: GPL-2.0-only */
/* Which function of a profile somebody means. */
#ifndef TOOLS_CHOICE_H
#define TOOLS_CHOICE_H

#include "table.h"

struct choice {
	const struct row **rows;	/* the one with the most samples first */
	size_t num;
	bool near;		/* not sure: the address is only beside theirs */
	uint64_t address;
};

/*
 * @wanted is a name, as it is shown or as a symbol has it; fn@4e40; an address, 0x4e40; each
 * also with @ and an object behind it: its path, its name, or the beginning of its build id.
 */
void choice_make(struct profile *profile, const struct table *table, const char *wanted,
		 struct choice *choice);
void choice_free(struct choice *choice);

/* Ends the program: says that there is none, and what names are like it. */
_Noreturn void choice_none(const struct table *table, const char *wanted);

#endif /* TOOLS_CHOICE_H */
