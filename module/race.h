/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Places between two steps that others may separate.  A test build lets other
 * CPUs run there; elsewhere there is nothing.
 */
#ifndef _PROFIL_RACE_H
#define _PROFIL_RACE_H

enum profil_race_point {
	PROFIL_RACE_ENTER,	/* section seen, set not read */
	PROFIL_RACE_USE,	/* set read, not used */
	PROFIL_RACE_LEAVE,	/* set used, section still seen */
	PROFIL_RACE_ACCOUNT,	/* word written, not accounted for */
	PROFIL_RACE_MOVE,	/* no longer pending, in no other class */
	PROFIL_RACE_BUMP,	/* word read, not written */
	PROFIL_RACE_DELIVER,	/* task_work begun, record not taken */
	PROFIL_RACE_FAULT,	/* write failed, mapping not looked up */
	PROFIL_RACE_WORKER,	/* worker begun */
	PROFIL_RACE_BORROW,	/* worker has the memory, nothing delivered */
	PROFIL_RACE_SWITCH,	/* registration found, set not changed */
	PROFIL_RACE_CLOSE,	/* anchor unmapped, set taken for good, still found */
	PROFIL_RACE_ANCHOR,	/* no registration found, none published */
	PROFIL_RACE_FIND,	/* buffers checked, registration not looked for */
	PROFIL_RACE_RETIRE,	/* set taken for good, hook still held */
	PROFIL_RACE_SETTLE,	/* hook has no users, not disarmed */
	PROFIL_RACE_TAKEOVER,	/* own timers armed, the other hook still on the tick */
	PROFIL_RACE_GONE,	/* task_work done but for its return */
	PROFIL_RACE_COUNT,	/* row counted, slot not */
	PROFIL_RACE_LOOK,	/* mapping found, not looked at */
	PROFIL_RACE_FREE,	/* entry of a table found free, not locked */
	PROFIL_RACE_FILL,	/* slot filled, not published */
	PROFIL_RACE_CHECK,	/* ATTACH: the process checked, no member yet */
	PROFIL_RACE_ADD,	/* no member yet, nothing in the way of one */
	PROFIL_RACE_STOPPED,	/* the last member taken out */
	PROFIL_RACE_EXEC,	/* exec approved or not, member not changed */
	PROFIL_RACE_POLL,	/* a member was seen to have been, not how many there are */
	PROFIL_RACE_LATE,	/* late look taken, mapping not looked up */
	PROFIL_RACE_BEGIN,	/* sessions of the machine changed, the time not taken */
};

#ifdef PROFIL_TEST
void profil_race(enum profil_race_point point);
/* Whether a test wants the kernel's next step to fail: not before others could run. */
bool profil_race_fails(void);
/* Whether to do as in a kernel for real time. */
extern bool profil_race_late;
#else
#define profil_race_late false
static inline void profil_race(enum profil_race_point point) {}
static inline bool profil_race_fails(void) { return false; }
#endif

#endif /* _PROFIL_RACE_H */
