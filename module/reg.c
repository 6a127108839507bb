// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registrations: the hash, references, what is on, and the accounting.
 */
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <linux/profil.h>

#include "limits.h"
#include "race.h"
#include "reg.h"
#include "section.h"
#include "set.h"

struct profil_run profil_run_off;
struct hlist_head *profil_regs;
unsigned long profil_reg_key __read_mostly;
static DEFINE_SPINLOCK(profil_reg_lock);

static struct workqueue_struct *profil_reg_wq;
static atomic_t profil_nr_regs = ATOMIC_INIT(0);
static DECLARE_WAIT_QUEUE_HEAD(profil_no_regs);

/* Finds a registration and holds it, for profil_reg_put(); or NULL.  Any context. */
struct profil_reg *profil_reg_get(struct mm_struct *mm)
{
	struct profil_reg *reg;

	rcu_read_lock();
	reg = profil_reg_find(mm);
	if (reg && !refcount_inc_not_zero(&reg->refs))
		reg = NULL;
	rcu_read_unlock();
	return reg;
}

/*
 * Makes a registration that nobody finds yet, with one reference; or an ERR_PTR():
 * -ENOMEM, or -ENOSPC at a limit.  May sleep, also under mmap_lock.
 */
struct profil_reg *profil_reg_create(struct mm_struct *mm)
{
	unsigned int bits = profil_part_bits(num_online_cpus());
	struct profil_user *user = profil_user_get(current_uid());
	struct profil_reg *reg;
	int err = -ENOMEM;

	if (!user)
		return ERR_PTR(err);
	err = profil_limit_charge(user, PROFIL_LIMIT_PROFILES, 1);
	if (err)
		goto err_user;

	reg = kvzalloc(struct_size(reg, part, 1UL << bits), PROFIL_GFP);
	err = -ENOMEM;
	if (!reg)
		goto err_charge;
	reg->part_bits = bits;
	atomic_inc(&profil_nr_regs);
	mmgrab(mm);
	reg->mm = mm;
	reg->now = &profil_run_off;
	reg->user = user;
	refcount_set(&reg->refs, 1);
	atomic_set(&reg->anchors, 1);
	raw_spin_lock_init(&reg->lock);
	mutex_init(&reg->start);
	mutex_init(&reg->flush);
	/* Odd, and as little known as the key. */
	reg->secret = hash_long((unsigned long)reg ^ profil_reg_key,
				BITS_PER_LONG) | 1;
	return reg;

err_charge:
	profil_limit_refund(user, PROFIL_LIMIT_PROFILES, 1);
err_user:
	profil_user_put(user);
	return ERR_PTR(err);
}

/*
 * Lets a registration be found; the anchor gets a reference of its own.  -EEXIST if
 * the address space has one already.  Also under mmap_lock.
 */
int profil_reg_publish(struct profil_reg *reg)
{
	int err = -EEXIST;

	spin_lock(&profil_reg_lock);
	if (!profil_reg_find(reg->mm)) {
		refcount_inc(&reg->refs);
		hlist_add_head_rcu(&reg->node, profil_reg_bucket(reg->mm));
		err = 0;
	}
	spin_unlock(&profil_reg_lock);
	return err;
}

/* Removes @reg from the hash.  The anchor keeps its reference.  Also under mmap_lock. */
void profil_reg_unpublish(struct profil_reg *reg)
{
	spin_lock(&profil_reg_lock);
	hlist_del_rcu(&reg->node);
	spin_unlock(&profil_reg_lock);
}

/* Softirq, or a thread of RCU's own. */
static void profil_reg_free(struct rcu_head *head)
{
	struct profil_reg *reg = container_of(head, struct profil_reg, free);
	struct profil_chunk *chunk;

	while ((chunk = reg->chunks)) {
		reg->chunks = chunk->next;
		/* The first is on no limit. */
		if (chunk->next)
			profil_limit_refund(reg->user, PROFIL_LIMIT_RECORDS, reg->nr_chunk);
		kvfree(chunk);
	}
	profil_limit_refund(reg->user, PROFIL_LIMIT_PROFILES, 1);
	profil_user_put(reg->user);
	kvfree(reg);
	if (atomic_dec_and_test(&profil_nr_regs))
		wake_up_all(&profil_no_regs);
}

/* Drops a reference.  Task context, also under mmap_lock; never in a tick. */
void profil_reg_put(struct profil_reg *reg)
{
	if (!refcount_dec_and_test(&reg->refs))
		return;
	/*
	 * mmdrop() may sleep, so it cannot be in the RCU callback.  A tick that still
	 * finds @reg only compares reg->mm and never follows it.
	 */
	mmdrop(reg->mm);
	/* Soon, because the user is charged for it until then. */
	call_rcu_hurry(&reg->free, profil_reg_free);
}

/*
 * Whether a worker, which holds the address space, is the last who does: nobody is left on
 * whose account memory could be.
 */
bool profil_reg_orphaned(const struct profil_reg *reg)
{
	return current->flags & PF_KTHREAD && atomic_read(&reg->mm->mm_users) == 1;
}

