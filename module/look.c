// SPDX-License-Identifier: GPL-2.0-only
/*
 * Looks at mappings that come late, by a worker.
 *
 * It looks the mapping up as it is by then, in the address space that the tick was in.  That
 * is what it was at the tick while the sequence of its lock is the same; where that cannot be
 * seen, the tick is hinted.  The process may have ended meanwhile, or execute another
 * program: then the last look before the tick is the best there is.
 */
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/irqflags.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/overflow.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/profil.h>

#include "limits.h"
#include "look.h"
#include "mapping.h"
#include "member.h"
#include "table.h"

/* Places of a session that wait for one at a time; each CPU may have its ticks at once. */
#define PROFIL_LOOKS		max(64U, 2 * num_possible_cpus())
#define PROFIL_LOOKS_NEAR	8U	/* those among which the same place is looked for */

/* What waits for a look: ticks of one process at one place. */
struct profil_look {
	struct profil_member	*member;	/* of that process, unless it was taken out */
	struct profil_row	who;
	u32			seq;
	struct mm_struct	*mm;		/* held, but not its mappings */
	u64			pc;
	/* The place by the last look before, or the bare address. */
	u64			place;
	u32			object;
	u32			ticks[2];	/* of user mode, of the kernel */
};

struct profil_looks {
	struct profil_table	*table;
	struct work_struct	work;
	raw_spinlock_t		lock;		/* interrupts off */
	u32			nr;		/* lock */
	u32			most;
	struct profil_look	look[];		/* lock */
};

static struct profil_look *profil_look_find(struct profil_looks *looks,
					    const struct profil_look *key)
{
	struct profil_look *look = looks->look + looks->nr - min(looks->nr, PROFIL_LOOKS_NEAR);

	lockdep_assert_held(&looks->lock);
	for (; look < looks->look + looks->nr; look++)
		if (look->pc == key->pc && look->mm == key->mm && look->seq == key->seq &&
		    look->who.index == key->who.index && look->who.apart == key->who.apart)
			return look;
	return NULL;
}

/* A new entry, with no ticks, or NULL. */
static struct profil_look *profil_look_new(struct profil_looks *looks,
					   const struct profil_look *key)
{
	struct profil_look *look;

	lockdep_assert_held(&looks->lock);
	if (looks->nr == looks->most)
		return NULL;
	look = &looks->look[looks->nr++];
	*look = *key;
	mmgrab(look->mm);
	return look;
}

/*
 * Leaves the place of @n ticks of current, which is @member's, at @pc to the worker; false if
 * that is known already, or too many wait.  Hardirq, interrupts off.
 */
bool profil_look_later(struct profil_member *member, struct mm_struct *mm, u64 pc,
		       unsigned long system, unsigned int n)
{
	struct profil_looks *looks = member->table->looks;
	struct profil_kept_range kept;
	struct profil_look *look, key = {
		.member	= member,
		.who	= member->who,
		.seq	= profil_mm_seq(mm),
		.mm	= mm,
		.pc	= pc,
		.place	= pc,
		.object	= PROFIL_OBJECT_ADDRESS,
	};

	profil_kept_find(&member->kept, pc, &kept);
	if (kept.bytes && (u32)kept.stamp == key.seq)
		return false;
	if (kept.bytes) {
		key.place = pc - kept.start + kept.base;
		key.object = kept.object;
	}
	raw_spin_lock(&looks->lock);
	look = profil_look_find(looks, &key) ?: profil_look_new(looks, &key);
	if (look)
		look->ticks[system] += n;
	raw_spin_unlock(&looks->lock);
	if (look)
		queue_work(profil_table_wq, &looks->work);
	return look;
}

/* Takes what has waited the least, if there is any. */
static bool profil_look_take(struct profil_looks *looks, struct profil_look *look)
{
	bool any;

	raw_spin_lock_irq(&looks->lock);
	any = looks->nr;
	if (any)
		*look = looks->look[--looks->nr];
	raw_spin_unlock_irq(&looks->lock);
	return any;
}

/* Finds out the place.  Whether it is that of the tick for certain. */
static bool profil_look_mapped(struct profil_look *look, struct mm_struct *mm)
{
	unsigned long flags;
	u32 seq;

	if (!mmap_read_trylock(mm))
		return false;
	local_irq_save(flags);
	look->object = profil_mapping_look(look->member, mm, look->pc, &look->place);
	local_irq_restore(flags);
	seq = profil_mm_seq(mm);
	mmap_read_unlock(mm);
	return seq == look->seq && !(seq & PROFIL_KEPT_CHANGES);
}

/*
 * The same, if the address space still is there and nobody changes it.  Not preempted: a
 * thread of the process may wait for the lock, and for the memory who waits for its end.
 */
static bool profil_look_up(struct profil_look *look)
{
	bool exact = false;

	preempt_disable();
	if (mmget_not_zero(look->mm)) {
		exact = profil_look_mapped(look, look->mm);
		/* If we are its last user, its exit is not for this worker. */
		mmput_async(look->mm);
	}
	preempt_enable();
	return exact;
}

static void profil_look_count(struct profil_table *table, struct profil_look *look)
{
	bool exact = profil_look_up(look);
	unsigned long flags;
	int system;

	if (!exact && look->object > PROFIL_OBJECT_ADDRESS)
		profil_table_add(&table->page->hinted, look->ticks[0] + look->ticks[1]);
	local_irq_save(flags);
	for (system = 0; system < 2; system++)
		if (look->ticks[system])
			profil_mapping_search(table, &look->who, look->place, look->object,
					      system, look->ticks[system]);
	local_irq_restore(flags);
}

static void profil_look_work(struct work_struct *work)
{
	struct profil_looks *looks = container_of(work, struct profil_looks, work);
	struct profil_look look;

	while (profil_look_take(looks, &look)) {
		profil_race(PROFIL_RACE_LATE);
		profil_look_count(looks->table, &look);
		mmdrop(look.mm);
		/* However fast the ticks come, who waits for all tasks is not kept waiting. */
		cond_resched_tasks_rcu_qs();
	}
}

/* All ticks that are over are in their slots when this returns.  Sleeps. */
void profil_look_wait(struct profil_table *table)
{
	if (table->looks)
		flush_work(&table->looks->work);
}

/* 0, or -ENOMEM.  May sleep. */
int profil_look_init(struct profil_table *table)
{
	const u32 most = PROFIL_LOOKS;
	struct profil_looks *looks;

	if (!profil_real_time())
		return 0;
	looks = kvzalloc(struct_size(looks, look, most), PROFIL_GFP);
	if (!looks)
		return -ENOMEM;
	looks->most = most;
	raw_spin_lock_init(&looks->lock);
	INIT_WORK(&looks->work, profil_look_work);
	looks->table = table;
	table->looks = looks;
	return 0;
}

/* No tick sees the session any more, and it is over when this returns.  Sleeps. */
void profil_look_end(struct profil_table *table)
{
	struct profil_looks *looks = table->looks;

	if (!looks)
		return;
	/* Not flush_work(): both may be works of one queue. */
	cancel_work_sync(&looks->work);
	profil_look_work(&looks->work);
}

/* May sleep. */
void profil_look_free(struct profil_table *table)
{
	kvfree(table->looks);
}
