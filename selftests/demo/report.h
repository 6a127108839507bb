/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SELFTESTS_DEMO_REPORT_H
#define SELFTESTS_DEMO_REPORT_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include "profile.h"

/* Samples of one address, later of one function. */
struct sample {
	char *object;
	char *function;		/* NULL until symbolised */
	__u64 address;
	__u64 count;
};

/* What the files said, all added up. */
struct profile {
	struct profile_run run;
	__u64 processes;
	char *command;		/* of the first file */
	struct sample *samples;
	size_t num;
};

/* parse.c: adds a file; on bad input it says what is wrong, and exits */
void profile_read(struct profile *profile, const char *file);

/* symbols.c: fills in the functions, and adds up what is of one function */
void profile_symbolise(struct profile *profile);

/* unwind.c: where the function at this address of the file begins */
bool function_start(Elf *elf, __u64 address, __u64 *start);

/* For what came from a file: no control characters to the terminal. */
char *printable_copy(const char *text);
void *allocated(void *memory);

#endif /* SELFTESTS_DEMO_REPORT_H */
