/* SPDX-License-Identifier: GPL-2.0-only */
/* A session while it counts: its tables as a profile, in which counts grow. */
#ifndef TOOLS_LIVE_H
#define TOOLS_LIVE_H

#include "profile.h"
#include "session.h"
#include "units.h"

/* What the kernel has counted, and how much of it was there at the moment zero. */
struct counted {
	uint64_t user, system;
	uint64_t zero_user, zero_system;
};

/* Where an object of the profile comes from. */
struct origin {
	uint32_t object;	/* as slots have it */
	uint32_t process;	/* whose addresses these are, or 0 */
};

struct live {
	struct session *session;
	bool kernel;
	struct units *units;		/* NULL: it is not the whole machine */
	struct profil_process *rows;	/* of the machine, as they are by now */
	long cpus;			/* of it, or 1 */
	double units_read;		/* when new units were looked for */
	/* sample i is at place i; what they count is what came after zero */
	struct profile profile;
	struct origin *origins;		/* of each object */
	struct counted *slots;		/* of each sample */
	struct counted *processes;
	struct counted all;		/* as user; also the samples of no slot */
	size_t room_origins, room_slots, room_processes, room_rows;
	size_t *known;			/* of each slot: its sample + 1, or 0 */
	uint64_t samples, recent;	/* of all, since zero and in the last interval */
	double began, zero, before, read;	/* when; read is the end of the last interval */
};

/* @units as for gather(). */
void live_init(struct live *live, struct session *session, bool kernel, struct units *units);

/* Reads the counts: an interval ends.  Needs no system call but for objects that are new. */
void live_read(struct live *live);

/* The process that alone has made what lies in memory of an object, or 0. */
pid_t live_maker(const struct live *live, size_t object);

/* The object of this name, which is added if there is none. */
size_t live_object(struct live *live, const char *file);

/* Counts from here on. */
void live_zero(struct live *live);
void live_free(struct live *live);

#endif /* TOOLS_LIVE_H */
