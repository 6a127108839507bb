/* SPDX-License-Identifier: GPL-2.0-only */
/* One interval of profil watch: from a session that was stopped to its file. */
#ifndef TOOLS_INTERVAL_H
#define TOOLS_INTERVAL_H

#include <stdint.h>
#include <stdio.h>
#include "session.h"
#include "spool.h"
#include "tally.h"
#include "units.h"

struct interval {
	struct session *session;
	struct units *units;
	const struct spool *spool;
	const char *metrics;	/* a file, or NULL */
	bool kernel;
	bool finishing;		/* tables for later profiles are made when it is written */
	uint64_t time_ns;	/* when it began, in real time */
	uint64_t length_ns;
	double naming;		/* so many seconds files may be read for names */
	const uint64_t *tallies;	/* for the metrics */
};

/*
 * For a process of its own: names what was counted, and writes it.  It says "NAME NUMBER" of
 * what is to be added to tallies, and whatever else is a message.
 */
void interval_work(void *interval, FILE *out);

#endif /* TOOLS_INTERVAL_H */
