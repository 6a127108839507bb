// SPDX-License-Identifier: GPL-2.0-only
/*
 * Delivery of pending records, in task context.
 *
 * A thread delivers its own when it returns to user mode, and may sleep for
 * it.  A worker, where there is no task_work, and STOP and START on behalf of
 * all threads, never wait for anybody: a page that is not there at once is
 * tried again by the worker and given up by the others.
 */
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched/mm.h>

#include "profil.h"

/* Tries of one delivery: each saw the page go away or the word change. */
#define PROFIL_DELIVER_TRIES	64
/* A worker comes again this often, after this long, for pages on their way. */
#define PROFIL_WORKER_RETRIES	50
#define PROFIL_WORKER_DELAY	(HZ / 50 + 1)
/* Of one user, at a time. */
#define PROFIL_WORKERS_USER	8

static void profil_deliver_settle(struct profil_reg *reg,
				  enum profil_class class, unsigned int n)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&reg->lock, flags);
	reg->count[PROFIL_PENDING] -= n;
	reg->count[class] += n;
	raw_spin_unlock_irqrestore(&reg->lock, flags);
}

static enum profil_class profil_deliver_class(int err)
{
	switch (err) {
	case -ESTALE:
		return PROFIL_LOST_STOPPED;
	case -ESRCH:
	case -EINTR:
		return PROFIL_LOST_EXIT;
	case -EFAULT:
		return PROFIL_LOST_FAULT;
	case -EACCES:
		return PROFIL_LOST_DENIED;
	case -ENOMEM:
		return PROFIL_LOST_UNREADY;
	default:
		return PROFIL_LOST_CONTENDED;
	}
}

/* One write, unless the generation is over: then -ESTALE. */
static int profil_deliver_once(struct profil_reg *reg,
			       const struct profil_bin_ref *bin, unsigned int n)
{
	struct profil_set *set;
	unsigned long flags;
	int ret = -ESTALE;

	local_irq_save(flags);
	set = profil_section_enter(reg);
	if (set && set->gen == bin->gen)
		ret = profil_bump(bin, n);
	profil_section_leave();
	local_irq_restore(flags);
	return ret;
}

static int profil_deliver_fault(struct profil_reg *reg,
				const struct profil_bin_ref *bin, bool wait)
{
	int err;

	profil_race();
	err = profil_fault_in(reg->mm, bin->addr, wait);
	if (err == -EFAULT)
		profil_switch_fault(reg, bin);
	return err;
}

/*
 * Counts @n ticks, or says what became of them.  Task, outside sections; may
 * sleep, with @wait as long as a page takes.  Without @wait it may return
 * false with the ticks still pending: the page is not ready.
 */
static bool profil_deliver(struct profil_reg *reg,
			   const struct profil_bin_ref *bin, unsigned int n,
			   bool wait)
{
	/* Exit and exec drop the address space before they deliver. */
	int ret = current->mm == reg->mm ? 0 : -ESRCH;
	int tries;

	for (tries = 0; !ret && tries < PROFIL_DELIVER_TRIES; tries++) {
		cond_resched();
		ret = profil_deliver_once(reg, bin, n);
		if (ret >= 0) {
			profil_deliver_settle(reg, PROFIL_IN_RANGE, ret);
			profil_deliver_settle(reg, PROFIL_SATURATED, n - ret);
			return true;
		}
		if (ret == -EAGAIN) {
			ret = 0;
			continue;
		}
		if (ret == -EFAULT)
			ret = profil_deliver_fault(reg, bin, wait);
		if (ret == -EAGAIN)
			return false;
	}
	profil_deliver_settle(reg, profil_deliver_class(ret), n);
	return true;
}

/**
 * profil_deliver_own - Deliver a record of the thread that runs this
 * @work: The task_work of the record
 *
 * Context: Task, about to return to user mode or exiting; may sleep.
 */
void profil_deliver_own(struct callback_head *work)
{
	struct profil_pending *record = container_of(work,
						     struct profil_pending,
						     work);
	struct profil_reg *reg = record->reg;
	struct profil_bin_ref bin;
	unsigned long flags;
	unsigned int n;

	profil_race();
	raw_spin_lock_irqsave(&reg->lock, flags);
	hlist_del_init(&record->node);
	bin = record->bin;
	n = record->count;
	raw_spin_unlock_irqrestore(&reg->lock, flags);

	if (n)	/* else somebody delivered on our behalf */
		profil_deliver(reg, &bin, n, true);

	raw_spin_lock_irqsave(&reg->lock, flags);
	profil_pending_spare(reg, record);
	raw_spin_unlock_irqrestore(&reg->lock, flags);
	profil_reg_put(reg);
	/* Module exit waits for the instructions after this one. */
	module_put(THIS_MODULE);
}

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
		ready = profil_deliver(reg, &bin, n, false);
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

	mutex_lock(&reg->flush);
	raw_spin_lock_irqsave(&reg->lock, flags);
	reg->pass++;
	for (i = 0; i < ARRAY_SIZE(reg->pending); i++)
		while ((record = profil_flush_next(reg, &reg->pending[i], all)))
			ready &= profil_flush_record(reg, record, last, &flags);
	raw_spin_unlock_irqrestore(&reg->lock, flags);
	mutex_unlock(&reg->flush);
	return ready;
}

/**
 * profil_deliver_all - Deliver what is pending, as far as possible at once
 * @reg: The registration of current
 *
 * Counts it while the generation lasts, and settles it as lost afterwards.
 *
 * Context: Task, nothing held.
 */
void profil_deliver_all(struct profil_reg *reg)
{
	profil_flush(reg, true, false);
}

static bool profil_worker_flush(struct profil_reg *reg)
{
	bool last = reg->retries >= PROFIL_WORKER_RETRIES;
	bool ready;

	/* Without the address space nothing is written, all is settled. */
	if (!mmget_not_zero(reg->mm))
		return profil_flush(reg, false, true);
	kthread_use_mm(reg->mm);
	ready = profil_flush(reg, false, last);
	kthread_unuse_mm(reg->mm);
	/* If we are its last user, its exit is not for this worker. */
	mmput_async(reg->mm);
	return ready;
}

/**
 * profil_deliver_worker - Deliver what no thread comes for
 * @work: The work of the registration, which holds a reference
 *
 * Context: Task, a worker; never waits for a page.
 */
void profil_deliver_worker(struct work_struct *work)
{
	struct profil_reg *reg = container_of(to_delayed_work(work),
					      struct profil_reg, work);
	atomic_t *workers = &reg->user->workers;
	bool ready = false;

	profil_race();
	if (!profil_user_charge(workers, 1, PROFIL_WORKERS_USER)) {
		profil_pending_grow(reg);
		ready = profil_worker_flush(reg);
		reg->retries = ready ? 0 : reg->retries + 1;
		atomic_dec(workers);
	}
	/* Our reference goes with the new work, if there is one. */
	if (ready || !queue_delayed_work(profil_wq, &reg->work,
					 PROFIL_WORKER_DELAY))
		profil_reg_put(reg);
}
