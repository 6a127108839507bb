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

/* What was counted, once the session is stopped, but for its slots. */
struct session_table {
	struct profil_session_page page;
	struct profil_process *processes;
	size_t num_processes;
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

/* Nanoseconds of CPU time of a sample. */
unsigned long long session_period_ns(const struct session *session);

/* Each returns 0 or an errno.  Join is for the process that calls it. */
int session_join(struct session *session);
int session_attach(struct session *session, pid_t pid);

/*
 * For who looks while it counts: how many slots and rows there may be, and what they are now.
 * A slot stays that of its place.
 */
uint32_t session_slots(const struct session *session);
size_t session_num_processes(const struct session *session);

/* The first slot from @i on that is not free, and its number; session_slots(): there is none. */
uint32_t session_next_slot(const struct session *session, uint32_t i, struct profil_slot *slot);

/* Whose addresses the places of a slot are: a row, or 0 where they are no addresses. */
static inline uint32_t session_own_process(const struct profil_slot *slot)
{
	return slot->object < PROFIL_OBJECT_VDSO ? slot->process : 0;
}

void session_process(const struct session *session, size_t i, struct profil_process *process);
void session_page(const struct session *session, struct profil_session_page *page);

void session_stop(struct session *session);
void session_read(struct session *session, struct session_table *table);

/* Ticks of all processes; as long as it is the same, so are the slots. */
uint64_t session_ticks(const struct session *session);

/*
 * A file in which places were found: its path, to be freed, "" if it is not known, and a
 * descriptor, or -1 if it cannot be read.
 */
char *session_object(struct session *session, unsigned int object, int *fd);

/* Its tables go away. */
void session_close(struct session *session);

#endif /* TOOLS_SESSION_H */
