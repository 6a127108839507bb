/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TOOLS_GATHER_H
#define TOOLS_GATHER_H

#include "profile.h"
#include "session.h"

/* What a stopped session has counted, with names; @kernel: it was told where the kernel was. */
void gather(struct session *session, bool kernel, struct profile *profile);

#endif /* TOOLS_GATHER_H */
