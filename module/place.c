// SPDX-License-Identifier: GPL-2.0-only
/*
 * A tick of a member: where it was, as a place that means something when the process is
 * gone, and its slot.  Hardirq throughout, with interrupts off.
 *
 * The mapping is the one of that very moment.  It is known from the last look at it, while
 * the sequence of the address space's lock is the same; otherwise it is looked up, if the
 * lock is free.  If it is not, the last look is the best there is.
 */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/profil.h>

#include "member.h"
#include "profil.h"
#include "table.h"

/* Whether a kept range has @pc. */
static __always_inline bool profil_kept_has(const struct profil_kept *kept, u64 pc)
{
	return pc - READ_ONCE(kept->start) < READ_ONCE(kept->bytes);
}

/* The process of a slot, or 0 where it is not told apart. */
static __always_inline u32 profil_place_process(const struct profil_member *member, u32 object)
{
	return object >= PROFIL_OBJECT_FILES ? member->apart : member->index;
}

/* Counts a tick in the first slot that its place may have; false if another one has that. */
static __always_inline bool profil_place_count_first(struct profil_member *member, u64 place,
						     u32 object, unsigned long system)
{
	u32 process = profil_place_process(member, object);
	struct profil_table *table = member->table;
	struct profil_slot *slot;

	slot = &table->slots[profil_table_begin(table, place, object, process)];
	if (unlikely(!profil_table_is(slot, place, object, process)))
		return false;
	profil_table_count(&slot->user, system);
	return true;
}

/* Counts a tick whose slot is not the first that it may be; who finds none is @full. */
static noinline void profil_place_search(struct profil_member *member, u64 place, u32 object,
					 unsigned long system)
{
	u32 process = profil_place_process(member, object);
	struct profil_table *table = member->table;
	struct profil_slot *slot = NULL;

	if (object)
		slot = profil_table_slot(table, profil_table_begin(table, place, object, process),
					 place, object, process);
	else
		profil_table_inc(&table->page->full_objects);
	if (slot)
		profil_table_count(&slot->user, system);
	else
		profil_table_inc(&table->page->full);
}

/* Copies the kept range that has @pc; one of no bytes if there is none. */
static void profil_kept_find(struct profil_member *member, u64 pc, struct profil_kept *found)
{
	int i;

	raw_spin_lock(&member->lock);
	for (i = 0; i < PROFIL_KEPT; i++)
		if (profil_kept_has(&member->kept[i], pc))
			break;
	if (i < PROFIL_KEPT)
		*found = member->kept[i];
	else
		found->bytes = 0;
	raw_spin_unlock(&member->lock);
}

static bool profil_kept_overlap(const struct profil_kept *a, const struct profil_kept *b)
{
	return a->start < b->start + b->bytes && b->start < a->start + a->bytes;
}

/*
 * Keeps @new, which was found at @seq, instead of all that it overlaps, which is gone, or of
 * the oldest.
 */
static void profil_kept_write(struct profil_member *member, const struct profil_kept *new,
			      u32 seq)
{
	struct profil_kept *kept, *place = NULL;
	u64 stamp;

	raw_spin_lock(&member->lock);
	for (kept = member->kept; kept < member->kept + PROFIL_KEPT; kept++) {
		if (!profil_kept_overlap(kept, new))
			continue;
		stamp = profil_kept_begin(kept);
		WRITE_ONCE(kept->bytes, 0);
		profil_kept_end(kept, stamp, 0);
		place = kept;
	}
	if (!place)
		place = &member->kept[member->oldest++ % PROFIL_KEPT];
	stamp = profil_kept_begin(place);
	WRITE_ONCE(place->start, new->start);
	WRITE_ONCE(place->bytes, new->bytes);
	WRITE_ONCE(place->base, new->base);
	WRITE_ONCE(place->object, new->object);
	WRITE_ONCE(place->inode, new->inode);
	profil_kept_end(place, stamp, seq);
	raw_spin_unlock(&member->lock);
}

/* The place of the start of @vma in what it maps. */
static __always_inline u64 profil_place_base(const struct vm_area_struct *vma)
{
	if (likely(vma->vm_file))
		return (u64)vma->vm_pgoff << PAGE_SHIFT;
	return vma->vm_start == profil_vdso(vma->vm_mm) ? 0 : vma->vm_start;
}

static __always_inline const struct inode *profil_place_inode(const struct vm_area_struct *vma)
{
	return likely(vma->vm_file) ? file_user_inode(vma->vm_file) : NULL;
}

/*
 * The object that @vma maps at @base, as it is kept from a look at @seq; or 0.  It needs no
 * lock, as profil_place_known().
 */
static __always_inline u32 profil_kept_object(const struct profil_member *member,
					      const struct vm_area_struct *vma, u64 base,
					      u32 seq)
{
	const struct profil_kept *kept = member->kept;
	u64 stamp;
	u32 object;

	while (READ_ONCE(kept->start) != vma->vm_start)
		if (++kept == member->kept + PROFIL_KEPT)
			return 0;
	stamp = smp_load_acquire(&kept->stamp);	/* (M) */
	if ((u32)stamp != (seq & ~PROFIL_KEPT_CHANGES) ||
	    READ_ONCE(kept->start) != vma->vm_start ||
	    READ_ONCE(kept->bytes) != vma->vm_end - vma->vm_start ||
	    READ_ONCE(kept->base) != base ||
	    READ_ONCE(kept->inode) != profil_place_inode(vma))
		return 0;
	object = READ_ONCE(kept->object);
	smp_rmb();	/* (M) */
	return READ_ONCE(kept->stamp) == stamp ? object : 0;
}

