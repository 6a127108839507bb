/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * profil: a statistical profile of a program, counted at the timer tick.  There are two
 * kinds: a profile is a process' own, in its memory; a session counts other processes, its
 * members, in tables of the kernel's.
 *
 * READ THIS first.  Each line below is one file; calls and includes go down the page
 * only, in the order of the file ORDER, which lint checks.
 *
 *  main.c       the device; the module comes and goes
 *  ioctl.c      QUERY, START, STOP, STATS: checked, and their steps in order
 *  session.c    a session: a file that counts other processes, its tables mapped
 *  join.c       who becomes a member by a command
 *  object.c     the files of a session's places, for its reader
 *  anchor.c     the mapping that ties a profile to its address space: fork copies it;
 *               exec, exit, kill and munmap drop it
 *  profile.c    who is counted: a profile begins, ends, is inherited
 *  hook.c       which hook is on the tick, arming and lingering
 *  hook_*.c     the hooks, on the kernel's function of the tick: ftrace, else kprobe;
 *               else a timer on each CPU.  A new hook is a new one of these, and a
 *               line in hook.c
 *  watch.c      whether the hook is alive
 *  timer.c      the finer source of samples: timers that run with a thread (countdown.h,
 *               period.h)
 *  nohz.c       CPUs that have no tick
 *  follow.c     fork, exec and exit of members; which programs they may execute
 *  flush.c      delivery for others: the worker, START and STOP
 *  tick.h, .c   one sample, from the hook to its class
 *  system.c     a tick of the whole machine: whose it is, which class
 *  name.c       the row of a control group and a program's name
 *  place.h, .c  a member's tick: where that is, by a look or by what is kept
 *  look.h, .c   looks that come late, by a worker, in a kernel for real time
 *  mapping.h, .c from a pc to its object, and to its slot
 *  member.h, .c processes that sessions count, found by struct pid
 *  kept.h, .c   what is kept of a member's mappings
 *  layout.c     the tables of a session: made, mapped, freed
 *  table.h, .c  their entries: slots, objects, rows
 *  command.h, .c the general format of a command
 *  deliver.c    a lost sample: one record to its counter, or the reason why not
 *               (other places of lost samples: enum profil_class below)
 *  pending.c    the table of records
 *  stats.c      the accounting, as STATS shows it
 *  reg.h, .c    registrations: found by mm; what is on
 *  set.h, .c    what START asked for: copied, checked, and made the numbers of bin.h
 *  find.h, .c   from a pc to its range: the code cut into segments
 *  limits.h, .c a limit of a process, of a user or of the system
 *  bump.h       one counter, one exchange
 *  due.h, .c    which ticks are due, where the rate is below the tick's
 *  spread.h     where in a table to begin: what lies together is spread over all
 *  bin.h        a wrong bin: the arithmetic
 *  section.h    where user memory is written, and the wait for it
 *  race.h       places where a test build widens the windows
 *  choice.c     parameters that are one word of several
 *  compat/      what a new or an old kernel does not compile
 *
 * The way of a sample, which is a tick or, with the timer source, the end of a period:
 *
 *  hook_ftrace.c -> tick.h: is current's mm registered?  reg.h
 *                   enter a section                      section.h
 *                   number the tick: is it due?          due.h
 *                   user mode: pc -> range -> counter    find.h, bin.h
 *                   one exchange, one class              bump.h
 *      in kernel mode, or if the page is not there or the word contended:
 *  tick.c ------>   (thread, generation, counter) += 1   pending.c
 *      when the thread returns to user mode, by task_work; else by a worker:
 *  deliver.c --->   fault the page in, one exchange, one class
 *
 * The way of a member's tick is another one, which touches no user memory:
 *
 *  hook_ftrace.c -> tick.h: is current's struct pid a member's?    member.h
 *                   Or is everything counted?  Then whose it is                system.c
 *  place.c       -> is it due?  Is it the image that may be counted?
 *                   pc -> file and offset: the mapping of that moment, as it was kept, or
 *                   looked up by a trylock; else as it was before; else the address
 *                   (for real time, a worker looks it up: look.c)
 *                   one increment of a slot                        table.h
 *
 * Contexts.  A tick is in hard interrupt context.  It never sleeps, allocates, drops a
 * last reference or, in kernel mode, touches user memory: the page tables that are loaded
 * may not be current's (EFI, exec, borrowed mm).
 *
 * Sections.  User memory is written, and that accounted for, only in a section:
 * interrupts off, page faults disabled, a bounded number of tries.  Whoever takes a run
 * away waits until no CPU is in a section of that registration, which takes as long as
 * one such write.  Nothing sleeps or faults in a section, so it waits for no thread.  What
 * STOP delivers before may wait for a file system.
 *
 * Locks, in this order; each line may be taken under those above it:
 *
 *   profil_hook_mutex	arming and disarming; sleeps, never under mmap_lock
 *   reg->start		one START at a time
 *   reg->flush		one flush of pending records at a time
 *   mm->mmap_lock	START's check of the buffers, faults; anchor callbacks run under it
 *   profil_user_lock	the table of users
 *   profil_reg_lock	changes of the hash
 *   section		interrupts off, see above
 *   part->lock		raw, interrupts off: the fields marked (p), of pending records
 *   reg->lock		raw, interrupts off: the fields marked (l)
 *
 * and of sessions, where a tick takes kept->lock, table->lock and looks->lock:
 *
 *   profil_hook_mutex
 *   profil_systems_mutex	the list of sessions of the whole machine
 *   table->settle	paths are taken of new objects
 *   mm->mmap_lock	the tick's trylock
 *   profil_member_lock	raw: the hash and lists of members, the rows
 *   kept->lock	raw, interrupts off: the kept ranges
 *   table->lock	raw, interrupts off: entries that are free
 *   looks->lock	raw, interrupts off: what waits for a late look; alone
 *
 * A tick in user mode takes no lock: it numbers itself in its run, and adds to one class.
 *
 * Lifetime.  The anchor mapping and everything queued (task_work, worker) hold a reference
 * to the registration each; the anchor's file, queued task_work and a worker with the
 * address space hold the module.  The registration holds its mm's struct (mmgrab), so that
 * its address is not used again before the last reference to it is gone.  It is freed a
 * grace period later.  A set is held for the run that is on; a run that is not keeps stale
 * pointers, which nobody follows.  The set holds the hook.
 *
 * A session is held by its descriptor, which the mapping holds too, and by each member until
 * that is freed, a grace period after it was one; it holds the hook and the module.  A member
 * holds its struct pid; mm and exec_id are keys.  A question of follow.c holds it, too, and what
 * waits for a late look holds the struct of an mm.  A session of the whole machine is held by
 * its place in the list instead, until a grace period after it left that.
 */
