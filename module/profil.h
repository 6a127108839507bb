/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * profil: a statistical profile of a program, counted at the timer tick.
 *
 * READ THIS first.  The way of a sample, one function and one file an arrow:
 *
 *  ioctl(START)                  ioctl.c   task
 *     | copy, check, sort        set.c     task, may sleep and fault
 *     | map the anchor           anchor.c  task; fork copies the mapping,
 *     |                                    exec, exit and munmap drop it
 *     v
 *  registration, found by mm     reg.c     RCU hash; holds the current set
 *     ^
 *     | find
 *  tick on a CPU                 hook*.c -> tick.c     hardirq
 *     |
 *     +- tick in user mode:   pc -> region -> bin -> profil_bump() -> counted
 *     |                                                 | would fault, contended
 *     +- tick in kernel mode: the pc returned to        |
 *                         v                             v
 *                   pending record (thread, generation, bin) += 1   pending.c
 *                         |
 *                         | task_work when that thread returns to user mode,
 *                         | else a worker, else STOP on its behalf
 *                         v
 *                   profil_fault_in() (fault.c, may sleep), profil_bump()
 *
 * Contexts.  A tick never sleeps, allocates, drops a last reference or, in
 * kernel mode, touches user memory: the page tables that are loaded may not be
 * current's (EFI, exec, borrowed mm).
 *
 * Sections.  User memory is written only inside a section: interrupts off,
 * page faults disabled, a bounded number of tries (section.c).  Whoever takes
 * a set away waits until no CPU is in a section of that registration, which
 * takes as long as one such write.  Nothing sleeps or faults in a section, so
 * a STOP never waits for a thread, not even one that waits for its caller.
 *
 * Locks, in this order; each line may be taken under those above it:
 *
 *   profil_hook_mutex	arming and disarming; sleeps, never under mmap_lock
 *   reg->flush		one flush of pending records at a time
 *   mm->mmap_lock	START's check of the buffers, faults; anchor callbacks
 *			run under it
 *   section		interrupts off, see above
 *   profil_reg_lock	changes of the hash
 *   reg->lock		raw, interrupts off: the fields marked (l)
 *   profil_user_lock	the table of users
 *
 * Lifetime.  The anchor mapping and everything queued (task_work, worker) hold
 * a reference to the registration each; the anchor's file and queued task_work
 * hold the module.  The registration holds its mm's struct (mmgrab), so that
 * its address is not used again.  It is freed a grace period after its last
 * reference is gone, by a work item, because mmdrop() may sleep.
 */
#ifndef _PROFIL_H
#define _PROFIL_H

#include <linux/atomic.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/prandom.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/uidgid.h>
#include <linux/workqueue.h>
#include <linux/profil.h>

struct pt_regs;

#define PROFIL_REGIONS_MAX	4096	/* in one set */
#define PROFIL_PENDING_MAX	4096	/* records of one process */
#define PROFIL_PENDING_FIRST	32	/* of these, allocated with it */
#define PROFIL_PENDING_LOW	8	/* fewer spare ones: the worker adds more */
#define PROFIL_PENDING_BITS	5

/* No histograms there: exclusive access to device memory kills some machines. */
#define PROFIL_VM_DENIED	(VM_IO | VM_PFNMAP | VM_SHADOW_STACK)

/**
 * struct profil_user - What one user has of the limits
 * @node: In the table of users, under profil_user_lock
 * @uid: The user
 * @refs: Registrations and sets, under profil_user_lock
 * @profiles: Registrations, also those that wait to be freed
 * @regions: Regions of all sets
 * @records: Pending records allocated beyond the first
 * @workers: Workers that run now
 */
struct profil_user {
	struct hlist_node	node;
	kuid_t			uid;
	unsigned int		refs;
	atomic_t		profiles;
	atomic_t		regions;
	atomic_t		records;
	atomic_t		workers;
};

