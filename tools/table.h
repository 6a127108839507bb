/* SPDX-License-Identifier: GPL-2.0-only */
/* A profile added up by what somebody asks for. */
#ifndef TOOLS_TABLE_H
#define TOOLS_TABLE_H

#include "profile.h"

enum by {
	BY_FUNCTION, BY_LINE, BY_OBJECT, BY_PROCESS, BY_ADDRESS, BY_UNIT, BY_CONTAINER, BY_PROGRAM,
	BY_KINDS
};

extern const char *const by_names[BY_KINDS];

struct row {
	const char *name;	/* function; object, program or unit where it is by these */
	const char *object;
	const char *build_id;
	const char *source;	/* BY_LINE */
	uint64_t line;
	uint64_t address;	/* BY_ADDRESS */
	int64_t pid;		/* BY_PROCESS */
	uint64_t samples;
	uint64_t recent;	/* as in struct sample */
	uint64_t cpu_ns, user_ns, system_ns;
	uint64_t unnamed;	/* of the samples */
};

struct table {
	enum by by;
	struct row *rows;	/* the most samples first */
	size_t num;
	struct row sum;
};

/* Is it by what ran, and not by where it was? */
bool by_who(enum by by);

/* Is it known of each sample?  Of processes only if it was made --per-process. */
bool table_knows(const struct profile *profile, enum by by);

void table_make(struct profile *profile, enum by by, struct table *table);

/* Of some samples of the profile alone; @by is no process. */
void table_make_of(struct profile *profile, enum by by, struct sample *samples, size_t num,
		   struct table *table);
void table_free(struct table *table);

/* The place of a row in a text: "file.c:42", "0x4e40", "4242"; to be freed. */
char *row_place(const struct table *table, const struct row *row);

#endif /* TOOLS_TABLE_H */
