/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A session: the tables that the reader maps, and what the kernel keeps beside them.
 *
 * Who uses an entry that was free does so under table->lock, rows of members under
 * profil_member_lock.  What says that it is used is stored last (T), with release semantics,
 * and loaded with acquire semantics by ticks and by the reader.  From then on it does not
 * change but for its counts, which are atomic.
 */
#ifndef _PROFIL_TABLE_H
#define _PROFIL_TABLE_H

#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/mutex.h>
#include <linux/path.h>
#include <linux/refcount.h>
#include <linux/siphash.h>
#include <linux/spinlock.h>
#include <linux/stddef.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/profil.h>

#include "due.h"
#include "race.h"
#include "spread.h"

static_assert(offsetof(struct profil_slot, system) ==
	      offsetofend(struct profil_slot, user));
static_assert(offsetof(struct profil_process, system) ==
	      offsetofend(struct profil_process, user));

#define PROFIL_PROBES	32	/* a tick looks at so many entries of a table, */
#define PROFIL_PROBES_OTHERS	512	/* or where all else has no slot any more */

struct cred;
struct file;
struct inode;
struct profil_looks;
struct pid_namespace;
struct profil_member;
struct profil_seen;
struct profil_user;
struct vm_area_struct;

/* What the kernel keeps of an object.  Its path, and before that its file, hold the inode. */
struct profil_object_file {
	const struct inode	*inode;	/* a key */
	struct file		*file;	/* lock; until the path is taken */
	struct path		path;	/* mutex settle */
	u32			next;	/* lock; the next without a path, or 0 */
};

struct profil_table {
	struct profil_session_page	*page;	/* the mapping; the tables lie in it */
	struct profil_slot		*slots;
	struct profil_process		*processes;
	struct profil_object_entry	*objects;
	struct profil_object_file	*files;
	/*
	 * Of inodes: the index of their object, or 0.  Objects are numbered as they come, for
	 * the reader must not learn of an address of the kernel's where it begins to look.
	 */
	u32				*buckets;
	/* Of names, as in name.c: the index of their row, or 0; or NULL. */
	u32				*rows;
	siphash_key_t		name_key;	/* where to begin in these */
	u64			secret;		/* odd */
	u32			slot_shift;	/* 64 less the logarithm of their number */
	u32			object_shift;
	u32			row_shift;
	u32			flags;		/* PROFIL_SESSION_F_* */
	bool			picky;		/* there is more to a tick than its place */
	struct profil_due	due;
	u64			timer;		/* generation, or 0: the tick is the source */
	u32			period;		/* of the timer source, in ns, as what follows */
	u32			spread;
	/* For each tick, where that is not the source; or NULL. */
	void			(*late)(void);
	size_t			bytes;		/* of the mapping */
	atomic64_t		number ____cacheline_aligned_in_smp;	/* of ticks, if rated */

	raw_spinlock_t		lock;		/* interrupts off */
	u32			slots_used;	/* lock */
	u32			slots_most;	/* of places; others may use the rest */
	struct hlist_head	spare;		/* lock; members to be had */
	u32			unsettled;	/* lock; the first without a path, or 0 */

	struct hlist_head	members;	/* profil_member_lock */
	bool			had_members;	/* set once, by a command, as what follows: */
	bool			had_others;	/* members that its maker may not trace */
	bool			stopped;	/* profil_member_lock to change */
	struct profil_member	*pool;		/* or NULL, of the whole machine: */
	struct profil_seen __percpu *seen;
	struct profil_looks	*looks;		/* that come late, or NULL */
	struct hlist_node	system;		/* profil_systems_mutex, RCU */
	struct rcu_head		unseen;

	struct file		*authority;	/* its credentials are the maker's */
	struct pid_namespace	*pids;		/* the maker's */
	struct profil_user	*user;		/* charged for the tables */
	struct mutex		settle;		/* one takes paths at a time */
	wait_queue_head_t	wait;		/* of poll() */
	struct work_struct	work;		/* what a tick or a tracepoint cannot do */
	struct work_struct	end;
	/* The descriptor; each member or, of the whole machine, the list, until freed. */
	refcount_t		refs;
};

extern struct workqueue_struct *profil_table_wq;

/*
 * A process has become a member by a command.  If it is none any more already, nobody else
 * wakes who waits for that.
 */
static inline void profil_table_had(struct profil_table *table)
{
	smp_store_release(&table->had_members, true);	/* (W) after page->members */
	wake_up_all(&table->wait);
}

/* Whether the session was stopped, or all its members are gone. */
static inline bool profil_table_over(const struct profil_table *table)
{
	if (READ_ONCE(table->stopped))
		return true;
	if (!smp_load_acquire(&table->had_members))	/* (W) before page->members */
		return false;
	profil_race(PROFIL_RACE_POLL);
	return !READ_ONCE(table->page->members);
}

/* Counts in the mapping are atomic: many CPUs add to them. */
static __always_inline void profil_table_add(__u64 *count, unsigned int n)
{
	atomic64_add(n, (atomic64_t *)count);
}

static __always_inline void profil_table_inc(__u64 *count)
{
	profil_table_add(count, 1);
}

/* Of user mode if @system is 0, else of the kernel, which is beside it. */
static __always_inline void profil_table_count(__u64 *user, unsigned long system,
					       unsigned int n)
{
	profil_table_add(user + system, n);
}

/*
 * Where to begin to look for a slot.  No key here is an address of the kernel's that the slot
 * does not tell anyway.  The reader can find the secret out by the slots that he sees, and
 * spoils only a table of his own.  Of the whole machine, whoever fills it moves places into
 * the slots of their objects.
 */
static __always_inline u64 profil_table_begin(const struct profil_table *table, u64 place,
					      u32 object, u32 process)
{
	u64 key = place ^ object * PROFIL_SPREAD_OBJECT ^ process * PROFIL_SPREAD_PROCESS;

	return profil_spread(key, table->secret) >> table->slot_shift;
}

/* Whether it is the slot of that place.  What a used slot is about does not change. */
static __always_inline bool profil_table_is(const struct profil_slot *slot, u64 place,
					    u32 object, u32 process)
{
	return smp_load_acquire(&slot->object) == object &&	/* (T) */
	       slot->place == place && slot->process == process;
}

struct profil_slot *profil_table_slot(struct profil_table *table, u32 begin, u64 place,
				      u32 object, u32 process);
u32 profil_table_object(struct profil_table *table, struct file *file,
			const struct inode *inode);
u32 profil_table_row(struct profil_table *table, u32 parent, u32 pid, const char *comm,
		     u64 cgroup);
void profil_table_settle(struct profil_table *table);
int profil_table_path(struct profil_table *table, u32 object, struct path *path);
bool profil_table_covers(const struct profil_table *table, const struct cred *cred);
bool profil_table_allowed(const struct profil_table *table);
int profil_table_init(void);
void profil_table_exit(void);

/* layout.c */
bool profil_table_sizes_valid(const struct profil_ioc_session *args);
struct profil_table *profil_table_create(const struct profil_ioc_session *args);
int profil_table_map(const struct profil_table *table, struct vm_area_struct *vma);
void profil_table_free(struct profil_table *table);

#endif /* _PROFIL_TABLE_H */
