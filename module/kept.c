// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changes of what is kept of a member's mappings, and the look at it that waits for them.
 */
#include "kept.h"

/* What is between these two may change a kept range.  Under the lock. */
static u64 profil_kept_begin(struct profil_kept_range *range)
{
	u64 stamp = range->stamp;

	WRITE_ONCE(range->stamp, (stamp & ~(u64)U32_MAX) | PROFIL_KEPT_CHANGES);
	smp_wmb();	/* (M) with what follows */
	return stamp;
}

static void profil_kept_end(struct profil_kept_range *range, u64 stamp, u32 seq)
{
	/* Never the same as before: many changes fit into one sequence. */
	stamp = ((stamp >> 32) + 1) << 32 | (seq & ~PROFIL_KEPT_CHANGES);
	smp_store_release(&range->stamp, stamp);	/* (M) */
}

static void profil_kept_drop(struct profil_kept_range *range)
{
	u64 stamp = profil_kept_begin(range);

	WRITE_ONCE(range->bytes, 0);
	profil_kept_end(range, stamp, 0);
}

/* Copies the range that has @pc; one of no bytes if there is none.  Hardirq. */
void profil_kept_find(struct profil_kept *kept, u64 pc, struct profil_kept_range *found)
{
	const struct profil_kept_range *range;

	raw_spin_lock(&kept->lock);
	range = profil_kept_has(kept, pc);
	if (range)
		*found = *range;
	else
		found->bytes = 0;
	raw_spin_unlock(&kept->lock);
}

/*
 * Whether @range has to go for @new.  Who looks for a start takes the first range that has it,
 * even if nothing is kept there any more.
 */
static bool profil_kept_in_way(const struct profil_kept_range *range,
			       const struct profil_kept_range *new)
{
	return range->start == new->start ||
	       (range->start < new->start + new->bytes &&
		new->start < range->start + range->bytes);
}

/*
 * Keeps @new, which was found at @seq, instead of all that is in its way, which is gone, or
 * of the oldest.  It is of @mm, and kept while @of is that: a look that comes late may find
 * another one there, and then all is forgotten, or will be (N).  Interrupts off.
 */
void profil_kept_write(struct profil_kept *kept, const struct profil_kept_range *new, u32 seq,
		       struct mm_struct *const *of, const struct mm_struct *mm)
{
	struct profil_kept_range *range, *place = NULL;
	u64 stamp;

	raw_spin_lock(&kept->lock);
	if (READ_ONCE(*of) != mm)	/* (N) */
		goto out;
	for (range = kept->range; range < kept->range + PROFIL_KEPT; range++) {
		if (!profil_kept_in_way(range, new))
			continue;
		profil_kept_drop(range);
		place = place ?: range;
	}
	if (!place)
		place = &kept->range[kept->oldest++ % PROFIL_KEPT];
	stamp = profil_kept_begin(place);
	WRITE_ONCE(place->start, new->start);
	WRITE_ONCE(place->bytes, new->bytes);
	WRITE_ONCE(place->base, new->base);
	WRITE_ONCE(place->object, new->object);
	WRITE_ONCE(place->inode, new->inode);
	profil_kept_end(place, stamp, seq);
out:
	raw_spin_unlock(&kept->lock);
}

/* Nothing is kept any more.  Any context. */
void profil_kept_forget(struct profil_kept *kept)
{
	unsigned long flags;
	int i;

	raw_spin_lock_irqsave(&kept->lock, flags);
	for (i = 0; i < PROFIL_KEPT; i++)
		profil_kept_drop(&kept->range[i]);
	raw_spin_unlock_irqrestore(&kept->lock, flags);
}
