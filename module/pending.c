// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pending records: ticks that could not be counted in the tick.  A record
 * belongs to a thread, a generation and a counter, and carries how many: one
 * long system call collects hundreds.
 *
 * With task_work the thread itself delivers when it returns to user mode, and
 * may sleep for it.  Without, and for STOP and START on behalf of all threads,
 * delivery never waits for anybody.
 */
#include <linux/hash.h>
#include <linux/kthread.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "profil.h"

/* Tries of one delivery: each saw the page go away or the word change. */
#define PROFIL_DELIVER_TRIES	64
/* A worker comes again this often, after this long, for pages on their way. */
#define PROFIL_WORKER_RETRIES	50
#define PROFIL_WORKER_DELAY	(HZ / 50 + 1)
/* Of one user, at a time. */
#define PROFIL_WORKERS_USER	8
#define PROFIL_RECORDS_USER	(16 * PROFIL_PENDING_MAX)

struct profil_chunk {
	struct profil_chunk	*next;
	struct profil_pending	record[PROFIL_PENDING_FIRST];
};

static struct hlist_head *profil_pending_bucket(struct profil_reg *reg,
						struct task_struct *task,
						unsigned long addr)
{
	unsigned long key = (unsigned long)task ^ addr;

	return &reg->pending[hash_long(key, PROFIL_PENDING_BITS)];
}

static void profil_pending_spare(struct profil_reg *reg,
				 struct profil_pending *record)
{
	lockdep_assert_held(&reg->lock);
	hlist_add_head(&record->node, &reg->spare);
	reg->nr_spare++;
}

static void profil_pending_add_spare(struct profil_reg *reg,
				     struct profil_pending *record)
{
	unsigned long flags;
	unsigned int i;

	raw_spin_lock_irqsave(&reg->lock, flags);
	for (i = 0; i < PROFIL_PENDING_FIRST; i++) {
		record[i].reg = reg;
		profil_pending_spare(reg, &record[i]);
	}
	reg->nr_records += PROFIL_PENDING_FIRST;
	raw_spin_unlock_irqrestore(&reg->lock, flags);
}

/* (l) Moves ticks from pending to where they ended. */
static void profil_pending_settle(struct profil_reg *reg,
				  enum profil_class class, unsigned int n)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&reg->lock, flags);
	reg->count[PROFIL_PENDING] -= n;
	reg->count[class] += n;
	raw_spin_unlock_irqrestore(&reg->lock, flags);
}

/* One write; -ESTALE if the generation is over. */
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

static enum profil_class profil_deliver_error(int err)
{
	switch (err) {
	case -ESTALE:
		return PROFIL_LOST_STOPPED;
	case -EFAULT:
		return PROFIL_LOST_FAULT;
	case -EACCES:
		return PROFIL_LOST_DENIED;
	case -ENOMEM:
		return PROFIL_LOST_UNREADY;
	case -EINTR:
		return PROFIL_LOST_EXIT;
	default:
		return PROFIL_LOST_CONTENDED;
	}
}

/*
 * Counts @n ticks, or says what became of them.  Task, outside sections; may
 * sleep, with @wait as long as a page takes.  Returns -EAGAIN, with the ticks still pending, if they must wait and @wait
 * is not set.
 */
static int profil_deliver(struct profil_reg *reg,
			  const struct profil_bin_ref *bin, unsigned int n,
			  bool wait)
{
	int tries, ret = 0;

	/* Exit and exec drop the address space before they deliver. */
	if (current->mm != reg->mm) {
		profil_pending_settle(reg, PROFIL_LOST_EXIT, n);
		return 0;
	}
	for (tries = 0; tries < PROFIL_DELIVER_TRIES; tries++) {
		ret = profil_deliver_once(reg, bin, n);
		if (ret >= 0) {
			profil_pending_settle(reg, PROFIL_IN_RANGE, ret);
			profil_pending_settle(reg, PROFIL_SATURATED, n - ret);
			return 0;
		}
		if (ret == -EFAULT) {
			profil_race();
			ret = profil_fault_in(reg->mm, bin->addr, wait);
			if (ret == -EFAULT)
				profil_reg_fault(reg, bin);
			if (ret == -EAGAIN && !wait)
				return ret;
		}
		if (ret && ret != -EAGAIN)
			break;
		cond_resched();
	}
	profil_pending_settle(reg, profil_deliver_error(ret), n);
	return 0;
}

/* The thread's own delivery, at its return to user mode or its exit. */
static void profil_pending_work(struct callback_head *work)
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

/* (l) A reference more or less is never the last: the anchor holds one. */
static void profil_pending_kick(struct profil_reg *reg)
{
	lockdep_assert_held(&reg->lock);
	refcount_inc(&reg->refs);
	if (!queue_delayed_work(profil_wq, &reg->work, 0))
		refcount_dec(&reg->refs);
}

static struct profil_pending *profil_pending_find(struct hlist_head *bucket,
						  struct task_struct *task,
						  const struct profil_bin_ref *bin)
{
	struct profil_pending *record;

	hlist_for_each_entry(record, bucket, node)
		if (record->task == task && record->bin.gen == bin->gen &&
		    record->bin.addr == bin->addr)
			return record;
	return NULL;
}

