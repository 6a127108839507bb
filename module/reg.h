/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registrations: profiled address spaces, found by their mm.
 */
#ifndef _PROFIL_REG_H
#define _PROFIL_REG_H

#include <linux/build_bug.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/task_work.h>
#include <linux/workqueue.h>

#include "due.h"
#include "find.h"
#include "period.h"
#include "profil.h"

#define PROFIL_PART_BITS	4	/* of the buckets of a part */

struct profil_user;

/*
 * What ticks see of a set that is on.  Only START changes a run, and only one that no
 * tick sees; but number counts the ticks of a rated run.
 */
struct profil_run {
	struct profil_segments	segments;	/* as in set */
	bool			rated;		/* not every tick is due */
	bool			direct;		/* ticks in user mode count at once */
	struct profil_due	due;		/* as in set, with a secret of its own */
	struct profil_set	*set;
	/* For each tick, where that is not the source; or NULL. */
	void			(*late)(struct profil_reg *reg);
	atomic64_t		number ____cacheline_aligned_in_smp;
};

/*
 * Ticks of one thread, or where no thread delivers of one CPU, on their way to one
 * counter.  In a bucket of a part, or spare there or in reg->spare, or in none of these
 * while its own task_work delivers it.
 */
struct profil_pending {
	struct callback_head	work;		/* the thread's while queued */
	struct hlist_node	node;		/* (p); (l) in reg->spare */
	struct profil_part	*part;		/* unless it is in reg->spare */
	const void		*key;		/* (p) thread or CPU, never followed */
	struct profil_bin_ref	bin;		/* (p) */
	unsigned int		count;		/* (p) */
	bool			queued;		/* (p) task_work will come */
};

/*
 * The records are in parts, at least one for each CPU, so that ticks of many CPUs do not
 * wait for one lock.
 */
struct profil_part {
	raw_spinlock_t		lock;		/* guards what is marked (p) */
	unsigned int		used;		/* (p) records in buckets */
	unsigned int		nr_spare;	/* (p) */
	struct hlist_head	spare;		/* (p) */
	struct profil_reg	*reg;
	struct hlist_head	bucket[1 << PROFIL_PART_BITS];	/* (p) */
};

struct profil_chunk {
	struct profil_chunk	*next;
	struct profil_pending	record[];
};

/* How many parts there are, of so many CPUs: 16 at least, so 256 buckets. */
static inline unsigned int profil_part_bits(unsigned int cpus)
{
	return order_base_2(max(cpus, 16U));
}

/*
 * A profiled address space.  On (its run has a set), off or faulted (the state says
 * which), or dead (the anchor is gone, for good).
 */
struct profil_reg {
	struct hlist_node	node;		/* under profil_reg_lock, RCU */
	struct mm_struct	*mm;		/* its struct is held, no more */
	/* Of the anchor; under mmap_lock to change, or before it is published. */
	unsigned long		anchor;
	unsigned long		former;		/* under mmap_lock: where it was before mremap() */
	/* (l) to change, section or (l) to read, (E): profil_run_off if nothing is on */
	struct profil_run	*now;
	struct profil_run	run[2];		/* mutex start to fill */
	struct profil_run	*last;		/* mutex start: of the last START */
	/* Of ticks; (l) to take from PROFIL_PENDING and add elsewhere. */
	atomic64_t		count[PROFIL_CLASSES];
	atomic64_t		deferred;	/* went to a pending record */
	atomic64_t		borrowed;	/* ticks of kernel threads */

	raw_spinlock_t		lock;		/* guards what is marked (l) */
	bool			dead;		/* (l) to change */
	u32			state;		/* (l) PROFIL_STATE_* */
	u64			cookie;		/* (l) generation of the last set */
	u32			period;		/* (l) of the last set */
	u32			rate;		/* (l) of the last set */
	u32			source;		/* (l) of the last set */
	u64			timer_gen;	/* (l) to change, (G) to read */
	u32			timer_period;	/* (l) to change, (G) to read */
	u32			timer_spread;	/* (l) to change, (G) to read */
	atomic64_t		timer_left[PROFIL_TIMER_LEFTS];	/* of periods */
	u64			fault_addr;	/* (l) */
	u64			not_due;	/* (l) of runs that were filled anew */
	u64			forks_missed;	/* (l) */

