/* SPDX-License-Identifier: GPL-2.0-only */
/* The end of a run, which is that of profil top as well. */
#ifndef TOOLS_RUN_H
#define TOOLS_RUN_H

#include "counting.h"
#include "profile.h"
#include "program.h"

/* The command as it was given, with spaces between; or which process it is, or all. */
void run_set_command(struct profile *profile, const struct counting *counting);

/* What the kernel charged a program that was counted from its begin to its end. */
void run_set_charged(struct profile *profile, const struct program *program);

/* Writes the profile, and says on standard error what is in it. */
void run_end(struct profile *profile, const struct counting *counting, size_t rows);

#endif /* TOOLS_RUN_H */
