/* SPDX-License-Identifier: GPL-2.0-only */
/* The options --from and --to of what reads files. */
#ifndef TOOLS_SPAN_H
#define TOOLS_SPAN_H

#include <argp.h>
#include "profile.h"

struct span {
	uint64_t from_ns, to_ns;	/* to_ns is 0 if it was not given */
};

/* A child of a command's parser, whose input is a struct span. */
extern const struct argp span_argp;

/* Leaves what was asked for; @what: the file that it is of, or NULL. */
void span_cut(const struct span *span, struct profile *profile, const char *what);

#endif /* TOOLS_SPAN_H */
