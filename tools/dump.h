/* SPDX-License-Identifier: GPL-2.0-only */
/* All functions of a file, as a table that is looked up where it lies. */
#ifndef TOOLS_DUMP_H
#define TOOLS_DUMP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define DUMP_MAGIC "profil-2"

/* Then the segments, the functions in the order of their addresses, and the texts. */
struct dump_head {
	char magic[8];
	uint64_t start, limit, offset;	/* as struct object has them */
	uint32_t build_id;		/* a text */
	uint32_t segments, functions, texts;
	uint32_t few;			/* of the functions, few have names */
	uint32_t asked;			/* the day on which debuginfod was asked for more, or 0 */
};

/* Few files have more than ten that are loaded; each place is looked for in all of them. */
#define DUMP_SEGMENTS_MAX 1000

struct dump_segment {
	uint64_t offset, length, address;
};

/* It reaches to the next one; names are offsets of texts, and "" is none. */
struct dump_function {
	uint64_t start;
	uint32_t name, symbol;
};

/* Writes the table of the file behind the descriptor.  False: it could not be read this time. */
bool dump_write(int fd, const char *path, uint32_t asked, FILE *out);

#endif /* TOOLS_DUMP_H */
