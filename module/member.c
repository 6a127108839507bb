// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who is a member of which session.
 *
 * A member becomes one by the session's commands, or as the child of one, from a pool that
 * the session has from its beginning: no fork needs memory for it.  A member that is none
 * any more goes back to the pool a grace period later, when no tick can see it.
 */
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/pid.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/profil.h>

#include "limits.h"
#include "member.h"
#include "race.h"
#include "table.h"

#define PROFIL_MEMBER_SOME	64	/* are removed at once */

atomic_t profil_members = ATOMIC_INIT(0);
struct hlist_head profil_member_hash[1 << PROFIL_MEMBER_BITS];
unsigned long profil_member_key __read_mostly;

/*
 * Guards the hash, the lists of members, the rows, and what depends on these.  Task
 * context.  Raw, because most kernels call tracepoints with preemption disabled.
 */
static DEFINE_RAW_SPINLOCK(profil_member_lock);

/* Drops the descriptor's or a member's hold of a session.  Task or softirq. */
void profil_member_put(struct profil_table *table)
{
	if (refcount_dec_and_test(&table->refs))
		queue_work(profil_table_wq, &table->end);
}

/* Makes the members that a session can have: 0, or -ENOMEM.  May sleep. */
int profil_member_pool(struct profil_table *table)
{
	u32 nr = min_t(u32, table->page->processes, PROFIL_MEMBERS_MAX), i;

	table->pool = kvcalloc(nr, sizeof(*table->pool), PROFIL_GFP);
	if (!table->pool)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		raw_spin_lock_init(&table->pool[i].kept.lock);
		hlist_add_head(&table->pool[i].mate, &table->spare);
	}
	return 0;
}

static struct profil_member *profil_member_take(struct profil_table *table)
{
	struct profil_member *member;
	unsigned long flags;

	raw_spin_lock_irqsave(&table->lock, flags);
	member = hlist_entry_safe(table->spare.first, struct profil_member, mate);
	if (member)
		hlist_del(&member->mate);
	raw_spin_unlock_irqrestore(&table->lock, flags);
	return member;
}

/* Drops a hold of a member, which goes back to the pool with the last.  Task or softirq. */
void profil_member_release(struct profil_member *member)
{
	struct profil_table *table = member->table;
	unsigned long flags;

	if (!atomic_dec_and_test(&member->holds))
		return;
	put_pid(member->tgid);
	profil_limit_refund(table->user, PROFIL_LIMIT_PROFILES, 1);
	raw_spin_lock_irqsave(&table->lock, flags);
	hlist_add_head(&member->mate, &table->spare);
	raw_spin_unlock_irqrestore(&table->lock, flags);
	profil_member_put(table);
}

static void profil_member_free(struct rcu_head *head)
{
	profil_member_release(container_of(head, struct profil_member, free));
}

/*
 * Makes the process of @task a member, of the image @exec_id, whose parent is in row @parent:
 * 0, -ESRCH, -EALREADY or -ENOSPC.
 */
static int profil_member_add_locked(struct profil_table *table, struct task_struct *task,
				    u64 exec_id, u32 parent)
{
	struct pid *tgid = task_tgid(task);
	struct profil_member *member;
	int sessions = 0;
	u32 index;

	lockdep_assert_held(&profil_member_lock);
	if (table->stopped || !tgid)
		return -ESRCH;
	hlist_for_each_entry(member, profil_member_bucket(tgid), node) {
		if (member->tgid != tgid)
			continue;
		if (member->table == table)
			return -EALREADY;
		sessions++;
	}
	if (sessions == PROFIL_MEMBER_SESSIONS)
		return -ENOSPC;
	profil_race(PROFIL_RACE_ADD);
	if (profil_limit_charge(table->user, PROFIL_LIMIT_PROFILES, 1))
		return -ENOSPC;
	member = profil_member_take(table);
	if (!member) {
		profil_limit_refund(table->user, PROFIL_LIMIT_PROFILES, 1);
		return -ENOSPC;
	}

	atomic_set(&member->holds, 1);
	member->tgid = get_pid(tgid);
	member->table = table;
	/* Who is exiting has none.  Who executes has another soon: its number tells. */
	WRITE_ONCE(member->mm, data_race(READ_ONCE(task->mm)) ?: (void *)member);
	profil_kept_forget(&member->kept);	/* (N) */
	member->exec_id = exec_id;
	index = profil_table_row(table, parent, pid_nr_ns(tgid, table->pids), task->comm, 0);
	member->row = &table->processes[index];
	member->who.index = index;
	member->who.apart = table->flags & PROFIL_SESSION_F_PER_PROCESS ? index : 0;
	memset(member->timer_left, 0, sizeof(member->timer_left));
	refcount_inc(&table->refs);
	WRITE_ONCE(table->page->members, table->page->members + 1);
	atomic_inc(&profil_members);
	hlist_add_head(&member->mate, &table->members);
	hlist_add_head_rcu(&member->node, profil_member_bucket(tgid));
	return 0;
}

static void profil_member_remove_locked(struct profil_member *member, u32 state)
{
	struct profil_table *table = member->table;

	lockdep_assert_held(&profil_member_lock);
	if (member->who.index)
		WRITE_ONCE(member->row->state, state);
	hlist_del_init_rcu(&member->node);
	hlist_del(&member->mate);
	atomic_dec(&profil_members);
	WRITE_ONCE(table->page->members, table->page->members - 1);
	if (!table->page->members)
		queue_work(profil_table_wq, &table->work);
	call_rcu_hurry(&member->free, profil_member_free);
}

