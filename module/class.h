/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * In a session of the whole machine: the class of a tick that is at no place of a program.
 * In the tick.
 */
#ifndef _PROFIL_CLASS_H
#define _PROFIL_CLASS_H

#include <linux/preempt.h>
#include <linux/sched.h>

#include "profil.h"
#include "table.h"

/* Whether an interrupt was interrupted: as the kernel's own accounting has it. */
static __always_inline bool profil_class_amid_interrupt(void)
{
	/* For real time, the one count is the thread's. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT) && in_serving_softirq())
		return true;
	return (preempt_count() & (HARDIRQ_MASK | SOFTIRQ_OFFSET)) != HARDIRQ_OFFSET;
}

/* The class of a tick in the kernel that is at no place of a program, or NULL. */
static inline __u64 *profil_class_of(struct profil_session_page *page, struct task_struct *task)
{
	if (profil_class_amid_interrupt())
		return &page->interrupts;
	/* An idle CPU that keeps softirqs off has something to do. */
	if (!task->pid && !softirq_count())
		return &page->idle;
	/* As in profil_tick_rest(). */
	if (data_race(task->flags) & PROFIL_PF_BORROWERS)
		return &page->kthreads;
	/* While it executes another program, that is loaded, and its registers are not. */
	return task->mm && !data_race((bool)task->in_execve) ? NULL : &page->exec;
}

/* Whether there may be more to a tick in the kernel than its place; nearly never. */
static __always_inline bool profil_class_picky(const struct profil_table *table,
					       const struct task_struct *task)
{
	if (profil_class_amid_interrupt() || table->flags & PROFIL_SESSION_F_KERNEL || !task->mm)
		return true;
	/* As in profil_tick_rest(), and as in profil_join_task(). */
	return data_race(task->flags & PROFIL_PF_BORROWERS || task->in_execve);
}

#endif /* _PROFIL_CLASS_H */