/**
 * struct profil_set - What one START asked for; never changes
 * @refs: Registrations that use it: a process and its forked children
 * @gen: Generation, never used twice
 * @user: Who is charged for the regions
 * @rate: As in &struct profil_start
 * @window: Of each @window ticks
 * @take: @take are due
 * @nr: Number of regions
 * @region: The regions, by ascending offset
 */
struct profil_set {
	refcount_t		refs;
	u64			gen;
	struct profil_user	*user;
	u32			rate;
	u32			window;
	u32			take;
	u32			nr;
	struct profil_region	region[];
};

/**
 * enum profil_class - Where a tick ended
 * @PROFIL_NOT_DUE: left out by the rate
 * @PROFIL_IN_RANGE: counted
 * @PROFIL_OUTSIDE: in no region
 * @PROFIL_SATURATED: the counter was full
 * @PROFIL_PENDING: in a pending record
 * @PROFIL_LOST_FULL: no free record; this and the following as in
 *                    &struct profil_stats
 * @PROFIL_LOST_STOPPED: was pending
 * @PROFIL_LOST_EXIT: thread gone
 * @PROFIL_LOST_FAULT: not writable
 * @PROFIL_LOST_DENIED: not by this thread
 * @PROFIL_LOST_UNREADY: not without waiting
 * @PROFIL_LOST_CONTENDED: out of tries
 * @PROFIL_CLASSES: number of classes
 */
enum profil_class {
	PROFIL_NOT_DUE,
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

/**
 * struct profil_bin_ref - One counter in one generation
 * @gen: Generation of the set that named it
 * @addr: Its address, aligned to its width
 * @bits: Its width, 16 or 32
 */
struct profil_bin_ref {
	u64		gen;
	unsigned long	addr;
	unsigned int	bits;
};

/**
 * struct profil_pending - Ticks of one thread on their way to one counter
 * @work: Owned by the thread while @queued
 * @node: In a bucket of @reg->pending or in @reg->spare; in neither while its
 *        own task_work delivers it (l)
 * @reg: The registration whose memory this is
 * @task: The thread, a key only, never followed; NULL without task_work (l)
 * @bin: The counter (l)
 * @count: Ticks (l)
 * @pass: The last flush that has seen it (l)
 * @queued: task_work will come for it, and holds references until then (l)
 */
struct profil_pending {
	struct callback_head	work;
	struct hlist_node	node;
	struct profil_reg	*reg;
	struct task_struct	*task;
	struct profil_bin_ref	bin;
	unsigned int		count;
	unsigned int		pass;
	bool			queued;
};

/**
 * struct profil_reg - A profiled address space
 *
 * States: on (@set), off or faulted (no @set, @state says which), dead (the
 * anchor is gone; never to be used again).
 *
 * @node: In the hash, under profil_reg_lock, read under RCU
 * @mm: The address space; only its struct is held
 * @user: Who is charged
 * @refs: The anchor and everything queued
 * @anchors: Anchor mappings: mremap() may have two for a moment
 * @set: What is counted, or NULL.  Changed under @lock, read in sections
 * @lock: Raw, guards what is marked (l)
 * @dead: The anchor is gone (l)
 * @state: PROFIL_STATE_* (l)
 * @rate: Of the last set (l)
 * @fault_addr: As in &struct profil_stats (l)
 * @ticks: All ticks; the sum of @count at any time (l)
 * @count: Ticks of each class (l)
 * @deferred: Ticks that went to a pending record (l)
 * @borrowed: Ticks of kernel threads in this address space (l)
 * @forks_missed: Children not profiled (l)
 * @rnd: For the choice of due ticks (l)
 * @window_left: Ticks to come in the window (l)
 * @take_left: Due ticks to come in the window (l)
 * @pending: Records in use, by thread and counter (l)
 * @spare: Records not in use (l)
 * @nr_spare: Their number (l)
 * @nr_records: Records altogether (l)
 * @flush: Held by who delivers records on behalf of threads
 * @pass: Number of that delivery, under @flush
 * @retries: Of the worker in a row, only touched by it
 * @chunks: Memory of records beyond @first, only touched by the worker
 * @work: The worker
 * @free: Frees it after a grace period
 * @first: The first records
 */
struct profil_reg {
	struct hlist_node	node;
	struct mm_struct	*mm;
	struct profil_user	*user;
	refcount_t		refs;
	atomic_t		anchors;
	struct profil_set	*set;

