/* SPDX-License-Identifier: GPL-2.0-only */
/* profil top: what was asked for, and what is shown. */
#ifndef TOOLS_TOP_H
#define TOOLS_TOP_H

#include "counting.h"
#include "live.h"
#include "naming.h"
#include "program.h"
#include "slices.h"
#include "units.h"
#include "view.h"

struct top {
	struct counting counting;
	size_t rows;		/* of a table, where there is no screen */
	enum by by;		/* what is shown first */
	double seconds;		/* of an interval */
	unsigned long intervals;	/* 0: no limit */

	struct session *session;
	struct program program;
	struct units *units;	/* NULL: it is not the whole machine */
	struct slices *slices;	/* of time, as long as an interval or longer */
	struct live live;
	struct naming naming;
	struct helper writing;
	uint64_t time_ns;	/* when it began */
	bool screen;
	bool ending;		/* the program was asked to end */
};

/* Shows what is counted, until nothing is, or somebody ends it. */
void watch(struct top *top);

/* Gives the profile its name and times, and what was counted until now. */
void top_gather(struct top *top, struct profile *profile);

/* Ends it: a program that was started gets SIGTERM, and is left alone the second time. */
void top_quit(struct top *top);

#endif /* TOOLS_TOP_H */
