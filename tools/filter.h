/* SPDX-License-Identifier: GPL-2.0-only */
/* The options --unit, --container and --program of what reads files. */
#ifndef TOOLS_FILTER_H
#define TOOLS_FILTER_H

#include <argp.h>
#include "profile.h"

struct filter {
	const char *unit, *container, *program;	/* patterns as of a shell, or NULL: any */
};

/* A child of a command's parser, whose input is a struct filter. */
extern const struct argp filter_argp;

/* Leaves in the profile what fits; ends the program if nothing does. */
void filter_profile(const struct filter *filter, struct profile *profile);

/*
 * The same of one of several: what fits may be in some of them alone.  Returns whether anything
 * is left; where that is so of none of them, the other one ends the program.
 */
bool filter_one(const struct filter *filter, struct profile *profile, const char *file);
_Noreturn void filter_none(const struct filter *filter);

#endif /* TOOLS_FILTER_H */