/* Whether the process is a member.  Most are not: their forks and exits wait for no lock. */
static bool profil_member_any(struct pid *tgid)
{
	struct profil_member *member;
	bool any = false;

	rcu_read_lock();
	hlist_for_each_entry_rcu(member, profil_member_bucket(tgid), node)
		any |= member->tgid == tgid;
	rcu_read_unlock();
	return any;
}

/*
 * Makes the process of @task, which is current or held, a member of a session: 0; or
 * -ESRCH, -EALREADY, -ENOSPC.  Only the image @exec_id counts, which the caller has checked.
 */
int profil_member_add(struct profil_table *table, struct task_struct *task, u64 exec_id)
{
	int err;

	raw_spin_lock(&profil_member_lock);
	err = profil_member_add_locked(table, task, exec_id, 0);
	raw_spin_unlock(&profil_member_lock);
	return err;
}

/* Takes back profil_member_add(), if that has not happened yet. */
void profil_member_remove(struct profil_table *table, struct pid *tgid)
{
	struct profil_member *member;

	raw_spin_lock(&profil_member_lock);
	hlist_for_each_entry(member, profil_member_bucket(tgid), node)
		if (tgid && member->tgid == tgid && member->table == table) {
			profil_member_remove_locked(member, PROFIL_PROCESS_EXITED);
			break;
		}
	raw_spin_unlock(&profil_member_lock);
}

/*
 * A process, current, has a child, which does not run yet.  What an image forks that may not
 * be counted is no member either.  The child's own members come before those of the bucket
 * that are still to be looked at, and are not its parent's.
 */
void profil_member_fork(struct task_struct *parent, struct task_struct *child)
{
	struct pid *tgid = task_tgid(parent);
	struct profil_member *member;

	if (!profil_member_any(tgid))
		return;
	raw_spin_lock(&profil_member_lock);
	hlist_for_each_entry(member, profil_member_bucket(tgid), node) {
		if (member->tgid != tgid || member->table->flags & PROFIL_SESSION_F_NOINHERIT ||
		    member->mm != parent->mm || member->exec_id != parent->self_exec_id)
			continue;
		/* One that was attached meanwhile, or whose session has ended, is not missed. */
		if (profil_member_add_locked(member->table, child, child->self_exec_id,
					     member->who.index) == -ENOSPC)
			profil_table_inc(&member->table->page->forks_missed);
	}
	raw_spin_unlock(&profil_member_lock);
}

/*
 * current, a member, has executed another program, which does not run yet.  Whoever the
 * kernel did not tell of it would find that the keys do not fit any more, and count
 * nothing of it.  Under rcu_read_lock(), or a hold.
 */
void profil_member_exec(struct profil_member *member, bool approved)
{
	struct profil_process *row = member->row;

	raw_spin_lock(&profil_member_lock);
	if (!hlist_unhashed(&member->node) && approved) {
		/* What is kept of the former image is nothing that this one may be taken for. */
		WRITE_ONCE(member->mm, (void *)member);
		profil_kept_forget(&member->kept);	/* (N) */
		WRITE_ONCE(member->mm, current->mm);
		WRITE_ONCE(member->exec_id, current->self_exec_id);
		if (member->who.index) {
			strscpy_pad(row->comm, current->comm, sizeof(row->comm));
			WRITE_ONCE(row->images, row->images + 1);
		}
	} else if (!hlist_unhashed(&member->node)) {
		profil_table_inc(&member->table->page->execs_denied);
		profil_member_remove_locked(member, PROFIL_PROCESS_DENIED);
	}
	raw_spin_unlock(&profil_member_lock);
}

/* The last thread of a process ends: all its memberships end. */
void profil_member_exit(struct task_struct *task)
{
	struct pid *tgid = task_tgid(task);
	struct profil_member *member;
	struct hlist_node *next;

	if (!profil_member_any(tgid))
		return;
	raw_spin_lock(&profil_member_lock);
	hlist_for_each_entry_safe(member, next, profil_member_bucket(tgid), node)
		if (member->tgid == tgid)
			profil_member_remove_locked(member, PROFIL_PROCESS_EXITED);
	raw_spin_unlock(&profil_member_lock);
}

/* Takes some members out; false if there are none left.  Forks and exits wait meanwhile. */
static bool profil_member_stop_some(struct profil_table *table)
{
	struct profil_member *member;
	struct hlist_node *next;
	int some = 0;

	raw_spin_lock(&profil_member_lock);
	WRITE_ONCE(table->stopped, true);
	hlist_for_each_entry_safe(member, next, &table->members, mate) {
		if (some++ == PROFIL_MEMBER_SOME)
			break;
		profil_member_remove_locked(member, PROFIL_PROCESS_STOPPED);
	}
	raw_spin_unlock(&profil_member_lock);
	return some > PROFIL_MEMBER_SOME;
}

/* The session has no members any more, for good; ticks may still see them.  May sleep. */
void profil_member_stop(struct profil_table *table)
{
	while (profil_member_stop_some(table))
		cond_resched();
	profil_race(PROFIL_RACE_STOPPED);
}

void profil_member_init(void)
{
	profil_member_key = get_random_long() | 1;
}
