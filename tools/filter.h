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

/*
 * Leaves in the profile what fits.  Ends the program if nothing does; it is said to be in
 * @what, NULL: this profile.
 */
void filter_profile(const struct filter *filter, struct profile *profile, const char *what);

#endif /* TOOLS_FILTER_H */
