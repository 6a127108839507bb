/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From a pc to the object that is mapped there, and from that to the slot: what a tick does
 * in line.  Interrupts off throughout.
 */
#ifndef _PROFIL_MAPPING_H
#define _PROFIL_MAPPING_H

#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/mount.h>
#include <linux/profil.h>

#include "kept.h"
#include "member.h"
#include "race.h"
#include "table.h"

void profil_mapping_search(struct profil_table *table, const struct profil_row *who, u64 place,
			   u32 object, unsigned long system, unsigned int n);
u32 profil_mapping_keep(struct profil_member *member, const struct vm_area_struct *vma, u64 base,
			const struct inode *inode, u32 seq);
u32 profil_mapping_look(struct profil_member *member, struct mm_struct *mm, u64 pc, u64 *place);

/* The process of a slot, or 0 where it is not told apart. */
static __always_inline u32 profil_mapping_process(const struct profil_row *who, u32 object)
{
	return object >= PROFIL_OBJECT_KERNEL ? who->apart : who->index;
}

/* Counts @n ticks in the first slot that their place may have; false if another one has that. */
static __always_inline bool profil_mapping_count_first(struct profil_member *member, u64 place,
						       u32 object, unsigned long system,
						       unsigned int n)
{
	u32 process = profil_mapping_process(&member->who, object);
	struct profil_table *table = member->table;
	struct profil_slot *slot;

	slot = &table->slots[profil_table_begin(table, place, object, process)];
	if (unlikely(!profil_table_is(slot, place, object, process)))
		return false;
	profil_table_count(&slot->user, system, n);
	return true;
}

/* Counts @n ticks at a place, whether it has a slot or is to have one. */
static __always_inline void profil_mapping_count(struct profil_member *member, u64 place,
						 u32 object, unsigned long system,
						 unsigned int n)
{
	/* A free slot is that of no object. */
	if (unlikely(!object ||
		     !profil_mapping_count_first(member, place, object, system, n)))
		profil_mapping_search(member->table, &member->who, place, object, system, n);
}

/*
 * The inode that @vma maps, as users know it; NULL: it is memory.  So is what has a path in the
 * kernel alone, memfd and shared memory: there may be code that is made at run time.
 */
static __always_inline const struct inode *profil_mapping_inode(const struct vm_area_struct *vma)
{
	struct file *file = vma->vm_file;
	int flags;

	if (unlikely(!file))
		return NULL;
	/* Where a mount is remounted, others of them change. */
	flags = data_race(file_user_path(file)->mnt->mnt_flags);
	if (unlikely(flags & MNT_INTERNAL))
		return NULL;
	return file_user_inode(file);
}

/* The place of the start of @vma, which maps @inode or is memory. */
static __always_inline u64 profil_mapping_base(const struct vm_area_struct *vma,
					       const struct inode *inode)
{
	if (likely(inode))
		return (u64)vma->vm_pgoff << PAGE_SHIFT;
	return vma->vm_start == profil_vdso(vma->vm_mm) ? 0 : vma->vm_start;
}

/* The object that @mm, whose lock is held, maps at @pc, and the place there; 0: it has no entry. */
static __always_inline u32 profil_mapping_found(struct profil_member *member,
						struct mm_struct *mm, u64 pc, u64 *place)
{
	struct vm_area_struct *vma = vma_lookup(mm, pc);
	u32 seq = profil_mm_seq(mm), object;
	const struct inode *inode;
	u64 base;

	if (unlikely(!vma)) {
		*place = pc;
		return PROFIL_OBJECT_NONE;
	}
	profil_race(PROFIL_RACE_LOOK);
	inode = profil_mapping_inode(vma);
	base = profil_mapping_base(vma, inode);
	*place = pc - vma->vm_start + base;
	object = profil_kept_object(&member->kept, vma->vm_start, vma->vm_end - vma->vm_start,
				    base, inode, seq);
	return likely(object) ? object : profil_mapping_keep(member, vma, base, inode, seq);
}

#endif /* _PROFIL_MAPPING_H */