	raw_spinlock_t		lock;
	bool			dead;
	u32			state;
	u32			rate;
	u64			fault_addr;
	u64			ticks;
	u64			count[PROFIL_CLASSES];
	u64			deferred;
	u64			borrowed;
	u64			forks_missed;
	struct rnd_state	rnd;
	u32			window_left;
	u32			take_left;
	struct hlist_head	pending[1 << PROFIL_PENDING_BITS];
	struct hlist_head	spare;
	unsigned int		nr_spare;
	unsigned int		nr_records;

	struct mutex		flush;
	unsigned int		pass;
	unsigned int		retries;
	struct profil_chunk	*chunks;
	struct delayed_work	work;
	struct rcu_work		free;
	struct profil_pending	first[PROFIL_PENDING_FIRST];
};

/* main.c */
extern bool profil_deferred;
extern bool profil_task_work;
extern bool profil_arm_always;
extern char *profil_hook_choice;
extern unsigned int profil_max_profiles;
extern unsigned int profil_max_profiles_user;
extern struct workqueue_struct *profil_wq;

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
int profil_reg_replace(struct profil_reg *reg, struct profil_set *set);
void profil_reg_stop(struct profil_reg *reg);
void profil_reg_fault(struct profil_reg *reg, const struct profil_bin_ref *bin);
void profil_reg_inherit(struct profil_reg *child, struct profil_set *set);
struct profil_set *profil_reg_set_get(struct profil_reg *reg);
void profil_reg_close(struct profil_reg *reg);
void profil_reg_put(struct profil_reg *reg);
void profil_reg_wait(void);
int profil_reg_init(void);
void profil_reg_exit(void);

/* section.c */
struct profil_set *profil_section_enter(struct profil_reg *reg);
void profil_section_leave(void);
void profil_section_drain(struct profil_reg *reg);

/* set.c */
struct profil_set *profil_set_create(const struct profil_start *args);
int profil_set_check(const struct profil_set *set, struct mm_struct *mm);
bool profil_set_find(const struct profil_set *set, u64 pc,
		     struct profil_bin_ref *bin);
void profil_set_put(struct profil_set *set);

/* user.c */
struct profil_user *profil_user_get(kuid_t uid);
void profil_user_put(struct profil_user *user);
int profil_user_charge(atomic_t *used, unsigned int nr, unsigned int limit);

/* hook.c */
struct profil_hook {
	u32		id;	/* PROFIL_HOOK_* */
	const char	*name;
	int		(*arm)(void);
	void		(*disarm)(void);
};

extern const struct profil_hook profil_hook_ftrace;
extern const struct profil_hook profil_hook_kprobe;
extern const struct profil_hook profil_hook_hrtimer;

int profil_hook_get(void);
void profil_hook_hold(void);
void profil_hook_put(void);
void profil_hook_query(struct profil_query *query);
int profil_hook_init(void);
void profil_hook_exit(void);

/* tick.c */
void profil_tick(struct pt_regs *regs);
u64 profil_tick_hits(void);

/* bump.c */
int profil_bump(const struct profil_bin_ref *bin, unsigned int n);

/* pending.c */
void profil_pending_init(struct profil_reg *reg);
void profil_pending_free(struct profil_reg *reg);
enum profil_class profil_pending_add(struct profil_reg *reg,
				     const struct profil_bin_ref *bin);
void profil_pending_flush(struct profil_reg *reg);

/* fault.c */
int profil_fault_in(struct mm_struct *mm, unsigned long addr, bool wait);

/* A place where a test build lets other CPUs run; elsewhere nothing. */
#ifdef PROFIL_TEST
void profil_race(void);
#else
static inline void profil_race(void) {}
#endif

#endif /* _PROFIL_H */