/*
 * What is new in a member's address space is kept.  The object that @vma maps, or 0 if there
 * is no entry for it.
 */
static noinline u32 profil_place_keep(struct profil_member *member,
				      const struct vm_area_struct *vma, u64 base, u32 seq)
{
	struct profil_kept new = {
		.start = vma->vm_start,
		.bytes = vma->vm_end - vma->vm_start,
		.base = base,
		.object = vma->vm_start == profil_vdso(vma->vm_mm) ? PROFIL_OBJECT_VDSO :
								     PROFIL_OBJECT_ANONYMOUS,
		.inode = profil_place_inode(vma),
	};

	if (new.inode)
		new.object = profil_table_object(member->table, vma->vm_file, new.inode);
	if (new.object)
		profil_kept_write(member, &new, seq);
	return new.object;
}

/* Counts a tick at a place, whether it has a slot or is to have one. */
static __always_inline void profil_place_count(struct profil_member *member, u64 place,
					       u32 object, unsigned long system)
{
	/* A free slot is that of no object. */
	if (unlikely(!object || !profil_place_count_first(member, place, object, system)))
		profil_place_search(member, place, object, system);
}

/* A tick at @pc by the last look, where no other is to be had; that may be the newest yet. */
static noinline void profil_place_hint(struct profil_member *member, struct mm_struct *mm,
				       u64 pc, unsigned long system)
{
	u32 seq = profil_mm_seq(mm);
	struct profil_kept kept;

	profil_kept_find(member, pc, &kept);
	if (!kept.bytes) {
		profil_place_count(member, pc, PROFIL_OBJECT_ADDRESS, system);
		return;
	}
	if (seq & PROFIL_KEPT_CHANGES || (u32)kept.stamp != seq)
		profil_table_inc(&member->table->page->hinted);
	profil_place_count(member, pc - kept.start + kept.base, kept.object, system);
}

/* A tick at @pc, where the kept ranges do not say all. */
static PROFIL_LOOK void profil_place_look(struct profil_member *member, struct mm_struct *mm,
					  u64 pc, unsigned long system)
{
	u32 object = PROFIL_OBJECT_NONE, seq;
	struct vm_area_struct *vma;
	u64 place = pc, base;

	if (!profil_may_look(system) || !mmap_read_trylock(mm)) {
		profil_place_hint(member, mm, pc, system);
		return;
	}
	vma = vma_lookup(mm, pc);
	if (likely(vma)) {
		seq = profil_mm_seq(mm);
		base = profil_place_base(vma);
		place = pc - vma->vm_start + base;
		object = profil_kept_object(member, vma, base, seq);
		if (unlikely(!object))
			object = profil_place_keep(member, vma, base, seq);
	}
	mmap_read_unlock(mm);
	profil_place_count(member, place, object, system);
}

/* Counts a tick at @pc if a kept range says where that is, and it has a slot. */
static __always_inline bool profil_place_known(struct profil_member *member,
					       struct mm_struct *mm, u64 pc,
					       unsigned long system)
{
	const struct profil_kept *kept = member->kept;
	u32 seq = profil_mm_seq(mm), object;
	u64 stamp, place;

	if (seq & PROFIL_KEPT_CHANGES)
		return false;
	while (!profil_kept_has(kept, pc))
		if (++kept == member->kept + PROFIL_KEPT)
			return false;
	stamp = smp_load_acquire(&kept->stamp);	/* (M) */
	if ((u32)stamp != seq || !profil_kept_has(kept, pc))
		return false;
	place = pc - READ_ONCE(kept->start) + READ_ONCE(kept->base);
	object = READ_ONCE(kept->object);
	smp_rmb();	/* (M) */
	if (READ_ONCE(kept->stamp) != stamp)
		return false;
	return profil_place_count_first(member, place, object, system);
}

/* Whether a tick is due, where not every one is. */
static noinline bool profil_place_due(struct profil_table *table, unsigned long system)
{
	u64 number;

	if (system && table->flags & PROFIL_SESSION_F_USER_ONLY)
		return false;
	number = atomic64_inc_return(&table->number) - 1;
	return profil_due(&table->due, profil_due_units, number / table->due.window,
			  number % table->due.window);
}

/* A tick of current, which is @member's. */
void profil_place_tick(struct profil_member *member, struct pt_regs *regs)
{
	struct task_struct *task = current;
	unsigned long system = !user_mode(regs);
	u64 pc;

	/* As in profil_tick_rest(). */
	if (unlikely(data_race(task->flags) & PROFIL_PF_BORROWERS)) {
		profil_table_inc(&member->table->page->borrowed);
		return;
	}
	profil_table_count(&member->row->user, system);
	if (unlikely(member->table->picky) && !profil_place_due(member->table, system)) {
		profil_table_inc(&member->table->page->not_due);
		return;
	}
	/* Not the image that may be counted, or none: it is executing another, or exiting. */
	if (unlikely(READ_ONCE(member->mm) != task->mm ||
		     READ_ONCE(member->exec_id) != READ_ONCE(task->self_exec_id))) {
		profil_table_inc(&member->table->page->exec);
		return;
	}
	pc = instruction_pointer(system ? task_pt_regs(task) : regs);
	if (unlikely(!profil_place_known(member, task->mm, pc, system)))
		profil_place_look(member, task->mm, pc, system);
}
