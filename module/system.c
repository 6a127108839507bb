// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions of the whole machine: each tick of each CPU, by the control group and the name of
 * who runs there.
 *
 * Nobody is followed.  What a CPU has seen of a process it keeps for itself, as long as the
 * process' keys are the same.  So there is nothing to wait for at fork, exec and exit, and a
 * tick shares with other CPUs only the tables.
 */
#include <linux/cgroup.h>
#include <linux/errno.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/string.h>
#include <asm/irq_regs.h>
#include <linux/profil.h>

#include "class.h"
#include "limits.h"
#include "member.h"
#include "place.h"
#include "profil.h"
#include "race.h"
#include "table.h"

#define PROFIL_SEEN	16	/* processes that a CPU keeps, of a session, and who has no mm */

/*
 * What a CPU has seen of a process, as if that were a member.  An mm may be another one by
 * now, where it was before; but not of a process that began at the same time.  Hardirq, on
 * that CPU alone; but late looks change what is kept (N), on any.
 */
struct profil_seen {
	struct profil_member	member;
	u64			began;		/* in ns; a key, as are mm and exec_id */
	/* Of its thread that was seen last; keys of the row, which may be that of its group. */
	u64			cgroup;
	u64			comm[TASK_COMM_LEN / sizeof(u64)];
} ____cacheline_aligned;

static struct hlist_head profil_systems;		/* profil_systems_mutex, RCU */
static int profil_systems_nr;				/* profil_systems_mutex */

/* Guards the list.  Task context. */
static DEFINE_MUTEX(profil_systems_mutex);

/* Makes what CPUs keep: 0, or -ENOMEM.  May sleep. */
int profil_system_pool(struct profil_table *table)
{
	struct profil_seen *seen;
	int cpu, i;

	table->seen = __alloc_percpu_gfp(sizeof(*seen) * (PROFIL_SEEN + 1),
					 __alignof__(*seen), PROFIL_GFP);
	if (!table->seen)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		for (i = 0, seen = per_cpu_ptr(table->seen, cpu); i <= PROFIL_SEEN; i++, seen++) {
			raw_spin_lock_init(&seen->member.kept.lock);
			seen->member.table = table;
			seen->member.row = table->processes;
		}
	}
	return 0;
}

/* Where this CPU keeps what it has seen of a process; that may be another one. */
static __always_inline struct profil_seen *profil_system_seen(struct profil_table *table,
							      struct mm_struct *mm)
{
	/* They lie so far apart. */
	return this_cpu_ptr(table->seen) + ((unsigned long)mm >> 11) % PROFIL_SEEN;
}

/* Another process than before: nothing is kept of it. */
static noinline void profil_system_meet(struct profil_seen *seen, struct task_struct *task,
					u64 began)
{
	WRITE_ONCE(seen->member.mm, task->mm);
	profil_kept_forget(&seen->member.kept);	/* (N) */
	seen->member.exec_id = READ_ONCE(task->self_exec_id);
	seen->began = began;
}

/* Has the row be that of current's name, of its group, or of all. */
static noinline void profil_system_name(struct profil_seen *seen, struct task_struct *task)
{
	struct profil_member *member = &seen->member;
	u32 index;

	/* As in name.c.  It comes first, so that what changes then is seen by the next tick. */
	data_race(memcpy(seen->comm, task->comm, sizeof(seen->comm)));
	seen->cgroup = profil_cgroup_id(task);
	barrier();
	index = profil_name_row(member->table);
	member->row = &member->table->processes[index];
	member->who.index = index;
	member->who.apart = index;
}

/* Whether the row is that of @task. */
static __always_inline bool profil_system_is(const struct profil_seen *seen,
					     const struct task_struct *task)
{
	const u64 *comm = (const u64 *)task->comm;

	if (seen->cgroup != profil_cgroup_id(task))
		return false;
	/* As in name.c. */
	return data_race(seen->comm[0] == comm[0] && seen->comm[1] == comm[1]);
}

/* What is kept of the process of @task, which has an mm, with the row of its name. */
static __always_inline struct profil_member *profil_system_member(struct profil_table *table,
								  struct task_struct *task)
{
	struct profil_seen *seen = profil_system_seen(table, task->mm);
	/* Who has an mm has not been released, and has its leader. */
	u64 began = task->group_leader->start_boottime;

	if (unlikely(seen->member.mm != task->mm || seen->began != began ||
		     seen->member.exec_id != READ_ONCE(task->self_exec_id)))
		profil_system_meet(seen, task, began);
	if (unlikely(!profil_system_is(seen, task)))
		profil_system_name(seen, task);
	return &seen->member;
}

/* The same of who has no mm: the row alone. */
static struct profil_member *profil_system_other(struct profil_table *table,
						 struct task_struct *task)
{
	struct profil_seen *seen = this_cpu_ptr(table->seen) + PROFIL_SEEN;

	if (!profil_system_is(seen, task))
		profil_system_name(seen, task);
	return &seen->member;
}