#ifndef _PROFIL_H
#define _PROFIL_H

#include <linux/types.h>

/* Not taken for histograms: exclusive access to device memory kills some machines. */
#define PROFIL_VM_DENIED	(VM_IO | VM_PFNMAP | VM_SHADOW_STACK)

/* They may work for an address space, but are nobody's user code. */
#define PROFIL_PF_BORROWERS	(PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER)

/*
 * Where a tick ended; the LOST_ ones as in struct profil_ioc_stats.  tick.c finds it out, or
 * the file that is named.
 */
enum profil_class {
	PROFIL_SYSTEM,
	PROFIL_IN_RANGE,
	PROFIL_OUTSIDE,
	PROFIL_SATURATED,
	PROFIL_PENDING,
	PROFIL_LOST_FULL,	/* pending.c */
	PROFIL_LOST_STOPPED,	/* deliver.c */
	PROFIL_LOST_EXIT,	/* pending.c, deliver.c */
	PROFIL_LOST_FAULT,	/* reg.c */
	PROFIL_LOST_DENIED,	/* deliver.c */
	PROFIL_LOST_UNREADY,	/* deliver.c, flush.c */
	PROFIL_LOST_CONTENDED,	/* deliver.c */
	PROFIL_CLASSES,
};

struct callback_head;
struct file;
struct mm_struct;
struct profil_args;
struct profil_bin_ref;
struct profil_member;
struct profil_ioc_query;
struct profil_pending;
struct profil_reg;
struct profil_set;
struct profil_ioc_stats;
struct profil_table;
struct pt_regs;
struct vm_area_struct;
struct work_struct;

