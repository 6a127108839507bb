/* SPDX-License-Identifier: GPL-2.0-only */
/* What one object is called in profiles of two builds, which may have it under other names. */
#ifndef TOOLS_ALIKE_H
#define TOOLS_ALIKE_H

#include "profile.h"

/* What the program that was given to profil run is called there; NULL: it has no samples. */
const char *alike_program(const struct profile *first);

/*
 * What @file of @profile is called on both sides, as a text of @names: its program is
 * @program, that of the first profile, if it has one.
 */
const char *alike_name(struct profile *names, const struct profile *profile,
		       const char *file, const char *program);

#endif /* TOOLS_ALIKE_H */
