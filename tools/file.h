/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a file with code says, by elfutils, which may crash on what is made to crash it: for
 * a process of its own, see reader.h.
 */
#ifndef TOOLS_FILE_H
#define TOOLS_FILE_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "frames.h"
#include "symbols.h"

struct file {
	Dwfl_Module *module;
	Elf *elf;		/* NULL: it is no such file */
	GElf_Addr bias;		/* of libdwfl's addresses to those of the file */
	struct symbols symbols;
	struct frames frames;
	GElf_Addr start, limit;
	GElf_Off offset;
};

void file_open(struct file *file, int fd, const char *path);

/* From now on separate debug files are looked for in this folder first. */
void file_search(const char *folder);

/* Fills in where its code begins and ends. */
void file_find_code(struct file *file);

/* Segment @i, if it is one that is loaded; there are file_segments(). */
bool file_segment(const struct file *file, size_t i, GElf_Phdr *segment);
size_t file_segments(const struct file *file);

/*
 * The symbol of the function at an address, or NULL; then @start is where the function
 * begins if that is known, and else 0.
 */
const struct symbol *file_symbol(const struct file *file, GElf_Addr address, GElf_Addr *start);

void file_tell_build_id(const struct file *file, FILE *out);

/* The same of a file of which no more is wanted. */
void file_tell_id(int fd, const char *path, FILE *out);

enum file_how {
	FILE_LINES = 1,		/* not only functions, which may take long */
	FILE_ADDRESSES = 2,	/* places are no offsets in the file */
	FILE_CHEAP = 4,		/* no lines that are compressed: all of them would be read */
};

/*
 * Writes what the file behind the descriptor says, as texts that each end with a NUL
 * byte: its build id, the lowest address of its code, the end of it, the offset of the
 * lowest in the file; then of each place its address, function and symbol; then, if @how says
 * so, of each its source and line.
 */
void file_tell(int fd, const char *path, const uint64_t *places, size_t num, unsigned int how,
	       FILE *out);

#endif /* TOOLS_FILE_H */
