// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pending records: ticks that could not be counted in the tick.  A record belongs to
 * a thread, a generation and a counter, and carries how many ticks: one long system
 * call collects hundreds.
 */
#include <linux/memcontrol.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "limits.h"
#include "profil.h"
#include "reg.h"

#define PROFIL_PENDING_LOW	8	/* fewer spare ones: the worker adds more */

static bool profil_task_work = PROFIL_HAVE_TASK_WORK;
module_param_named(task_work, profil_task_work, bool, 0444);
MODULE_PARM_DESC(task_work, "let threads deliver what was deferred, where the kernel exports task_work_add (default Y); else a worker does");

/* Whether a thread delivers its own records; else a worker does. */
bool profil_pending_by_thread(void)
{
	return PROFIL_HAVE_TASK_WORK && profil_task_work;
}

/* Without the odd factor a program could choose addresses of one bucket. */
static struct hlist_head *profil_pending_bucket(struct profil_reg *reg,
						struct task_struct *task,
						unsigned long addr)
{
	unsigned long key = ((unsigned long)task ^ addr) * reg->secret;

	return &reg->pending[key >> (BITS_PER_LONG - PROFIL_PENDING_BITS)];
}

/* Gives back a record that is in no list.  Under reg->lock. */
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

static int profil_pending_queue(struct profil_reg *reg,
				struct profil_pending *record)
{
	init_task_work(&record->work, reg->deliver);
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
		profil_reg_kick(reg);
	if (hlist_empty(&reg->spare))
		return NULL;
	record = hlist_entry(reg->spare.first, struct profil_pending, node);
	hlist_del_init(&record->node);
	WRITE_ONCE(reg->nr_spare, reg->nr_spare - 1);
	return record;
}

/* A new record of @n ticks. */
static noinline enum profil_class profil_pending_new(struct profil_reg *reg, u64 gen,
						     unsigned long addr, u32 mask,
						     unsigned int n)
{
	struct task_struct *task = profil_pending_by_thread() ? current : NULL;
	struct profil_pending *record = profil_pending_take(reg);

	if (!record)
		return PROFIL_LOST_FULL;
	record->queued = task;
	if (task && profil_pending_queue(reg, record)) {
		profil_pending_spare(reg, record);
		return PROFIL_LOST_EXIT;
	}
	record->task = task;
	record->bin = (struct profil_bin_ref){ .gen = gen, .addr = addr, .mask = mask };
	record->count = n;
	record->pass = reg->pass;
	hlist_add_head(&record->node, profil_pending_bucket(reg, task, addr));
	return PROFIL_PENDING;
}

/*
 * Puts off @n ticks of current to the counter at @addr.  Returns PROFIL_PENDING, or why
 * they are lost.  In a section of a tick, with reg->lock held.
 */
enum profil_class profil_pending_add(struct profil_reg *reg, u64 gen, unsigned long addr,
				     u32 mask, unsigned int n)
{
	struct task_struct *task = profil_pending_by_thread() ? current : NULL;
	struct profil_pending *record;

	if (!task)
		profil_reg_kick(reg);
	hlist_for_each_entry(record, profil_pending_bucket(reg, task, addr), node) {
		if (record->bin.addr != addr || record->task != task ||
		    record->bin.gen != gen || record->bin.mask != mask)
			continue;
		record->count += n;
		return PROFIL_PENDING;
	}
	return profil_pending_new(reg, gen, addr, mask, n);
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

/*
 * Adds records where few are spare, up to the limits.  Only the worker calls it, and
 * it runs on one CPU at a time.  profil_reg_free() frees the chunks.
 */
void profil_pending_grow(struct profil_reg *reg)
{
	struct profil_chunk *chunk;

	if (READ_ONCE(reg->nr_spare) > PROFIL_PENDING_LOW ||
	    READ_ONCE(reg->nr_records) >= PROFIL_PENDING_MAX)
		return;
	if (profil_limit_charge(reg->user, PROFIL_LIMIT_RECORDS, PROFIL_PENDING_FIRST))
		return;
	chunk = profil_chunk_alloc(reg->mm);
	if (!chunk) {
		profil_limit_refund(reg->user, PROFIL_LIMIT_RECORDS, PROFIL_PENDING_FIRST);
		return;
	}
	chunk->next = reg->chunks;
	reg->chunks = chunk;
	profil_pending_add_spare(reg, chunk->record);
}

/* Sets up the first records of a registration. */
void profil_pending_init(struct profil_reg *reg)
{
	profil_pending_add_spare(reg, reg->first);
}
