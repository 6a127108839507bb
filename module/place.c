// SPDX-License-Identifier: GPL-2.0-only
/*
 * A tick of a member: where it was, as a place that means something when the process is
 * gone, and its slot.  Hardirq throughout, with interrupts off.
 *
 * The mapping is the one of that very moment.  It is known from the last look at it, while
 * the sequence of the address space's lock is the same; otherwise it is looked up, if the
 * lock is free.  If it is not, the last look is the best there is.  In a kernel for real time
 * a worker looks.
 */
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/profil.h>

#include "look.h"
#include "mapping.h"
#include "member.h"
#include "place.h"
#include "profil.h"
#include "race.h"
#include "table.h"

/* @n ticks at @pc by the last look, where no other is to be had; that may be the newest yet. */
static noinline void profil_place_hint(struct profil_member *member, struct mm_struct *mm,
				       u64 pc, unsigned long system, unsigned int n)
{
	struct profil_table *table = member->table;
	u32 seq = profil_mm_seq(mm);
	struct profil_kept_range kept;

	profil_kept_find(&member->kept, pc, &kept);
	if (!kept.bytes) {
		profil_mapping_count(member, pc, PROFIL_OBJECT_ADDRESS, system, n);
		return;
	}
	if (seq & PROFIL_KEPT_CHANGES || (u32)kept.stamp != seq)
		profil_table_add(&table->page->hinted, n);
	profil_mapping_count(member, pc - kept.start + kept.base, kept.object, system, n);
}

/* @n ticks at @pc, where that is not known, or not in its first slot. */
PROFIL_LOOK void profil_place_look(struct profil_member *member, struct mm_struct *mm, u64 pc,
				   unsigned long system, unsigned int n)
{
	u32 object;
	u64 place;

	if (profil_place_kept(member, mm, pc, &place, &object)) {
		profil_mapping_search(member->table, &member->who, place, object, system, n);
		return;
	}
	if (profil_real_time() && profil_look_later(member, mm, pc, system, n))
		return;
	if (profil_real_time() || !profil_may_look(system) || !mmap_read_trylock(mm)) {
		profil_place_hint(member, mm, pc, system, n);
		return;
	}
	object = profil_mapping_found(member, mm, pc, &place);
	mmap_read_unlock(mm);
	profil_mapping_count(member, place, object, system, n);
}

/* @n ticks of current in the image that may be counted, or in none. */
static __always_inline void profil_place_here(struct profil_member *member,
					      struct pt_regs *regs, unsigned long system,
					      unsigned int n)
{
	struct task_struct *task = current;
	u64 pc;

	/* Not that image: it is executing another, or exiting. */
	if (unlikely(READ_ONCE(member->mm) != task->mm ||
		     READ_ONCE(member->exec_id) != READ_ONCE(task->self_exec_id))) {
		profil_table_add(&member->table->page->exec, n);
		return;
	}
	pc = instruction_pointer(system ? task_pt_regs(task) : regs);
	if (unlikely(!profil_place_known(member, task->mm, pc, system, n)))
		profil_place_look(member, task->mm, pc, system, n);
}

/* Whether a tick is due, where not every one is. */
static bool profil_place_due(struct profil_table *table, unsigned long system)
{
	u64 number;

	if (system && table->flags & PROFIL_SESSION_F_USER_ONLY)
		return false;
	/* Else all CPUs would write that line at each of their ticks. */
	if (table->due.take == table->due.window)
		return true;
	number = atomic64_inc_return(&table->number) - 1;
	return profil_due(&table->due, profil_due_units, number / table->due.window,
			  number % table->due.window);
}

/* Where the kernel was, beside the place that the thread returns to.  @regs may be NULL. */
void profil_place_kernel(struct profil_member *member, struct pt_regs *regs, unsigned int n)
{
	u64 pc = regs ? instruction_pointer(regs) : 0;
	struct profil_table *table = member->table;
	struct profil_slot *slot;
	u32 begin;

	begin = profil_table_begin(table, pc, PROFIL_OBJECT_KERNEL, member->who.apart);
	slot = profil_table_slot(table, begin, pc, PROFIL_OBJECT_KERNEL, member->who.apart);
	profil_table_add(slot ? &slot->system : &table->page->full_kernel, n);
}

/* @n ticks of current, of a session for which there is more to do. */
static void profil_place_more(struct profil_member *member, struct pt_regs *regs,
			      unsigned int n)
{
	struct profil_table *table = member->table;
	unsigned long system = !regs || !user_mode(regs);

	profil_table_count(&member->row->user, system, n);
	if (!profil_place_due(table, system)) {
		profil_table_add(&table->page->not_due, n);
		return;
	}
	profil_place_here(member, regs, system, n);
	if (system && table->flags & PROFIL_SESSION_F_KERNEL)
		profil_place_kernel(member, regs, n);
}

/* A tick of a session of that kind, which may have another source. */
static noinline void profil_place_picky(struct profil_member *member, struct pt_regs *regs)
{
	if (member->table->late)
		member->table->late();
	else
		profil_place_more(member, regs, 1);
}

/* Ticks of those who work for a member's process, but are nobody's user code. */
static __always_inline bool profil_place_borrowed(struct profil_member *member, unsigned int n)
{
	/* As in profil_tick_rest(). */
	if (likely(!(data_race(current->flags) & PROFIL_PF_BORROWERS)))
		return false;
	profil_table_add(&member->table->page->borrowed, n);
	return true;
}

/* A tick of current, which is @member's. */
void profil_place_tick(struct profil_member *member, struct pt_regs *regs)
{
	unsigned long system = !user_mode(regs);

	if (unlikely(profil_place_borrowed(member, 1)))
		return;
	if (unlikely(member->table->picky)) {
		profil_place_picky(member, regs);
		return;
	}
	profil_table_count(&member->row->user, system, 1);
	profil_race(PROFIL_RACE_COUNT);
	profil_place_here(member, regs, system, 1);
}

/* @n samples of current, which is @member's, at once.  @regs may be NULL. */
void profil_place_sample(struct profil_member *member, struct pt_regs *regs, unsigned int n)
{
	if (!profil_place_borrowed(member, n))
		profil_place_more(member, regs, n);
}
