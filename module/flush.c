// SPDX-License-Identifier: GPL-2.0-only
/*
 * Delivery on behalf of threads: by a worker, for what no task_work comes for,
 * and by STOP and START, for all.  A page that is not there at once is tried
 * again by the worker and given up by the others.  The kernel may wait all the
 * same, for memory or for a file system that has the page.
 */
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched/mm.h>

#include "profil.h"

/* The worker tries again this often, each time after this long at least. */
#define PROFIL_WORKER_RETRIES	50
#define PROFIL_WORKER_DELAY	(HZ / 50 + 1)

/* At a time, however many nodes there are: half of what each has at least. */
#define PROFIL_WORKERS_MIN	4

/* Each may wait, and what is over needs a place beside them. */
static atomic_t profil_workers = ATOMIC_INIT(0);

/* A record of the bucket that this pass has not seen, marked as seen. */
static struct profil_pending *profil_flush_next(struct profil_reg *reg,
						struct hlist_head *bucket,
						bool all)
{
	struct profil_pending *record;

	lockdep_assert_held(&reg->lock);
	hlist_for_each_entry(record, bucket, node)
		if (record->pass != reg->pass && (all || !record->queued)) {
			record->pass = reg->pass;
			return record;
		}
	return NULL;
}

/*
 * Delivers one record.  What task_work comes for may be freed and used again
 * as soon as the lock is dropped; the others only by us, under reg->flush.
 */
static bool profil_flush_record(struct profil_reg *reg,
				struct profil_pending *record, bool last,
				unsigned long *flags)
	__must_hold(&reg->lock)
{
	struct profil_bin_ref bin = record->bin;
	bool queued = record->queued, ready = true;
	unsigned int n = record->count;

	record->count = 0;
	raw_spin_unlock_irqrestore(&reg->lock, *flags);
	if (n)
		ready = profil_deliver(reg, &bin, &n, false);
	if (!ready && (last || queued)) {
		profil_deliver_settle(reg, PROFIL_LOST_UNREADY, n);
		ready = true;
	}
	raw_spin_lock_irqsave(&reg->lock, *flags);

	if (!ready)
		record->count += n;
	if (!queued && !record->count) {
		hlist_del_init(&record->node);
		profil_pending_spare(reg, record);
	}
	return ready;
}

/* All records, or those that no task_work comes for.  False: come again. */
static bool profil_flush(struct profil_reg *reg, bool all, bool last)
{
	struct profil_pending *record;
	unsigned long flags;
	bool ready = true;
	int i;

	lockdep_assert_held(&reg->flush);
	raw_spin_lock_irqsave(&reg->lock, flags);
	reg->pass++;
	for (i = 0; i < ARRAY_SIZE(reg->pending); i++)
		while ((record = profil_flush_next(reg, &reg->pending[i], all)))
			ready &= profil_flush_record(reg, record, last, &flags);
	raw_spin_unlock_irqrestore(&reg->lock, flags);
	return ready;
}

/**
 * profil_flush_all - Deliver what is pending, as far as possible at once
 * @reg: The registration of current
 *
 * Counts it while the generation lasts, and settles it as lost afterwards.
 *
 * Context: Task, nothing held; sleeps.  Does nothing on a fatal signal while
 * another flush lasts.
 */
void profil_flush_all(struct profil_reg *reg)
{
	/* Who holds it may wait for a file system; who is killed need not. */
	if (mutex_lock_killable(&reg->flush))
		return;
	profil_flush(reg, true, false);
	mutex_unlock(&reg->flush);
}

/* Ticks call the worker as well: their visits do not count as retries. */
static void profil_worker_retried(struct profil_reg *reg, bool ready)
{
	if (ready) {
		reg->retries = 0;
	} else if (!reg->retries ||
		   time_after_eq(jiffies, reg->retried + PROFIL_WORKER_DELAY)) {
		reg->retries++;
		reg->retried = jiffies;
	}
}

/* A fault may last, and the anchor be unmapped meanwhile: then we hold the module. */
static bool profil_worker_enter(struct profil_reg *reg)
{
	if (READ_ONCE(reg->dead) || !try_module_get(THIS_MODULE))
		return false;
	if (mmget_not_zero(reg->mm))
		return true;
	module_put(THIS_MODULE);
	return false;
}

static void profil_worker_leave(struct profil_reg *reg)
{
	/* If we are its last user, its exit is not for this worker. */
	mmput_async(reg->mm);
	module_put(THIS_MODULE);
}

/* Half of what a node has of the workqueue, if all have as many CPUs. */
static unsigned int profil_workers_limit(void)
{
	return clamp_t(unsigned int, WQ_MAX_ACTIVE / 2 / num_possible_nodes(),
		       PROFIL_WORKERS_MIN, PROFIL_WORKERS_MAX);
}

static bool profil_worker_charge(struct profil_user *user)
{
	if (profil_user_charge(&user->workers, 1, READ_ONCE(profil_max_workers_user)))
		return false;
	if (!profil_user_charge(&profil_workers, 1, profil_workers_limit()))
		return true;
	atomic_dec(&user->workers);
	return false;
}

static bool profil_worker_deliver(struct profil_reg *reg)
{
	bool ready;

	if (!profil_worker_charge(reg->user))
		return false;
	profil_pending_grow(reg);
	kthread_use_mm(reg->mm);
	ready = profil_flush(reg, false, reg->retries >= PROFIL_WORKER_RETRIES);
	kthread_unuse_mm(reg->mm);
	profil_worker_retried(reg, ready);
	atomic_dec(&profil_workers);
	atomic_dec(&reg->user->workers);
	return ready;
}

static bool profil_worker_flush(struct profil_reg *reg)
{
	bool ready;

	/* Nothing is written any more, all is settled: no limit holds it up. */
	if (!profil_worker_enter(reg))
		return profil_flush(reg, false, true);
	ready = profil_worker_deliver(reg);
	profil_worker_leave(reg);
	return ready;
}

/**
 * profil_flush_kick - Have the worker come
 * @reg: The registration
 *
 * A reference more or less is never the last: the anchor holds one.
 *
 * Context: Any, reg->lock held.
 */
void profil_flush_kick(struct profil_reg *reg)
{
	lockdep_assert_held(&reg->lock);
	refcount_inc(&reg->refs);
	if (!queue_delayed_work(profil_wq, &reg->work, 0))
		refcount_dec(&reg->refs);
}

/**
 * profil_flush_worker - Deliver what no thread comes for
 * @work: The work of the registration, which holds a reference
 *
 * Context: Task, a worker; waits for no lock of a page, see fault.c.
 */
void profil_flush_worker(struct work_struct *work)
{
	struct profil_reg *reg = container_of(to_delayed_work(work),
					      struct profil_reg, work);
	bool ready = false;

	profil_race(PROFIL_RACE_WORKER);
	/* Who holds it may wait for a file system: no worker waits as well. */
	if (mutex_trylock(&reg->flush)) {
		ready = profil_worker_flush(reg);
		mutex_unlock(&reg->flush);
	}
	/* Our reference goes with the new work, if there is one. */
	if (ready || !queue_delayed_work(profil_wq, &reg->work,
					 PROFIL_WORKER_DELAY))
		profil_reg_put(reg);
}
