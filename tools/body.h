/* SPDX-License-Identifier: GPL-2.0-only */
/* The body of a function: its code as its file has it, with the samples of a profile. */
#ifndef TOOLS_BODY_H
#define TOOLS_BODY_H

#include "table.h"

struct cost {
	uint64_t samples, cpu_ns, user_ns, system_ns;
};

/* An instruction; without a disassembler, a place in the code. */
struct step {
	uint64_t address;
	uint64_t target;	/* of a jump or a call, or 0 */
	uint64_t jumps;		/* it is no call */
	const char *text;
	const char *source;	/* "" if it is not known */
	uint64_t line;
	const char *inlined;	/* the function that was put in here, or "" */
	struct cost cost;
};

/* A function may have several, as overloaded ones have one name. */
struct range {
	const char *name;
	uint64_t start, end;
	const char *source;	/* where it is written, or "" */
	uint64_t line;
	size_t first;		/* of the steps */
};

struct body {
	const char *build_id;
	const char *missing;	/* why there are no instructions, or "" */
	struct range *ranges;
	struct step *steps;	/* ascending, those of all ranges */
	size_t num_ranges, room_ranges;
	size_t num_steps, room_steps;
	struct cost sum;	/* of the function */
	struct cost elsewhere;	/* of it, at addresses that are not in the code */
};

/*
 * Reads the function of a row out of the file behind @fd, which is closed; @path is its name.
 * False, and a
 * sentence was said, if what reads it has failed.
 */
bool body_read(struct profile *profile, const struct row *row, int fd, const char *path,
	       struct body *body);
bool body_has(const struct body *body, uint64_t address);
void body_free(struct body *body);

void cost_add(struct cost *sum, const struct cost *cost);

/* For tests: what a reader has told. */
struct told;
bool body_take(struct profile *profile, struct told *told, struct body *body);

/* Whether a place is one of the function of a row of a table BY_FUNCTION. */
bool row_has(struct profile *profile, const struct row *row, const struct place *place);

#endif /* TOOLS_BODY_H */