/*
 * Has the worker come, after @delay jiffies.  In a section of a tick: so the anchor holds a
 * reference, and the one that is taken back is not the last.
 */
void profil_reg_kick(struct profil_reg *reg, unsigned long delay)
{
	lockdep_assert_irqs_disabled();
	if (delayed_work_pending(&reg->work))
		return;
	refcount_inc(&reg->refs);
	if (!queue_delayed_work(profil_reg_wq, &reg->work, delay))
		refcount_dec(&reg->refs);
}

/* Has the worker come again, after @delay jiffies; its reference goes with the work. */
bool profil_reg_kick_later(struct profil_reg *reg, unsigned long delay)
{
	return queue_delayed_work(profil_reg_wq, &reg->work, delay);
}

/*
 * Fills a run that no tick can see, for profil_reg_switch().  Under the mutex start, or
 * before the registration is published.
 */
void profil_reg_fill(struct profil_reg *reg, struct profil_run *run, struct profil_set *set)
{
	u64 not_due = profil_due_not(&run->due, atomic64_read(&run->number));
	unsigned long flags;

	raw_spin_lock_irqsave(&reg->lock, flags);
	reg->not_due += not_due;
	run->segments = set->segments;
	run->rated = set->due.take < set->due.window;
	run->due = set->due;
	run->due.secret = profil_due_secret();
	run->set = set;
	atomic64_set(&run->number, 0);
	raw_spin_unlock_irqrestore(&reg->lock, flags);
}

/*
 * Changes what is on: @run, which may be profil_run_off.  Under reg->lock.  Returns the
 * former set for profil_reg_retire(), or NULL.
 */
struct profil_set *profil_reg_switch(struct profil_reg *reg, struct profil_run *run,
				     u32 state)
{
	struct profil_set *set = run->set, *old = reg->now->set;

	lockdep_assert_held(&reg->lock);
	/* (E) Who sees the run sees it filled. */
	smp_store_release(&reg->now, run);
	reg->state = state;
	if (set) {
		reg->cookie = set->gen;
		reg->period = set->period;
		reg->rate = set->rate;
		reg->source = set->timer ? PROFIL_SOURCE_TIMER :
					   PROFIL_SOURCE_TICK;
	}
	if (set && set->timer) {
		WRITE_ONCE(reg->timer_period, set->period);
		WRITE_ONCE(reg->timer_spread, set->spread);
	}
	/* (G) Who sees the generation sees its period. */
	smp_store_release(&reg->timer_gen, set ? set->timer : 0);
	return old;
}

/*
 * Waits until no tick uses the former run, and drops its set.  It waits also without
 * a former set: another thread may just have taken it.
 */
void profil_reg_retire(struct profil_reg *reg, struct profil_set *old)
{
	profil_section_drain(reg);
	if (old)
		profil_race(PROFIL_RACE_RETIRE);
	profil_set_put(old);
}

/*
 * Ends the profile because the counter of @bin is not writable, and @n pending ticks
 * were to be counted there.  Who sees the state sees what became of them.  Returns
 * false, and has done nothing, if the generation of @bin is over.  Task context,
 * outside sections.
 */
bool profil_reg_end(struct profil_reg *reg, const struct profil_bin_ref *bin,
		    unsigned int n)
{
	struct profil_set *old = NULL;
	unsigned long flags;

	raw_spin_lock_irqsave(&reg->lock, flags);
	if (reg->now->set && reg->now->set->gen == bin->gen) {
		old = profil_reg_switch(reg, &profil_run_off, PROFIL_STATE_FAULT);
		reg->fault_addr = bin->addr;
		atomic64_sub(n, &reg->count[PROFIL_PENDING]);
		atomic64_add(n, &reg->count[PROFIL_LOST_FAULT]);
	}
	raw_spin_unlock_irqrestore(&reg->lock, flags);
	if (old)
		profil_reg_retire(reg, old);
	return old;
}

/*
 * Waits until all registrations are freed, at module exit: none can be made any more,
 * and what keeps one is a worker at most, which has only to settle what is lost.
 */
void profil_reg_wait(void)
{
	wait_event(profil_no_regs, !atomic_read(&profil_nr_regs));
	/* The last profil_reg_free() may not have returned. */
	rcu_barrier();
}

int profil_reg_init(void)
{
	profil_due_init();
	profil_reg_wq = alloc_workqueue("profil", WQ_UNBOUND | WQ_FREEZABLE, WQ_MAX_ACTIVE);
	if (!profil_reg_wq)
		return -ENOMEM;
	profil_regs = kvcalloc(1UL << PROFIL_REG_BITS, sizeof(*profil_regs),
			       GFP_KERNEL);
	profil_reg_key = get_random_long() | 1;
	if (profil_regs)
		return 0;
	destroy_workqueue(profil_reg_wq);
	return -ENOMEM;
}

/* Also ends the workers. */
void profil_reg_exit(void)
{
	destroy_workqueue(profil_reg_wq);
	kvfree(profil_regs);
}
