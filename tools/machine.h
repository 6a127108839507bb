/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the time of all CPUs of a machine went, by classes. */
#ifndef TOOLS_MACHINE_H
#define TOOLS_MACHINE_H

#include <stdio.h>
#include "profile.h"

/* Is it a profile of the whole machine, and of all of its time? */
bool machine_is(const struct profile *profile);

/* Samples that are in no slot, and in no other class that all profiles have. */
uint64_t machine_ticks(const struct profile *profile);

/* How many CPUs there were, and for how long; then a line for each class. */
void machine_head(FILE *out, const struct profile *profile);

#endif /* TOOLS_MACHINE_H */