/* ioctl.c */
long profil_ioctl(struct file *file, unsigned int cmd, unsigned long arg);

/* session.c */
u32 profil_session_flags(void);
int profil_session_create(struct file *device, struct profil_args *args);
void profil_session_told(struct profil_args *args, bool told);

/* join.c */
int profil_join(struct file *file, struct profil_args *args);
int profil_join_other(struct file *file, struct profil_args *args);

/* object.c */
int profil_object(struct file *file, struct profil_args *args);
void profil_object_end(struct profil_args *args, bool told);

/* anchor.c */
int profil_anchor_mmap(struct file *file, struct vm_area_struct *vma);
int profil_anchor_create(struct file *device);
int profil_anchor_wait(struct profil_reg *reg);

/* profile.c */
struct profil_reg *profil_profile_create(struct mm_struct *mm);
int profil_profile_on(struct profil_reg *reg, struct profil_set *set);
int profil_profile_off(struct profil_reg *reg, u64 cookie);
struct profil_reg *profil_profile_inherit(struct profil_reg *parent, struct mm_struct *mm);
void profil_profile_end(struct profil_reg *reg);

/* hook.c, hook_*.c */
struct profil_hook {
	u32		id;	/* PROFIL_HOOK_* */
	const char	*name;
	int		(*arm)(void);
	void		(*disarm)(void);
	void		(*release)(void);	/* at module exit, or NULL */
};

extern const struct profil_hook profil_hook_ftrace, profil_hook_kprobe, profil_hook_hrtimer;
#define PROFIL_HOOK_TIMER	BIT(0)
#define PROFIL_HOOK_FOLLOW	BIT(1)
int profil_hook_get(unsigned int also);
void profil_hook_put(void);
void profil_hook_query(struct profil_ioc_query *query);
int profil_hook_init(void);
void profil_hook_exit(void);

/* watch.c */
void profil_watch_reset(void);
bool profil_watch_dead(void);

/* timer.c */
u32 profil_timer_rate_max(void);
void profil_timer_run(struct profil_reg *reg);
void profil_timer_run_sessions(void);
int profil_timer_arm(void);
void profil_timer_disarm(void);
void profil_timer_init(void);

/* nohz.c */
bool profil_nohz_left_alone(unsigned int cpu);
bool profil_nohz_any_left_alone(void);
void profil_nohz_arm(void);
void profil_nohz_disarm(void);

/* follow.c */
int profil_follow_arm(void);
void profil_follow_disarm(void);
bool profil_follow_possible(void);
void profil_follow_init(void);

/* flush.c */
void profil_flush_all(struct profil_reg *reg);
void profil_flush_worker(struct work_struct *work);

/* system.c */
int profil_system_pool(struct profil_table *table);
int profil_system_start(struct profil_table *table, struct profil_table *former);
void profil_system_stop(struct profil_table *table);
void profil_system_tick(void);

/* name.c */
u32 profil_name_row(struct profil_table *table);

/* place.c */
void profil_place_tick(struct profil_member *member, struct pt_regs *regs);
void profil_place_sample(struct profil_member *member, struct pt_regs *regs, unsigned int n);
void profil_place_kernel(struct profil_member *member, struct pt_regs *regs, unsigned int n);

/* deliver.c */
void profil_deliver_settle(struct profil_reg *reg, enum profil_class class,
			   unsigned int n);
bool profil_deliver(struct profil_reg *reg, const struct profil_bin_ref *bin,
		    unsigned int *n, bool wait);
void profil_deliver_own(struct callback_head *work);

/* pending.c */
bool profil_pending_by_thread(void);
int profil_pending_init(struct profil_reg *reg);
void profil_pending_grow(struct profil_reg *reg);
void profil_pending_add(struct profil_reg *reg, const struct profil_bin_ref *bin,
			unsigned int n);
void profil_pending_spare(struct profil_pending *record);

/* stats.c */
void profil_stats_read(struct profil_reg *reg, struct profil_ioc_stats *stats);

#endif /* _PROFIL_H */
