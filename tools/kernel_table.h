/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The names of the kernel, kept in the folder of tables.h: to read /proc/kallsyms takes most of
 * what a profile costs.
 */
#ifndef TOOLS_KERNEL_TABLE_H
#define TOOLS_KERNEL_TABLE_H

#include <stdbool.h>
#include "dumped.h"
#include "symbols.h"

struct kernel_name {
	const char *name;	/* "FUNCTION" or "FUNCTION\tMODULE"; NULL: there is no code */
	uint64_t base;		/* where the first function of its module begins */
};

/* The table of the kernel that runs, with its modules; false if there is none. */
bool kernel_table_open(struct dumped *table);

/* False if only /proc/kallsyms can tell. */
bool kernel_table_find(const struct dumped *table, uint64_t address, struct kernel_name *found);

/* Keeps them if names are kept: all symbols, and which of them @is_code. */
void kernel_table_keep(const struct symbols *symbols, bool (*is_code)(const struct symbol *symbol));

#endif /* TOOLS_KERNEL_TABLE_H */