static int profil_pending_queue(struct profil_reg *reg,
				struct profil_pending *record)
{
	init_task_work(&record->work, profil_pending_work);
	refcount_inc(&reg->refs);
	__module_get(THIS_MODULE);
	if (!profil_task_work_add(current, &record->work, TWA_RESUME))
		return 0;
	module_put(THIS_MODULE);
	refcount_dec(&reg->refs);
	return -ESRCH;
}

static struct profil_pending *profil_pending_take(struct profil_reg *reg)
{
	struct profil_pending *record;

	if (reg->nr_spare <= PROFIL_PENDING_LOW &&
	    reg->nr_records < PROFIL_PENDING_MAX)
		profil_pending_kick(reg);
	if (hlist_empty(&reg->spare))
		return NULL;
	record = hlist_entry(reg->spare.first, struct profil_pending, node);
	hlist_del_init(&record->node);
	reg->nr_spare--;
	return record;
}

/**
 * profil_pending_add - Put off a tick
 * @reg: The registration of current
 * @bin: The counter
 *
 * Context: Hardirq of a tick, @reg->lock held, @reg not dead.
 * Return: PROFIL_PENDING, or why it is lost.
 */
enum profil_class profil_pending_add(struct profil_reg *reg,
				     const struct profil_bin_ref *bin)
{
	struct task_struct *task = profil_task_work ? current : NULL;
	struct hlist_head *bucket = profil_pending_bucket(reg, task, bin->addr);
	struct profil_pending *record = profil_pending_find(bucket, task, bin);

	if (!record) {
		record = profil_pending_take(reg);
		if (!record)
			return PROFIL_LOST_FULL;
		record->queued = task;
		if (task && profil_pending_queue(reg, record)) {
			profil_pending_spare(reg, record);
			return PROFIL_LOST_EXIT;
		}
		record->task = task;
		record->bin = *bin;
		record->count = 0;
		record->pass = reg->pass;
		hlist_add_head(&record->node, bucket);
	}
	record->count++;
	if (!task)
		profil_pending_kick(reg);
	return PROFIL_PENDING;
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
 * as soon as the lock is dropped; the others only by us, under @reg->flush.
 */
static bool profil_flush_record(struct profil_reg *reg,
				struct profil_pending *record, bool last,
				unsigned long *flags)
	__must_hold(&reg->lock)
{
	struct profil_bin_ref bin = record->bin;
	unsigned int n = record->count;
	bool queued = record->queued, ready = true;

	record->count = 0;
	raw_spin_unlock_irqrestore(&reg->lock, *flags);
	if (n)
		ready = profil_deliver(reg, &bin, n, false) != -EAGAIN;
	if (!ready && (last || queued)) {
		profil_pending_settle(reg, PROFIL_LOST_UNREADY, n);
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

/* One pass over all records, or those without task_work.  False: come again. */
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
 * profil_pending_flush - Deliver what is pending, as far as possible at once
 * @reg: The registration of current
 *
 * For STOP and START, before the generation ends: what cannot be delivered
 * without waiting stays, and is lost by it.
 *
 * Context: Task, nothing held; waits for nobody's page.
 */
void profil_pending_flush(struct profil_reg *reg)
{
	profil_flush(reg, true, false);
}

/* On the account of the process, not of the worker. */
static struct profil_chunk *profil_chunk_alloc(struct mm_struct *mm)
{
	struct mem_cgroup *memcg = get_mem_cgroup_from_mm(mm);
	struct mem_cgroup *old = set_active_memcg(memcg);
	struct profil_chunk *chunk;

	chunk = kzalloc(sizeof(*chunk), GFP_KERNEL_ACCOUNT);
	set_active_memcg(old);
	mem_cgroup_put(memcg);
	return chunk;
}

/* Only the worker, which runs on one CPU at a time, adds chunks. */
static void profil_pending_grow(struct profil_reg *reg)
{
	struct profil_chunk *chunk;

	if (READ_ONCE(reg->nr_spare) > PROFIL_PENDING_LOW ||
	    READ_ONCE(reg->nr_records) >= PROFIL_PENDING_MAX)
		return;
	if (profil_user_charge(&reg->user->records, PROFIL_PENDING_FIRST,
			       PROFIL_RECORDS_USER))
		return;
	chunk = profil_chunk_alloc(reg->mm);
	if (!chunk) {
		atomic_sub(PROFIL_PENDING_FIRST, &reg->user->records);
		return;
	}
	chunk->next = reg->chunks;
	reg->chunks = chunk;
	profil_pending_add_spare(reg, chunk->record);
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
	/* Never the last user here: exit would run in this worker. */
	mmput_async(reg->mm);
	return ready;
}

static void profil_worker(struct work_struct *work)
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

/**
 * profil_pending_init - Set up the first records of a registration
 * @reg: The registration
 *
 * Context: Task.
 */
void profil_pending_init(struct profil_reg *reg)
{
	mutex_init(&reg->flush);
	INIT_DELAYED_WORK(&reg->work, profil_worker);
	profil_pending_add_spare(reg, reg->first);
}

/**
 * profil_pending_free - Free the further records of a registration
 * @reg: The registration; nothing is pending any more
 *
 * Context: Task.
 */
void profil_pending_free(struct profil_reg *reg)
{
	struct profil_chunk *chunk, *next;

	for (chunk = reg->chunks; chunk; chunk = next) {
		next = chunk->next;
		atomic_sub(PROFIL_PENDING_FIRST, &reg->user->records);
		kfree(chunk);
	}
}
