/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TOOLS_GATHER_H
#define TOOLS_GATHER_H

#include "profile.h"
#include "slices.h"

/*
 * Adds what a stopped session has counted, with names, to the last run of the profile.
 * @kernel: it was told where the kernel was.
 */
void gather(struct session *session, const struct slices *slices, bool kernel,
	    struct profile *profile);

#endif /* TOOLS_GATHER_H */
