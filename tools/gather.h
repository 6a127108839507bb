/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TOOLS_GATHER_H
#define TOOLS_GATHER_H

#include "profile.h"
#include "slices.h"
#include "units.h"

/*
 * Adds what a stopped session has counted, with names, to the last run of the profile, which
 * is to have its times already.  @kernel: it was told where the kernel was.  @units: it is a
 * session of the whole machine; otherwise NULL.
 */
void gather(struct session *session, const struct slices *slices, bool kernel,
	    struct units *units, struct profile *profile);

#endif /* TOOLS_GATHER_H */
