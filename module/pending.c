// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pending records: ticks that could not be counted in the tick.  A record belongs to
 * a thread, a generation and a counter, and carries how many ticks: one long system
 * call collects hundreds.  Where no thread delivers, it belongs to a CPU instead.
 *
 * A tick takes the lock of one part, which others seldom want at the same time, because
 * there is a part for each CPU, or more.  There it finds the record that the last one left.
 */
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "limits.h"
#include "profil.h"
#include "reg.h"
#include "section.h"
#include "spread.h"

/*
 * The time of a worker is on nobody's account.  So it comes for the samples of 10 ms; and for
 * more records at the next jiffy, if it does not come for samples.
 */
#define PROFIL_PENDING_DELAY	DIV_ROUND_UP(HZ, 100)

static bool profil_task_work = PROFIL_HAVE_TASK_WORK;
module_param_named(task_work, profil_task_work, bool, 0444);
MODULE_PARM_DESC(task_work, "let threads deliver what was deferred, where the kernel exports task_work_add (default Y); else a worker does");

/* Whether a thread delivers its own records; else a worker does. */
bool profil_pending_by_thread(void)
{
	return PROFIL_HAVE_TASK_WORK && profil_task_work;
}

/* Gives back a record that is in no bucket.  Under part->lock. */
void profil_pending_spare(struct profil_pending *record)
{
	struct profil_part *part = record->part;
	struct profil_reg *reg = part->reg;

	lockdep_assert_held(&part->lock);
	if (part->nr_spare < reg->nr_keep) {
		hlist_add_head(&record->node, &part->spare);
		part->nr_spare++;
		return;
	}
	raw_spin_lock(&reg->lock);
	hlist_add_head(&record->node, &reg->spare);
	WRITE_ONCE(reg->nr_spare, reg->nr_spare + 1);
	raw_spin_unlock(&reg->lock);
}

