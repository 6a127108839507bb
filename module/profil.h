/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * profil: a statistical profile of a program, counted at the timer tick.
 *
 * READ THIS first.  The way of a sample, one function and one file an arrow:
 *
 *  ioctl(START)                  ioctl.c   task
 *     | copy, check              set.c, region.c    task, may sleep and fault
 *     | cut into segments        find.c    task
 *     | map the anchor           anchor.c  task; fork copies the mapping,
 *     |                                    exec, exit and munmap drop it
 *     v
 *  registration, found by mm     reg.c     RCU hash; holds the current set,
 *     ^                                    which switch.c changes
 *     | find
 *  tick on a CPU                 hook*.c, hot.h -> tick.c     hardirq
 *     |   or its timer, if       timer.c   hardirq; begun and ended at the
 *     |   that is the source               switches of threads
 *     |
 *     +- tick in user mode:   pc -> segment -> bin -> profil_bump() -> counted
 *     |   (hot.h and a short   (find.h)     (bump.h)    | would fault, contended
 *     |   way for most)                                 |
 *     +- tick in kernel mode: the pc returned to        |
 *                         v                             v
 *                   pending record (thread, generation, bin) += 1   pending.c
 *                         |
 *                         | task_work when that thread returns to user mode;
 *                         | else a worker; STOP and START for all (flush.c)
 *                         v
 *                   deliver.c: profil_fault_in() (may sleep), profil_bump()
 *
 * Contexts.  A tick never sleeps, allocates, drops a last reference or, in
 * kernel mode, touches user memory: the page tables that are loaded may not be
 * current's (EFI, exec, borrowed mm).
 *
 * Sections.  User memory is written, and that accounted for, only in a section:
 * interrupts off, page faults disabled, a bounded number of tries (section.c).
 * Whoever takes a set away waits until no CPU is in a section of that registration,
 * which takes as long as one such write.  Nothing sleeps or faults in a section, so
 * it waits for no thread.  What a STOP delivers before may wait for a file system.
 *
 * Locks, in this order; each line may be taken under those above it:
 *
 *   profil_hook_mutex	arming and disarming; sleeps, never under mmap_lock
 *   reg->flush		one flush of pending records at a time
 *   mm->mmap_lock	START's check of the buffers, faults; anchor callbacks
 *			run under it
 *   profil_user_lock	the table of users
 *   profil_reg_lock	changes of the hash
 *   section		interrupts off, see above
 *   reg->lock		raw, interrupts off: the fields marked (l)
 *
 * Lifetime.  The anchor mapping and everything queued (task_work, worker) hold
 * a reference to the registration each; the anchor's file, queued task_work and
 * a worker with the address space hold the module.  The registration holds its
 * mm's struct (mmgrab), so that its address is not used again before the last
 * reference to it is gone.  It is freed a grace period later.
 */
#ifndef _PROFIL_H
#define _PROFIL_H

#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/prandom.h>
#include <linux/refcount.h>
#include <linux/uidgid.h>
#include <linux/workqueue.h>
#include <linux/profil.h>

#include "race.h"

struct profil_cpu;
struct pt_regs;

#define PROFIL_REGIONS_MAX	4096	/* in one set */
#define PROFIL_TIMER_RATE_MAX	10000U
#define PROFIL_TIMER_LEFTS	4	/* CPUs whose periods are kept */
#define PROFIL_PENDING_MAX	4096	/* records of one process */
#define PROFIL_PENDING_FIRST	32	/* of these, allocated with it */
#define PROFIL_PENDING_LOW	8	/* fewer spare ones: the worker adds more */
#define PROFIL_PENDING_BITS	5
#define PROFIL_WORKERS_MAX	128	/* with an address space, of all users */

/* Not taken for histograms: exclusive access to device memory kills some machines. */
#define PROFIL_VM_DENIED	(VM_IO | VM_PFNMAP | VM_SHADOW_STACK)

/* They may work for an address space, but are nobody's user code. */
#define PROFIL_PF_BORROWERS	(PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER)

/* What one user has of the limits. */
struct profil_user {
	struct hlist_node	node;		/* under profil_user_lock */
	kuid_t			uid;
	unsigned int		refs;		/* under profil_user_lock */
	atomic_t		profiles;	/* until they are freed */
	atomic_t		regions;
	atomic_t		records;	/* pending, beyond the first */
	atomic_t		workers;	/* running now */
};

/* A region as the tick needs it. */
struct profil_range {
	u64			offset;
	u64			end;	/* first pc beyond the histogram */
	unsigned long		addr;	/* of the histogram */
	u64			bytes;	/* its size */
	u32			scale;	/* 0: the first counter has all */
	u32			given;	/* place in what START was given */
	u32			below;	/* what it hides where it begins */
	u8			pre;	/* as for profil_bin() */
	u8			post;
	u8			order;	/* logarithm of a counter's bytes */
	bool			overflow;
	u32			mask;	/* a counter's maximum */
};

