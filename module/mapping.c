// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a pc to its object and its slot, where a mapping is new, a place has no slot yet or not
 * the first, or the look comes late.  Interrupts off throughout.
 */
#include "mapping.h"

/* Counts @n ticks whose slot need not be the first that it may be; who finds none is @full. */
void profil_mapping_search(struct profil_table *table, const struct profil_row *who, u64 place,
			   u32 object, unsigned long system, unsigned int n)
{
	u32 process = profil_mapping_process(who, object);
	struct profil_slot *slot = NULL;

	if (object)
		slot = profil_table_slot(table, profil_table_begin(table, place, object, process),
					 place, object, process);
	else
		profil_table_add(&table->page->full_objects, n);
	if (slot)
		profil_table_count(&slot->user, system, n);
	else
		profil_table_add(&table->page->full, n);
}

/* Keeps what is new in a member's address space.  Its object, or 0 if that has no entry. */
u32 profil_mapping_keep(struct profil_member *member, const struct vm_area_struct *vma, u64 base,
			const struct inode *inode, u32 seq)
{
	struct profil_kept_range new = {
		.start	= vma->vm_start,
		.bytes	= vma->vm_end - vma->vm_start,
		.base	= base,
		.inode	= inode,
	};

	if (inode)
		new.object = profil_table_object(member->table, vma->vm_file, inode);
	else if (vma->vm_start == profil_vdso(vma->vm_mm))
		new.object = PROFIL_OBJECT_VDSO;
	else
		new.object = PROFIL_OBJECT_ANONYMOUS;
	if (new.object)
		profil_kept_write(&member->kept, &new, seq, &member->mm, vma->vm_mm);
	return new.object;
}

/* profil_mapping_found() for a look that comes late. */
u32 profil_mapping_look(struct profil_member *member, struct mm_struct *mm, u64 pc, u64 *place)
{
	return profil_mapping_found(member, mm, pc, place);
}
