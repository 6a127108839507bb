/* SPDX-License-Identifier: GPL-2.0-only */
/* The loop of profil watch: one session after another, no tick between them. */
#ifndef TOOLS_INTERVALS_H
#define TOOLS_INTERVALS_H

#include "helper.h"
#include "interval.h"
#include "push.h"
#include "session.h"
#include "spool.h"
#include "units.h"

struct watch {
	/* what is wanted */
	struct session_wish wish;
	struct spool spool;
	struct push push;
	const char *metrics;	/* a file, or NULL */
	uint64_t every_ns;
	/* what there is */
	struct session *session;
	struct units *units;
	struct helper writer, pusher;
	struct helper maker;	/* a writer that has written, and goes on making tables */
	uint64_t time_ns;	/* when the interval began, by the real clock */
	uint64_t due_ns;
	uint64_t jump_ns;		/* real less monotonic time, when it began */
	uint64_t tallies[TALLIES];
	bool writing;		/* a profile, which is neither written nor lost yet */
	bool refused;		/* the last session that was to follow; it was said */
	char *said;		/* the last message of a helper */
	int signals;
};

/* Returns after SIGTERM or SIGINT, when the part of the interval is written. */
void watch_machine(struct watch *watch);

#endif /* TOOLS_INTERVALS_H */
