/* SPDX-License-Identifier: GPL-2.0-only */
/* The end of a run, which is that of profil top as well. */
#ifndef TOOLS_RUN_H
#define TOOLS_RUN_H

#include "profile.h"
#include "program.h"

/* The command as it was given, with spaces between; or which process it is. */
void run_set_command(struct profile *profile, pid_t pid, char **argv);

/* What the kernel charged a program that was counted from its begin to its end. */
void run_set_charged(struct profile *profile, const struct program *program);

/* What is said at the end, to standard error; so many bytes were written, or -1. */
void run_print(struct profile *profile, const char *file, size_t rows, long long bytes);

#endif /* TOOLS_RUN_H */
