/* SPDX-License-Identifier: GPL-2.0-only */
/* Which functions the compiler has put into another one, and where; by libdw. */
#ifndef TOOLS_INLINED_H
#define TOOLS_INLINED_H

#include <elfutils/libdwfl.h>
#include <stddef.h>

struct inlined {
	struct inlined_range *list;
	size_t num, room;
	unsigned long seen;
	const char *source;	/* where the outer function is written, or NULL */
	const char *folder;	/* where the compiler ran, or NULL */
	int line;
};

/* Of the function that has this address of libdwfl's. */
void inlined_find(struct inlined *inlined, Dwfl_Module *module, Dwarf_Addr address);

/* The innermost one there, or "". */
const char *inlined_at(const struct inlined *inlined, Dwarf_Addr address);

#endif /* TOOLS_INLINED_H */
