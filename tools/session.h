/* SPDX-License-Identifier: GPL-2.0-only */
/* A session of the kernel's.  Only session.c knows the device. */
#ifndef TOOLS_SESSION_H
#define TOOLS_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <linux/profil.h>

struct session;

struct session_wish {
	unsigned int rate;	/* samples a second; 0: every tick */
	unsigned int slots;	/* size of the table of places */
	bool user_only;
	bool kernel;		/* also where the kernel was */
	bool per_process;
	bool system;		/* whatever runs on the machine */
	const char *command;	/* who wishes for that, in messages */
};

extern const char *const session_device;

/* The answer of the device, or a negative errno: of open(), then of QUERY. */
int session_query(struct profil_ioc_query *query);

/* Whether there would be such a session: 0 or an errno. */
int session_possible(const struct session_wish *wish);

/* Makes a session, or says why there is none, and what to do, and ends the program. */
struct session *session_open(const struct session_wish *wish);

/*
 * The session of the whole machine that follows another one: each tick is in the former or in
 * the next, and the former is stopped.  NULL, with errno: there is none, and that goes on.
 */
struct session *session_follow(struct session *former, const struct session_wish *wish);

/* In a child of who opened it: children have the descriptor, and no mapping.  0 or an errno. */
int session_inherit(struct session *session);

/*
 * In a child that has no use for them: no session of this process but @kept, which may be NULL,
 * lives as long as the child does.
 */
void session_leave(const struct session *kept);

/* To be polled for POLLHUP: nobody is counted any more. */
int session_fd(const struct session *session);

/* When it was made, by CLOCK_MONOTONIC: from then on the whole machine counts. */
uint64_t session_began_ns(const struct session *session);

/* How long it has counted; of the whole machine, and stopped, for how long each CPU had ticks. */
uint64_t session_length_ns(const struct session *session);

/* What counts.c reads; there is one until session_close(). */
const struct profil_session_page *session_mapping(const struct session *session);

/* Nanoseconds of CPU time of a sample. */
unsigned long long session_period_ns(const struct session *session);

/* Each returns 0 or an errno.  Join is for the process that calls it. */
int session_join(struct session *session);
int session_attach(struct session *session, pid_t pid);

void session_stop(struct session *session);

/*
 * A file in which places were found: its path, to be freed, "" if it is not known, and a
 * descriptor, or -1 if it cannot be read.
 */
char *session_object(struct session *session, unsigned int object, int *fd);

/* Its tables go away. */
void session_close(struct session *session);

#endif /* TOOLS_SESSION_H */
