/* SPDX-License-Identifier: GPL-2.0-only */
/* A function line by line: of its source, or of its instructions. */
#ifndef TOOLS_LISTING_H
#define TOOLS_LISTING_H

#include "body.h"
#include "source.h"

enum line_kind {
	LINE_SOURCE, LINE_CODE,
	LINE_HEAD,		/* where the lines below come from */
	LINE_GAP,		/* instead of @hidden lines */
};

struct line {
	enum line_kind kind;
	const char *text;
	const char *inlined;	/* the function that was put in here, or "" */
	const char *source;	/* LINE_SOURCE: "" and 0 if they are not known */
	uint64_t number;
	uint64_t address, target;	/* LINE_CODE; target: 0 if it does not jump */
	size_t hidden;
	struct cost cost;
};

struct listing {
	struct line *lines;
	size_t num, room;
};

/* The file that most of a function was written in, or "". */
const char *listing_source_of(const struct body *body);

void listing_source(struct profile *profile, const struct body *body, struct sources *sources,
		    struct listing *listing);

/* With the lines of source between the instructions, if there are @sources. */
void listing_code(struct profile *profile, const struct body *body, struct sources *sources,
		  struct listing *listing);

/* Leaves out lines that are far from those with samples. */
void listing_fold(struct listing *listing);

#endif /* TOOLS_LISTING_H */
