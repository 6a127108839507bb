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

void report_deeds(void)
{
	int i;

	printf("fuzz: done");
	for (i = 0; i < DEEDS; i++)
		printf(" %s %lu%s", names[i], shared->deeds[i], i < DEEDS - 1 ? "," : "\n");
}
