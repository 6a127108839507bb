// SPDX-License-Identifier: GPL-2.0-only
/* What came about: what is never done is not tried, or never succeeds. */
#include <stdio.h>

#include "fuzz.h"

static const char *const names[DEEDS] = {
	"machine", "refused", "followed", "timer", "mapped", "moved", "joined", "attached",
	"opened", "polled", "stopped",
};

void did(enum deed deed, bool done)
{
	if (done)
		__atomic_add_fetch(&shared->deeds[deed], 1, __ATOMIC_RELAXED);
}

bool report_deeds(void)
{
	bool all = true;
	int i;

	printf("fuzz: done");
	for (i = 0; i < DEEDS; i++) {
		printf(" %s %lu%s", names[i], shared->deeds[i], i < DEEDS - 1 ? "," : "\n");
		all = all && shared->deeds[i];
	}
	return all;
}
