/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The place of nearly each tick: it is known from the last look, and has its first slot.
 */
#ifndef _PROFIL_PLACE_H
#define _PROFIL_PLACE_H

#include "kept.h"
#include "member.h"
#include "table.h"

/* The process of a slot, or 0 where it is not told apart. */
static __always_inline u32 profil_place_process(const struct profil_member *member, u32 object)
{
	return object >= PROFIL_OBJECT_KERNEL ? member->apart : member->index;
}

/* Counts @n ticks in the first slot that their place may have; false if another one has that. */
static __always_inline bool profil_place_count_first(struct profil_member *member, u64 place,
						     u32 object, unsigned long system,
						     unsigned int n)
{
	u32 process = profil_place_process(member, object);
	struct profil_table *table = member->table;
	struct profil_slot *slot;

	slot = &table->slots[profil_table_begin(table, place, object, process)];
	if (unlikely(!profil_table_is(slot, place, object, process)))
		return false;
	profil_table_count(&slot->user, system, n);
	return true;
}

/* Counts @n ticks at @pc if a kept range says where that is, and it has a slot. */
static __always_inline bool profil_place_known(struct profil_member *member,
					       struct mm_struct *mm, u64 pc,
					       unsigned long system, unsigned int n)
{
	u32 seq = profil_mm_seq(mm), object;
	u64 place;

	if (seq & PROFIL_KEPT_CHANGES)
		return false;
	place = profil_kept_place(&member->kept, pc, seq, &object);
	return object && profil_place_count_first(member, place, object, system, n);
}

void profil_place_look(struct profil_member *member, struct mm_struct *mm, u64 pc,
		       unsigned long system, unsigned int n);

#endif /* _PROFIL_PLACE_H */
