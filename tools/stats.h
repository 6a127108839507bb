/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TOOLS_STATS_H
#define TOOLS_STATS_H

#include <stdint.h>

/* Fewer samples than this say nothing of how sure a share is. */
#define STATS_LEAST 5

/*
 * Wilson's interval of a share of @part in @all samples: with these, the true share is in
 * it 19 times of 20.
 */
void stats_interval(uint64_t part, uint64_t all, double *low, double *high);

#endif /* TOOLS_STATS_H */
