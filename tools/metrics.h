/* SPDX-License-Identifier: GPL-2.0-only */
/* Counters of the hottest functions, as Prometheus and others like it read them. */
#ifndef TOOLS_METRICS_H
#define TOOLS_METRICS_H

#include "profile.h"
#include "tally.h"

/*
 * Adds a profile to the counters that the file has, whole or not at all.  A failure is said.
 * There are never more than METRICS_SERIES: of each of the METRICS_UNITS units with the most
 * time in this profile, the METRICS_FUNCTIONS functions with the most, and what was counted
 * before; all others together are "[others]".  A file that is full begins at 0 again.
 */
#define METRICS_SERIES 2000
#define METRICS_UNITS 50
#define METRICS_FUNCTIONS 10

void metrics_add(struct profile *profile, const uint64_t tallies[TALLIES], const char *file);

#endif /* TOOLS_METRICS_H */
