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

/* The same of each of several: what fits may be in some of them alone. */
void filter_profiles(const struct filter *filter, struct profile *profiles, size_t num,
		     char *const *files);

#endif /* TOOLS_FILTER_H */
