// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pending records: ticks that could not be counted in the tick.  A record
 * belongs to a thread, a generation and a counter, and carries how many: one
 * long system call collects hundreds.
 */
#include <linux/hash.h>
#include <linux/memcontrol.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "profil.h"

struct profil_chunk {
	struct profil_chunk	*next;
	struct profil_pending	record[PROFIL_PENDING_FIRST];
};

/* Without the odd factor a program could choose addresses of one bucket. */
static struct hlist_head *profil_pending_bucket(struct profil_reg *reg,
						struct task_struct *task,
						unsigned long addr)
{
	unsigned long key = ((unsigned long)task ^ addr) * reg->secret;

	return &reg->pending[hash_long(key, PROFIL_PENDING_BITS)];
}

/**
 * profil_pending_spare - Give back a record
 * @reg: Its registration
 * @record: The record, in no list
 *
 * Context: Any, reg->lock held.
 */
void profil_pending_spare(struct profil_reg *reg, struct profil_pending *record)
{
	lockdep_assert_held(&reg->lock);
	hlist_add_head(&record->node, &reg->spare);
	WRITE_ONCE(reg->nr_spare, reg->nr_spare + 1);
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
	WRITE_ONCE(reg->nr_records, reg->nr_records + PROFIL_PENDING_FIRST);
	raw_spin_unlock_irqrestore(&reg->lock, flags);
}

static bool profil_pending_same(const struct profil_bin_ref *a,
				const struct profil_bin_ref *b)
{
	return a->gen == b->gen && a->addr == b->addr && a->mask == b->mask;
}

static struct profil_pending *profil_pending_find(struct hlist_head *bucket,
						  struct task_struct *task,
						  const struct profil_bin_ref *bin)
{
	struct profil_pending *record;

	hlist_for_each_entry(record, bucket, node)
		if (record->task == task && profil_pending_same(&record->bin, bin))
			return record;
	return NULL;
}

static int profil_pending_queue(struct profil_reg *reg,
				struct profil_pending *record)
{
	init_task_work(&record->work, profil_deliver_own);
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
		profil_flush_kick(reg);
	if (hlist_empty(&reg->spare))
		return NULL;
	record = hlist_entry(reg->spare.first, struct profil_pending, node);
	hlist_del_init(&record->node);
	WRITE_ONCE(reg->nr_spare, reg->nr_spare - 1);
	return record;
}

/**
 * profil_pending_again - Put off a tick to where the last one was
 * @reg: The registration of current
 * @pc: Where it is
 *
 * A long system call has many ticks that return to one place.
 *
 * Context: Hardirq of a tick, which counts once.
 * Return: False, and nothing has happened, if thread, place or set is another.
 */
bool profil_pending_again(struct profil_reg *reg, unsigned long pc)
{
	struct profil_pending *record;
	bool again;

	raw_spin_lock(&reg->lock);
	record = reg->recent;
	again = record && record->task == current && record->pc == pc &&
		reg->set && record->bin.gen == reg->set->gen;
	if (again) {
		record->count++;
		reg->deferred++;
		reg->ticks++;
		reg->count[PROFIL_PENDING]++;
	}
	raw_spin_unlock(&reg->lock);
	return again;
}

/**
 * profil_pending_add - Put off a tick
 * @reg: The registration of current
 * @bin: The counter
 * @pc: Where the tick is
 * @n: As how many it counts
 *
 * Context: Hardirq of a tick, in a section, @reg->lock held.
 * Return: PROFIL_PENDING, or why it is lost.
 */
enum profil_class profil_pending_add(struct profil_reg *reg,
				     const struct profil_bin_ref *bin,
				     unsigned long pc, unsigned int n)
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
	record->count += n;
	record->pc = pc;
	WRITE_ONCE(reg->recent, record);
	if (!task)
		profil_flush_kick(reg);
	return PROFIL_PENDING;
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

/**
 * profil_pending_grow - Add records where few are spare, up to the limits
 * @reg: The registration
 *
 * Context: Task; the worker only, which runs on one CPU at a time.
 */
void profil_pending_grow(struct profil_reg *reg)
{
	struct profil_chunk *chunk;

	if (READ_ONCE(reg->nr_spare) > PROFIL_PENDING_LOW ||
	    READ_ONCE(reg->nr_records) >= PROFIL_PENDING_MAX)
		return;
	if (profil_user_charge(&reg->user->records, PROFIL_PENDING_FIRST,
			       READ_ONCE(profil_max_records_user)))
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

/**
 * profil_pending_init - Set up the first records of a registration
 * @reg: The registration
 *
 * Context: Task.
 */
void profil_pending_init(struct profil_reg *reg)
{
	mutex_init(&reg->flush);
	INIT_DELAYED_WORK(&reg->work, profil_flush_worker);
	profil_pending_add_spare(reg, reg->first);
}

/**
 * profil_pending_free - Free the further records of a registration
 * @reg: The registration; nothing is pending any more
 *
 * Context: Task or softirq.
 */
void profil_pending_free(struct profil_reg *reg)
{
	struct profil_chunk *chunk;

	while ((chunk = reg->chunks)) {
		reg->chunks = chunk->next;
		atomic_sub(PROFIL_PENDING_FIRST, &reg->user->records);
		kfree(chunk);
	}
}
