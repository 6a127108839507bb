/* SPDX-License-Identifier: GPL-2.0-only */
/* Names for what is looked at while it is counted, found by a process of its own. */
#ifndef TOOLS_NAMING_H
#define TOOLS_NAMING_H

#include "helper.h"
#include "live.h"

struct naming {
	struct helper helper;
	size_t taken;		/* bytes of what it says */
	size_t asked, asking;	/* so many places have been, or are being asked for */
	double began, pause;	/* of the last one; not again before that moment */
};

void naming_init(struct naming *naming);

/* Asks for the names of places that are new, if it is time to. */
void naming_start(struct naming *naming, struct live *live);

/* Takes the names that have come, without waiting.  Returns whether there were any. */
bool naming_take(struct naming *naming, struct live *live);
void naming_end(struct naming *naming);

#endif /* TOOLS_NAMING_H */
