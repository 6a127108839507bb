/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TOOLS_FACTS_H
#define TOOLS_FACTS_H

#include "profile.h"

/* What made the profile, and where. */
void facts_add(struct profile *profile);

#endif /* TOOLS_FACTS_H */
