/* SPDX-License-Identifier: GPL-2.0-only */
/* The options of what is printed: how much, and for people or for programs. */
#ifndef TOOLS_OUTPUT_H
#define TOOLS_OUTPUT_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

struct output {
	size_t rows;	/* 0: all */
	bool tsv, json;
};

#define OUTPUT_USUAL { .rows = 20 }

/* Children of a command's parser, whose input is a struct output. */
extern const struct argp output_argp;		/* --tsv, --json */
extern const struct argp output_rows_argp;	/* these, --rows and --all */

/* All was printed, or the program ends and says that @what was not. */
void output_end(const char *what);

#endif /* TOOLS_OUTPUT_H */