	struct profil_user	*user;
	refcount_t		refs;		/* anchor, and what is queued */
	atomic_t		anchors;	/* mremap() has two for a moment */
	struct mutex		start;		/* one START at a time */

	struct hlist_head	spare;		/* (l) */
	unsigned int		nr_spare;	/* (l) to change */
	unsigned int		nr_records;	/* (l) to change: all there are */
	unsigned int		nr_chunk;	/* so many in a chunk */
	unsigned int		nr_keep;	/* so many may be spare in a part */
	task_work_func_t	deliver;	/* what a record's thread does */

	struct mutex		flush;		/* one at a time, for others */
	unsigned int		retries;	/* worker only */
	unsigned long		retried;	/* worker only, in jiffies */
	struct profil_chunk	*chunks;	/* worker, then the free */
	struct delayed_work	work;
	struct rcu_head		free;

	u64			secret;		/* odd, of the parts and their buckets */
	unsigned int		part_bits;
	struct profil_part	part[];
};

static_assert(sizeof(struct profil_reg) <= 4096);

/*
 * Everybody's tick walks a bucket.  The default of max_profiles makes it 2 entries on
 * the average, and nobody can aim at one bucket: the key is not known.
 */
#define PROFIL_REG_BITS		13

/* It has no set, and counts nothing. */
extern struct profil_run profil_run_off;

extern struct hlist_head *profil_regs;
extern unsigned long profil_reg_key;

static inline struct hlist_head *profil_reg_bucket(struct mm_struct *mm)
{
	unsigned long key = (unsigned long)mm * profil_reg_key;

	return &profil_regs[key >> (BITS_PER_LONG - PROFIL_REG_BITS)];
}

/*
 * The registration of an address space, without a reference, or NULL.  In a tick,
 * where interrupts are off, or under rcu_read_lock().
 */
static __always_inline struct profil_reg *profil_reg_find(struct mm_struct *mm)
{
	struct profil_reg *reg;

	hlist_for_each_entry_rcu(reg, profil_reg_bucket(mm), node)
		if (reg->mm == mm)
			return reg;
	return NULL;
}

/* Gives a tick of a rated run its number, and says whether it is due. */
static __always_inline bool profil_run_due(struct profil_run *run)
{
	u64 number = atomic64_inc_return(&run->number) - 1;

	return profil_due(&run->due, profil_due_units, number / run->due.window,
			  number % run->due.window);
}

struct profil_reg *profil_reg_get(struct mm_struct *mm);
void profil_reg_put(struct profil_reg *reg);
struct profil_reg *profil_reg_create(struct mm_struct *mm);
int profil_reg_publish(struct profil_reg *reg);
void profil_reg_unpublish(struct profil_reg *reg);
bool profil_reg_orphaned(const struct profil_reg *reg);
void profil_reg_kick(struct profil_reg *reg, unsigned long delay);
bool profil_reg_kick_later(struct profil_reg *reg, unsigned long delay);
void profil_reg_fill(struct profil_reg *reg, struct profil_run *run, struct profil_set *set);
struct profil_set *profil_reg_switch(struct profil_reg *reg, struct profil_run *run,
				     u32 state);
void profil_reg_retire(struct profil_reg *reg, struct profil_set *old);
bool profil_reg_end(struct profil_reg *reg, const struct profil_bin_ref *bin,
		    unsigned int n);
int profil_reg_init(void);
void profil_reg_wait(void);
void profil_reg_exit(void);

#endif /* _PROFIL_REG_H */
