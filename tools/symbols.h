/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TOOLS_SYMBOLS_H
#define TOOLS_SYMBOLS_H

#include <elfutils/libdwfl.h>
#include <stddef.h>
#include <stdint.h>

struct symbol {
	uint64_t start;
	uint64_t end;
	const char *name;
	int rank;		/* lower is better, of two at one address */
	bool sized;		/* end is what the symbol says, and no guess */
};

/*
 * The functions of a file, or of the kernel, sorted: libdwfl has those of a file as well, and
 * looks at all each time.
 */
struct symbols {
	struct symbol *list;
	size_t num, room;
};

void symbols_load(Dwfl_Module *module, struct symbols *symbols);
void symbols_add(struct symbols *symbols, struct symbol symbol);
/* One that is not sized ends where the next one begins. */
void symbols_sort(struct symbols *symbols);
const struct symbol *symbols_find(const struct symbols *symbols, uint64_t address);

#endif /* TOOLS_SYMBOLS_H */
