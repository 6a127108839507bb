/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Members: the processes that sessions count, found by their struct pid, which is the same
 * for all threads, before and after exec.
 */
#ifndef _PROFIL_MEMBER_H
#define _PROFIL_MEMBER_H

#include <linux/atomic.h>
#include <linux/rculist.h>
#include <linux/sched/signal.h>

#include "kept.h"
#include "period.h"

#define PROFIL_MEMBERS_MAX	4096	/* of one session, at a time */
#define PROFIL_MEMBER_SESSIONS	4	/* of one process: the tick and fork walk them all */
#define PROFIL_MEMBER_BITS	13	/* as PROFIL_REG_BITS */

struct pid;
struct profil_table;

/* Where the ticks of a process are counted. */
struct profil_row {
	u32	index;
	u32	apart;	/* the same, if files are told apart by process */
};

struct profil_member {
	struct hlist_node	node;		/* profil_member_lock, RCU */
	struct pid		*tgid;		/* held */
	struct profil_table	*table;
	/* Of the image that may be counted; keys.  The process itself changes them, by exec. */
	struct mm_struct	*mm;		/* not NULL; before what is kept (N) */
	u64			exec_id;
	struct profil_process	*row;
	struct profil_row	who;
	struct profil_kept	kept;
	atomic64_t		timer_left[PROFIL_TIMER_LEFTS];	/* of periods */
	atomic_t		holds;		/* the session's, and of follow.c's question */
	struct callback_head	question;	/* current's, at its exec, as what follows */
	bool			nondump;
	struct hlist_node	mate;		/* in table->members or table->spare */
	struct rcu_head		free;
};

/* So many there are, and for each session of the whole machine so many more. */
#define PROFIL_MACHINE	0x1000000
extern atomic_t profil_members;

/* Where they are found. */
extern struct hlist_head profil_member_hash[1 << PROFIL_MEMBER_BITS];
extern unsigned long profil_member_key;

/* @pid may be NULL. */
static __always_inline struct hlist_head *profil_member_bucket(struct pid *pid)
{
	unsigned long key = (unsigned long)pid * profil_member_key;

	return &profil_member_hash[key >> (BITS_PER_LONG - PROFIL_MEMBER_BITS)];
}

int profil_member_add(struct profil_table *table, struct task_struct *task, u64 exec_id);
void profil_member_remove(struct profil_table *table, struct pid *tgid);
void profil_member_fork(struct task_struct *parent, struct task_struct *child);
void profil_member_exec(struct profil_member *member, bool approved);
void profil_member_exit(struct task_struct *task);
void profil_member_release(struct profil_member *member);
void profil_member_stop(struct profil_table *table);
int profil_member_pool(struct profil_table *table);
void profil_member_put(struct profil_table *table);
void profil_member_init(void);

#endif /* _PROFIL_MEMBER_H */