/* What one START asked for.  Never changes; forked children share it. */
struct profil_set {
	refcount_t		refs;
	u64			gen;		/* generation, never used twice */
	struct profil_user	*user;		/* charged for the regions */
	u32			charged;	/* so many */
	u32			flags;		/* as in struct profil_start */
	u32			rate;
	u32			window;		/* of each so many ticks */
	u32			take;		/* so many are due */
	u64			timer;		/* gen, or 0: the tick is the source */
	u32			period;		/* of the timer, in ns */
	u32			spread;		/* a random part of it */
	u32			nr_ranges;
	u32			nr_segments;
	u32			skip;		/* of these, by the first step */
	u32			step;		/* half of the others: a power of 2 */
	bool			fast;		/* each tick counts once, in the tick */
	u64			*start;		/* of each segment, ascending */
	struct profil_range	**segment;	/* who has it, if any, until the next */
	struct profil_range	range[];
};

/* Where a tick ended; the LOST_ ones as in struct profil_stats. */
enum profil_class {
	PROFIL_NOT_DUE,
	PROFIL_SYSTEM,
	PROFIL_IN_RANGE,
	PROFIL_OUTSIDE,
	PROFIL_SATURATED,
	PROFIL_PENDING,
	PROFIL_LOST_FULL,
	PROFIL_LOST_STOPPED,
	PROFIL_LOST_EXIT,
	PROFIL_LOST_FAULT,
	PROFIL_LOST_DENIED,
	PROFIL_LOST_UNREADY,
	PROFIL_LOST_CONTENDED,
	PROFIL_CLASSES,
};

/* One counter in one generation. */
struct profil_bin_ref {
	u64			gen;
	unsigned long		addr;
	u32			mask;		/* its maximum */
};

/*
 * Ticks of one thread on their way to one counter.  In a bucket of
 * reg->pending, or in reg->spare, or in neither while its own task_work
 * delivers it.
 */
struct profil_pending {
	struct callback_head	work;		/* the thread's while queued */
	struct hlist_node	node;		/* (l) */
	struct profil_reg	*reg;
	struct task_struct	*task;		/* (l) a key, never followed */
	unsigned long		pc;		/* (l) the last tick's */
	struct profil_bin_ref	bin;		/* (l) */
	unsigned int		count;		/* (l) */
	unsigned int		pass;		/* (l) last flush that saw it */
	bool			queued;		/* (l) task_work will come */
};

/*
 * A profiled address space.  On (it has a set), off or faulted (it has none,
 * and the state says which), or dead (the anchor is gone, for good).
 */
struct profil_reg {
	struct hlist_node	node;		/* under profil_reg_lock, RCU */
	struct mm_struct	*mm;		/* its struct is held, no more */
	struct profil_user	*user;
	refcount_t		refs;		/* anchor, and what is queued */
	atomic_t		anchors;	/* mremap() has two for a moment */
	struct profil_set	*set;		/* (l) to change; section or (l) to read */

	raw_spinlock_t		lock;		/* guards what is marked (l) */
	bool			dead;		/* (l) to change */
	u32			state;		/* (l) PROFIL_STATE_* */
	u32			rate;		/* (l) of the last set */
	u32			source;		/* (l) of the last set */
	u64			timer_gen;	/* (l) to change, (G) to read */
	u32			timer_period;	/* (l) to change, (G) to read */
	u32			timer_spread;	/* (l) to change, (G) to read */
	atomic64_t		timer_left[PROFIL_TIMER_LEFTS];	/* of periods */
	u64			fault_addr;	/* (l) */
	u64			ticks;		/* (l) always the sum of count */
	atomic64_t		fast;		/* beside them: of both, in range */
	u64			count[PROFIL_CLASSES];	/* (l) */
	u64			deferred;	/* (l) went to a pending record */
	u64			borrowed;	/* (l) ticks of kernel threads */
	u64			forks_missed;	/* (l) */
	struct rnd_state	rnd;		/* (l) chooses due ticks */
	u32			window_left;	/* (l) ticks to come */
	u32			take_left;	/* (l) of these, due */
	unsigned long		secret;		/* odd, of the buckets that follow */
	struct hlist_head	pending[1 << PROFIL_PENDING_BITS];	/* (l) */
	struct hlist_head	spare;		/* (l) */
	struct profil_pending	*recent;	/* (l) to change: the last used, or NULL */
	unsigned int		nr_spare;	/* (l) to change */
	unsigned int		nr_records;	/* (l) to change: pending and spare */

	struct mutex		flush;		/* one at a time, for others */
	unsigned int		pass;		/* (l) and flush to change */
	unsigned int		retries;	/* worker only */
	unsigned long		retried;	/* worker only, in jiffies */
	struct profil_chunk	*chunks;	/* worker, then the free */
	struct delayed_work	work;
	struct rcu_head		free;
	struct profil_pending	first[PROFIL_PENDING_FIRST];
};

