// SPDX-License-Identifier: GPL-2.0-only
/*
 * Delivery on behalf of threads: by a worker, for records that no task_work comes for,
 * and by STOP and START, for all records.  A page that is not there at once is tried
 * again by the worker and given up by the others.  The kernel may wait all the same, for
 * memory or for a file system that has the page.
 */
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched/mm.h>

#include "limits.h"
#include "profil.h"
#include "race.h"
#include "reg.h"

/* The worker tries again this often, each time after this long at least. */
#define PROFIL_WORKER_RETRIES	50
#define PROFIL_WORKER_DELAY	(HZ / 50 + 1)

/*
 * Delivers one record.  A record that task_work comes for may be freed and used again as
 * soon as the lock is dropped; the others are freed only here, under reg->flush.
 */
static bool profil_flush_record(struct profil_pending *record, bool last,
				unsigned long *flags)
	__must_hold(&record->part->lock)
{
	struct profil_part *part = record->part;
	struct profil_bin_ref bin = record->bin;
	bool queued = record->queued, ready = true;
	unsigned int n = record->count;

	record->count = 0;
	raw_spin_unlock_irqrestore(&part->lock, *flags);
	if (n)
		ready = profil_deliver(part->reg, &bin, &n, false);
	if (!ready && (last || queued)) {
		profil_deliver_settle(part->reg, PROFIL_LOST_UNREADY, n);
		ready = true;
	}
	raw_spin_lock_irqsave(&part->lock, *flags);

	if (!ready)
		record->count += n;
	if (!queued && !record->count) {
		hlist_del(&record->node);
		part->used--;
		profil_pending_spare(record);
	}
	return ready;
}

/*
 * While the lock is dropped, others come and go before and after what is delivered: so a
 * record of our own, which is nobody's, marks the place.
 */
static bool profil_flush_bucket(struct profil_part *part, struct hlist_head *bucket,
				bool all, bool last)
{
	struct profil_pending *record, mark = {};
	unsigned long flags;
	bool ready = true;

	raw_spin_lock_irqsave(&part->lock, flags);
	hlist_add_head(&mark.node, bucket);
	while (mark.node.next) {
		record = hlist_entry(mark.node.next, struct profil_pending, node);
		hlist_del(&mark.node);
		hlist_add_behind(&mark.node, &record->node);
		if (all || !record->queued)
			ready &= profil_flush_record(record, last, &flags);
	}
	hlist_del(&mark.node);
	raw_spin_unlock_irqrestore(&part->lock, flags);
	return ready;
}

static bool profil_flush_part(struct profil_part *part, bool all, bool last)
{
	unsigned long flags;
	unsigned int i, used;
	bool ready = true;

	raw_spin_lock_irqsave(&part->lock, flags);
	used = part->used;
	raw_spin_unlock_irqrestore(&part->lock, flags);
	/* What a tick adds from now on, it has a worker come for. */
	for (i = 0; used && i < ARRAY_SIZE(part->bucket); i++)
		if (!hlist_empty(&part->bucket[i]))
			ready &= profil_flush_bucket(part, &part->bucket[i], all, last);
	return ready;
}

/* All records, or those that no task_work comes for.  False: come again. */
static bool profil_flush(struct profil_reg *reg, bool all, bool last)
{
	bool ready = true;
	unsigned int i;

	lockdep_assert_held(&reg->flush);
	for (i = 0; i < 1U << reg->part_bits; i++)
		ready &= profil_flush_part(&reg->part[i], all, last);
	return ready;
}

/*
 * Delivers what is pending in the address space of current, as far as that is possible at
 * once: it counts while the generation lasts, and is settled as lost afterwards.  Sleeps,
 * with nothing held.  On a fatal signal it does nothing while another flush lasts.
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

static bool profil_worker_deliver(struct profil_reg *reg)
{
	bool ready;

	if (profil_limit_charge(reg->user, PROFIL_LIMIT_WORKERS, 1))
		return false;
	profil_race(PROFIL_RACE_BORROW);
	profil_pending_grow(reg);
	kthread_use_mm(reg->mm);
	ready = profil_flush(reg, false, reg->retries >= PROFIL_WORKER_RETRIES);
	kthread_unuse_mm(reg->mm);
	profil_worker_retried(reg, ready);
	profil_limit_refund(reg->user, PROFIL_LIMIT_WORKERS, 1);
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

/*
 * Delivers what no thread comes for.  A worker; the work of the registration holds a
 * reference.  It waits for no lock of a page.
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
	if (ready || !profil_reg_kick_later(reg, PROFIL_WORKER_DELAY))
		profil_reg_put(reg);
}