static void profil_pending_add_chunk(struct profil_reg *reg, struct profil_chunk *chunk)
{
	unsigned long flags;
	unsigned int i;

	chunk->next = reg->chunks;
	reg->chunks = chunk;
	raw_spin_lock_irqsave(&reg->lock, flags);
	for (i = 0; i < reg->nr_chunk; i++)
		hlist_add_head(&chunk->record[i].node, &reg->spare);
	WRITE_ONCE(reg->nr_spare, reg->nr_spare + reg->nr_chunk);
	WRITE_ONCE(reg->nr_records, reg->nr_records + reg->nr_chunk);
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

/* Whether there are to be more.  Those that are left last until the worker comes. */
static bool profil_pending_few(const struct profil_reg *reg)
{
	return READ_ONCE(reg->nr_spare) <= reg->nr_chunk / 2 &&
	       READ_ONCE(reg->nr_records) + reg->nr_chunk <= PROFIL_PENDING_MAX;
}

static struct profil_pending *profil_pending_pop(struct hlist_head *spare)
{
	struct profil_pending *record;

	if (hlist_empty(spare))
		return NULL;
	record = hlist_entry(spare->first, struct profil_pending, node);
	hlist_del(&record->node);
	return record;
}

static struct profil_pending *profil_pending_take(struct profil_part *part)
{
	struct profil_pending *record = profil_pending_pop(&part->spare);
	struct profil_reg *reg = part->reg;

	if (record) {
		part->nr_spare--;
		return record;
	}
	raw_spin_lock(&reg->lock);
	record = profil_pending_pop(&reg->spare);
	if (record) {
		record->part = part;
		WRITE_ONCE(reg->nr_spare, reg->nr_spare - 1);
	}
	raw_spin_unlock(&reg->lock);
	if (profil_pending_few(reg))
		profil_reg_kick(reg, 1);
	return record;
}

/* A new record of @n ticks. */
static noinline enum profil_class profil_pending_new(struct profil_part *part,
						     struct hlist_head *bucket,
						     const void *key,
						     const struct profil_bin_ref *bin,
						     unsigned int n)
{
	struct profil_pending *record = profil_pending_take(part);

	if (!record)
		return PROFIL_LOST_FULL;
	record->queued = profil_pending_by_thread();
	if (record->queued && profil_pending_queue(part->reg, record)) {
		profil_pending_spare(record);
		return PROFIL_LOST_EXIT;
	}
	record->key = key;
	record->bin = *bin;
	record->count = n;
	hlist_add_head(&record->node, bucket);
	part->used++;
	return PROFIL_PENDING;
}

/*
 * A record that is empty waits for its thread, as others have delivered a copy of it: it is
 * taken again.  Else each START beside one system call would make the chain longer.
 */
static enum profil_class profil_pending_add_to(struct profil_part *part,
					       struct hlist_head *bucket, const void *key,
					       const struct profil_bin_ref *bin,
					       unsigned int n)
{
	struct profil_pending *record, *empty = NULL;

	hlist_for_each_entry(record, bucket, node) {
		if (record->key != key)
			continue;
		if (record->bin.addr == bin->addr && record->bin.gen == bin->gen &&
		    record->bin.mask == bin->mask) {
			record->count += n;
			return PROFIL_PENDING;
		}
		if (record->queued && !record->count)
			empty = record;
	}
	if (!empty)
		return profil_pending_new(part, bucket, key, bin, n);
	empty->bin = *bin;
	empty->count = n;
	return PROFIL_PENDING;
}

/*
 * Puts off @n ticks of current to the counter of @bin, or counts why they are lost.  In a
 * section of a tick.
 */
void profil_pending_add(struct profil_reg *reg, const struct profil_bin_ref *bin,
			unsigned int n)
{
	bool by_thread = profil_pending_by_thread();
	const void *key = by_thread ? (void *)current : this_cpu_ptr(&profil_section);
	/* Without the secret a program could choose what falls into one bucket. */
	u64 hash = profil_spread((unsigned long)key ^ (by_thread ? 0 : bin->addr), reg->secret);
	struct profil_part *part = &reg->part[hash >> (64 - reg->part_bits)];
	struct hlist_head *bucket = &part->bucket[hash % ARRAY_SIZE(part->bucket)];
	enum profil_class class;

	raw_spin_lock(&part->lock);
	/* Before the record is there: the worker that comes waits for the lock. */
	if (!by_thread)
		profil_reg_kick(reg, PROFIL_PENDING_DELAY);
	class = profil_pending_add_to(part, bucket, key, bin, n);
	if (class == PROFIL_PENDING)
		atomic64_add(n, &reg->deferred);
	atomic64_add(n, &reg->count[class]);
	raw_spin_unlock(&part->lock);
}

/* On the account of the process, not of the worker, which gives up before anybody is killed. */
static struct profil_chunk *profil_chunk_alloc(struct profil_reg *reg)
{
	struct mem_cgroup *memcg = get_mem_cgroup_from_mm(reg->mm);
	struct mem_cgroup *old = set_active_memcg(memcg);
	struct profil_chunk *chunk = NULL;

	if (!profil_reg_orphaned(reg))
		chunk = kvmalloc(struct_size(chunk, record, reg->nr_chunk),
				 GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN);
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

	if (!profil_pending_few(reg) ||
	    profil_limit_charge(reg->user, PROFIL_LIMIT_RECORDS, reg->nr_chunk))
		return;
	chunk = profil_chunk_alloc(reg);
	if (chunk)
		profil_pending_add_chunk(reg, chunk);
	else
		profil_limit_refund(reg->user, PROFIL_LIMIT_RECORDS, reg->nr_chunk);
}

/*
 * Sets up the first records of a registration, which are on no limit: for each CPU twice
 * the ticks until the worker comes.  0 or -ENOMEM.
 */
int profil_pending_init(struct profil_reg *reg)
{
	unsigned int i, parts = 1U << reg->part_bits;
	unsigned int nr = num_online_cpus() * max(8, 2 * PROFIL_PENDING_DELAY);
	struct profil_chunk *chunk;

	for (i = 0; i < parts; i++) {
		raw_spin_lock_init(&reg->part[i].lock);
		reg->part[i].reg = reg;
	}
	reg->nr_chunk = clamp(nr, 32U, PROFIL_PENDING_MAX / 2U);
	reg->nr_keep = max(reg->nr_chunk / parts / 2, 1U);
	chunk = kvmalloc(struct_size(chunk, record, reg->nr_chunk), PROFIL_GFP);
	if (!chunk)
		return -ENOMEM;
	profil_pending_add_chunk(reg, chunk);
	return 0;
}