/* main.c */
extern bool profil_deferred;
extern bool profil_task_work;
extern bool profil_arm_always;
extern bool profil_nohz_tick;
extern char *profil_hook_choice;
extern unsigned int profil_max_profiles;
extern unsigned int profil_max_profiles_user;
extern unsigned int profil_max_regions_user;
extern unsigned int profil_max_records_user;
extern unsigned int profil_max_workers_user;
extern unsigned int profil_max_timer_rate;
extern struct workqueue_struct *profil_wq, *profil_hook_wq;

/* ioctl.c */
long profil_ioctl(struct file *file, unsigned int cmd, unsigned long arg);

/* anchor.c */
int profil_anchor_mmap(struct file *file, struct vm_area_struct *vma);
int profil_anchor_create(struct file *device);

/* reg.c */
struct profil_reg *profil_reg_find(struct mm_struct *mm);
struct profil_reg *profil_reg_get(struct mm_struct *mm);
struct profil_reg *profil_reg_create(struct mm_struct *mm);
int profil_reg_publish(struct profil_reg *reg);
void profil_reg_unpublish(struct profil_reg *reg);
void profil_reg_put(struct profil_reg *reg);
int profil_reg_init(void);
void profil_reg_wait(void);
void profil_reg_exit(void);

/* switch.c */
int profil_switch_on(struct profil_reg *reg, struct profil_set *set);
void profil_switch_off(struct profil_reg *reg);
bool profil_switch_end(struct profil_reg *reg, const struct profil_bin_ref *bin,
		       unsigned int n);
bool profil_switch_inherits(struct profil_reg *parent);
bool profil_switch_inherit(struct profil_reg *child, struct profil_reg *parent);
void profil_switch_dead(struct profil_reg *reg);

/* section.c, hot.h */
void profil_section_drain(struct profil_reg *reg);

/* set.c */
struct profil_set *profil_set_create(const struct profil_start *args);
int profil_set_check(const struct profil_set *set);
void profil_set_put(struct profil_set *set);

/* region.c */
int profil_region_check(const struct profil_region *region);
void profil_region_range(const struct profil_region *region, struct profil_range *range);
int profil_region_mapped(const struct profil_range *range);

/* find.c */
void profil_find_prepare(struct profil_set *set);
bool profil_find_bin(const struct profil_set *set, u64 pc,
		     struct profil_bin_ref *bin);

/* stats.c */
void profil_stats_read(struct profil_reg *reg, struct profil_stats *stats);

/* user.c */
struct profil_user *profil_user_get(kuid_t uid);
void profil_user_put(struct profil_user *user);
int profil_user_charge(atomic_t *used, unsigned int nr, unsigned int limit);

/* hook.c, watch.c */
struct profil_hook {
	u32		id;	/* PROFIL_HOOK_* */
	const char	*name;
	int		(*arm)(void);
	void		(*disarm)(void);
	void		(*release)(void);	/* at module exit, or NULL */
};

extern const struct profil_hook profil_hook_ftrace, profil_hook_kprobe, profil_hook_hrtimer;
int profil_hook_get(bool timer);
void profil_hook_hold(bool timer);
void profil_hook_put(bool timer);
void profil_hook_query(struct profil_query *query);
void profil_hook_exit(void);
void profil_watch_reset(void);
bool profil_watch_dead(void);

/* nohz.c */
bool profil_nohz_left_alone(unsigned int cpu);
bool profil_nohz_any_left_alone(void);
void profil_nohz_arm(void);
void profil_nohz_disarm(void);

/* tick.c */
void profil_tick_rest(struct profil_cpu *cpu, struct profil_reg *reg,
		      const struct profil_set *set, struct pt_regs *regs);
void profil_tick_sample(struct profil_reg *reg, struct pt_regs *regs, u64 timer,
			unsigned int times);

/* timer.c */
extern bool profil_timer_armed;
u32 profil_timer_rate_max(void);
void profil_timer_run(struct profil_reg *reg);
int profil_timer_arm(void);
void profil_timer_disarm(void);
void profil_timer_init(void);

/* pending.c */
void profil_pending_init(struct profil_reg *reg);
void profil_pending_free(struct profil_reg *reg);
void profil_pending_grow(struct profil_reg *reg);
void profil_pending_spare(struct profil_reg *reg,
			  struct profil_pending *record);
enum profil_class profil_pending_add(struct profil_reg *reg,
				     const struct profil_bin_ref *bin,
				     unsigned long pc, unsigned int n);
bool profil_pending_again(struct profil_reg *reg, unsigned long pc);

/* deliver.c */
void profil_deliver_settle(struct profil_reg *reg, enum profil_class class,
			   unsigned int n);
bool profil_deliver(struct profil_reg *reg, const struct profil_bin_ref *bin,
		    unsigned int *n, bool wait);
void profil_deliver_own(struct callback_head *work);

/* flush.c */
void profil_flush_all(struct profil_reg *reg);
void profil_flush_kick(struct profil_reg *reg);
void profil_flush_worker(struct work_struct *work);

/* fault.c */
int profil_fault_in(struct mm_struct *mm, unsigned long addr, bool wait);

#endif /* _PROFIL_H */
