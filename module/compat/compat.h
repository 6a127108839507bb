/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All differences between kernels.  The other files are written against the
 * newest kernel; this one, included before anything else, gives older kernels
 * what they lack.  Kbuild.probe finds out what that is.  The oldest is 5.10.
 */
#ifndef _PROFIL_COMPAT_H
#define _PROFIL_COMPAT_H

#ifndef CONFIG_64BIT
#error "profil needs a 64-bit kernel: generations and counts are read whole"
#endif

#ifdef CONFIG_CPU_BIG_ENDIAN
#error "profil needs a little-endian machine: it carries upwards in memory"
#endif

/* Comes before all headers of all files, so this can only be here. */
#define pr_fmt(fmt) "profil: " fmt

#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/seqlock.h>
#include <linux/task_work.h>
#include <linux/uaccess.h>

/* 6.4 gave vhost workers the user's address space and this flag. */
#ifndef PF_USER_WORKER
#define PF_USER_WORKER 0
#endif

/* 6.6 brought user shadow stacks. */
#ifndef VM_SHADOW_STACK
#define VM_SHADOW_STACK VM_NONE
#endif

/* In hardirq no fault is handled anyway, but some warn if none is disabled. */
#if defined(WARN_ON_IN_IRQ) || defined(CONFIG_DEBUG_ATOMIC_SLEEP) || \
	defined(CONFIG_PROVE_LOCKING)
#define profil_hardirq_fault_disable pagefault_disable
#define profil_hardirq_fault_enable pagefault_enable
#else
static inline void profil_hardirq_fault_disable(void) {}
static inline void profil_hardirq_fault_enable(void) {}
#endif

#ifndef HAVE_MAY_SPLIT
#define may_split split
#endif

#ifndef HAVE_FTRACE_REGS
#define ftrace_regs pt_regs
#endif

/* Has the same effect, and leaves nothing allocated either. */
#ifndef HAVE_FTRACE_FREE_FILTER
#define ftrace_free_filter(ops) ftrace_set_filter(ops, NULL, 0, 1)
#endif

/* The kernel's own looks at a variable of interrupts, which we never need. */
#if defined(CONFIG_MEMCG) && !defined(HAVE_INT_ACTIVE_MEMCG)
#define set_active_memcg(memcg) xchg(&current->active_memcg, memcg)
#endif

#ifndef HAVE_VMA_LOOKUP
static inline struct vm_area_struct *vma_lookup(struct mm_struct *mm,
						unsigned long addr)
{
	struct vm_area_struct *vma = find_vma(mm, addr);

	return vma && vma->vm_start <= addr ? vma : NULL;
}
#endif

#ifndef HAVE_VM_FAULT_COMPLETED
#define VM_FAULT_COMPLETED 0
#endif

#ifndef HAVE_VM_FLAGS_SET
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}

static inline void vm_flags_clear(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags &= ~flags;
}
#endif

/* Overlays of files had mappings of the real file then, under the path that users know. */
#ifndef HAVE_FILE_USER_INODE
#define file_user_inode(file) file_inode(file)
#define file_user_path(file) (&(file)->f_path)
#endif

/*
 * Odd while mappings may be changing, or where that cannot be seen: then each tick looks, in
 * line.
 */
#if defined(HAVE_MM_LOCK_SEQCOUNT) && defined(CONFIG_PER_VMA_LOCK)
#define PROFIL_LOOK noinline
#define profil_mm_seq(mm) raw_read_seqcount(&(mm)->mm_lock_seq)
#else
#define PROFIL_LOOK __always_inline
#define profil_mm_seq(mm) ((void)(mm), 1U)
#endif

/*
 * Where spin locks sleep, no tick may let go of mmap_lock, which may turn interrupts on, and
 * no tracepoint ask for rights.  A test build does so anywhere, if asked to: see race.h.
 */
#define profil_real_time() (IS_ENABLED(CONFIG_PREEMPT_RT) || profil_race_late)

/*
 * Whether a tick may take mmap_lock, by a trylock.  Not in what is like an NMI (int3), nor
 * in the kernel where the look-up writes to what is current's.
 */
#ifdef HAVE_MAPLE_TREE
#define profil_may_look(system) ((void)(system), !in_nmi())
#else
#define profil_may_look(system) (!(system) && !in_nmi())
#endif

#define profil_vdso(mm) ((unsigned long)(mm)->context.vdso)

/* Of the unified hierarchy; RCU has it while interrupts are off. */
#ifdef CONFIG_CGROUPS
#define profil_cgroup_id(task) cgroup_id(rcu_dereference_sched((task)->cgroups)->dfl_cgrp)
#else
#define profil_cgroup_id(task) ((void)(task), 0)
#endif

#ifdef HAVE_EXIT_GROUP_DEAD
#define PROFIL_EXIT_ARGS void *data, struct task_struct *task, bool group_dead
#else
#define PROFIL_EXIT_ARGS void *data, struct task_struct *task
#endif

/*
 * Whether tables are charged to a control group, and so of how many users there may be the
 * most.  Somebody may have many users.
 */
#ifdef HAVE_MEMCG_DATA
#define PROFIL_GFP_TABLES PROFIL_GFP
#define PROFIL_TABLES_USERS UINT_MAX
#else
#define PROFIL_GFP_TABLES (PROFIL_GFP & ~__GFP_ACCOUNT)
#define PROFIL_TABLES_USERS 8U
#endif

#ifndef HAVE_CALL_RCU_HURRY
#define call_rcu_hurry call_rcu
#endif

#ifndef HAVE_HRTIMER_SETUP
static inline void
hrtimer_setup(struct hrtimer *timer,
	      enum hrtimer_restart (*function)(struct hrtimer *),
	      clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

/* No tracepoints, no timer source: nothing calls the other two. */
#ifndef CONFIG_TRACEPOINTS
#include <linux/tracepoint.h>
#define for_each_kernel_tracepoint(look, found) ((void)(look), (void)(found))
#define tracepoint_probe_register(point, probe, data) \
	({ (void)(point); (void)(probe); (void)(data); -EOPNOTSUPP; })
#define tracepoint_probe_unregister tracepoint_probe_register
#endif

/* For some KASAN remembers who adds work, and in a tick must not allocate for it. */
#ifndef HAVE_TWAF_NO_ALLOC
#define TWAF_NO_ALLOC 0
#endif

/*
 * Without the export the module never asks for task_work, see pending.c, and this is
 * not reached.  Nor does it where module exit cannot wait
 * for a thread that is preempted on the last instructions of its task_work.
 */
#if defined(HAVE_TASK_WORK_ADD) && \
	(defined(CONFIG_TASKS_RCU) || !defined(CONFIG_PREEMPTION))
#define PROFIL_HAVE_TASK_WORK true
#define profil_task_work_add(task, work, notify) \
	task_work_add(task, work, (notify) | TWAF_NO_ALLOC)
#else
#define PROFIL_HAVE_TASK_WORK false
static inline int profil_task_work_add(struct task_struct *task,
				       struct callback_head *work,
				       enum task_work_notify_mode notify)
{
	return -ESRCH;
}
#endif

#endif /* _PROFIL_COMPAT_H */
