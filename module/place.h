/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The place of nearly each tick: it is known from the last look, and has its first slot.
 */
#ifndef _PROFIL_PLACE_H
#define _PROFIL_PLACE_H

#include "kept.h"
#include "mapping.h"
#include "member.h"

/* Whether a kept range says where @pc is, for certain. */
static __always_inline bool profil_place_kept(struct profil_member *member,
					      struct mm_struct *mm, u64 pc, u64 *place,
					      u32 *object)
{
	u32 seq = profil_mm_seq(mm);

	if (seq & PROFIL_KEPT_CHANGES)
		return false;
	*place = profil_kept_place(&member->kept, pc, seq, object);
	return *object;
}

/* Counts @n ticks at @pc if that is kept, and has its first slot. */
static __always_inline bool profil_place_known(struct profil_member *member,
					       struct mm_struct *mm, u64 pc,
					       unsigned long system, unsigned int n)
{
	u32 object;
	u64 place;

	return profil_place_kept(member, mm, pc, &place, &object) &&
	       profil_mapping_count_first(member, place, object, system, n);
}

void profil_place_look(struct profil_member *member, struct mm_struct *mm, u64 pc,
		       unsigned long system, unsigned int n);

#endif /* _PROFIL_PLACE_H */