/* A tick at a place of current's program. */
static __always_inline void profil_system_place(struct profil_member *member,
						struct task_struct *task, struct pt_regs *regs,
						unsigned long system)
{
	u64 pc = instruction_pointer(system ? task_pt_regs(task) : regs);

	if (unlikely(!profil_place_known(member, task->mm, pc, system, 1)))
		profil_place_look(member, task->mm, pc, system, 1);
}

static __always_inline void profil_system_count(struct profil_table *table,
						struct task_struct *task, struct pt_regs *regs,
						unsigned long system)
{
	struct profil_member *member = profil_system_member(table, task);

	profil_table_inc(&member->row->user + system);
	profil_race(PROFIL_RACE_COUNT);
	profil_system_place(member, task, regs, system);
}

/* Counts a tick in the kernel to which there may be more than its place. */
static noinline void profil_system_count_picky(struct profil_table *table,
					       struct task_struct *task, struct pt_regs *regs)
{
	__u64 *class = profil_class_of(table->page, task);
	struct profil_member *member;

	if (class == &table->page->idle) {
		profil_table_inc(class);
		return;
	}
	member = task->mm ? profil_system_member(table, task) : profil_system_other(table, task);
	profil_table_inc(&member->row->system);
	profil_race(PROFIL_RACE_COUNT);
	if (class)
		profil_table_inc(class);
	else
		profil_system_place(member, task, regs, 1);
	if (table->flags & PROFIL_SESSION_F_KERNEL)
		profil_place_kernel(member, regs, 1);
}

/* A tick of this CPU, for all sessions of the whole machine.  Hardirq. */
void profil_system_tick(void)
{
	struct task_struct *task = current;
	struct pt_regs *regs = get_irq_regs();
	struct profil_table *table;
	struct hlist_node *node;

	/* hlist_for_each_entry_rcu() would look twice at each. */
	node = rcu_dereference_sched(hlist_first_rcu(&profil_systems));
	for (; node; node = rcu_dereference_sched(hlist_next_rcu(node))) {
		table = hlist_entry(node, struct profil_table, system);
		if (user_mode(regs))
			profil_system_count(table, task, regs, 0);
		else if (unlikely(profil_class_picky(table, task)))
			profil_system_count_picky(table, task, regs);
		else
			profil_system_count(table, task, regs, 1);
	}
}

/*
 * Ticks that begin from here on count in @next, and in @former no more; one of them may be
 * NULL.  Returns the time: from the store on, nobody else is on this CPU until it is taken.
 * Under profil_systems_mutex.
 */
static u64 profil_system_switch(struct profil_table *former, struct profil_table *next)
{
	u64 now;

	local_irq_disable();
	/* Who goes through the list sees the one or the other. */
	if (former && next)
		hlist_replace_rcu(&former->system, &next->system);
	else if (next)
		hlist_add_head_rcu(&next->system, &profil_systems);
	else
		hlist_del_rcu(&former->system);
	profil_race(PROFIL_RACE_BEGIN);
	now = ktime_get_ns();
	local_irq_enable();
	return now;
}

/* A grace period after the last tick that could see it. */
static void profil_system_unseen(struct rcu_head *head)
{
	profil_member_put(container_of(head, struct profil_table, unseen));
}

/* It is in the list no more, since @now.  Ticks may still see it. */
static void profil_system_left(struct profil_table *table, u64 now)
{
	WRITE_ONCE(table->page->ended_ns, now);
	WRITE_ONCE(table->system.pprev, NULL);
	atomic_sub(PROFIL_MACHINE, &profil_members);
	profil_systems_nr--;
	call_rcu_hurry(&table->unseen, profil_system_unseen);
}

/*
 * Ticks count in @table from here on, and in @former, if there is one, no more: 0, -ENOSPC,
 * or -ESRCH if that was stopped.  May sleep.
 */
int profil_system_start(struct profil_table *table, struct profil_table *former)
{
	int err = 0;
	u64 now;

	mutex_lock(&profil_systems_mutex);
	if (!former)
		err = profil_systems_nr == PROFIL_MEMBER_SESSIONS ? -ENOSPC : 0;
	else if (hlist_unhashed(&former->system))
		err = -ESRCH;
	if (err)
		goto out;
	refcount_inc(&table->refs);
	atomic_add(PROFIL_MACHINE, &profil_members);
	profil_systems_nr++;
	now = profil_system_switch(former, table);
	WRITE_ONCE(table->page->began_ns, now);
	if (former)
		profil_system_left(former, now);
out:
	mutex_unlock(&profil_systems_mutex);
	return err;
}

/* Undoes profil_system_start(), if that is not undone; ticks may still see it.  May sleep. */
void profil_system_stop(struct profil_table *table)
{
	mutex_lock(&profil_systems_mutex);
	if (!hlist_unhashed(&table->system))
		profil_system_left(table, profil_system_switch(table, NULL));
	mutex_unlock(&profil_systems_mutex);
}
