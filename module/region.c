// SPDX-License-Identifier: GPL-2.0-only
/*
 * One region of a START: its rules, and the form that the tick needs.
 */
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "bin.h"
#include "profil.h"

#define PROFIL_REGION_FLAGS	(PROFIL_REGION_F_U32 | \
				 PROFIL_REGION_F_PER_COUNTER | \
				 PROFIL_REGION_F_BSD_ROUNDING | \
				 PROFIL_REGION_F_OVERFLOW)

/* No product of the tick has more than 64 bits; no machine has as much memory. */
#define PROFIL_REGION_BYTES_MAX	(1ULL << 47)

static unsigned int profil_region_order(const struct profil_region *region)
{
	return region->flags & PROFIL_REGION_F_U32 ? 2 : 1;
}

/**
 * profil_region_check - Apply the rules for one region
 * @region: The region
 *
 * Context: Any.
 * Return: 1 if it counts, 0 if it is left out, or an error of the user
 * interface.
 */
int profil_region_check(const struct profil_region *region)
{
	u32 flags = region->flags;

	if (flags & ~PROFIL_REGION_FLAGS)
		return -EOPNOTSUPP;
	if (flags & PROFIL_REGION_F_PER_COUNTER &&
	    flags & PROFIL_REGION_F_BSD_ROUNDING)
		return -EINVAL;
	if (!region->scale && !(flags & PROFIL_REGION_F_OVERFLOW))
		return 0;
	return region->buf_uptr % (1 << profil_region_order(region)) ? -EINVAL : 1;
}

/**
 * profil_region_range - Bring a region into the form that the tick needs
 * @region: The region, checked
 * @range: Receives it
 *
 * Context: Any.
 */
void profil_region_range(const struct profil_region *region, struct profil_range *range)
{
	range->addr = region->buf_uptr;
	range->bytes = region->bytes;
	range->offset = region->offset;
	range->scale = region->scale;
	range->order = profil_region_order(region);
	range->mask = region->flags & PROFIL_REGION_F_U32 ? U32_MAX : U16_MAX;
	range->pre = 1;
	range->post = 16;
	if (region->flags & PROFIL_REGION_F_PER_COUNTER) {
		range->pre = range->order;
	} else if (region->flags & PROFIL_REGION_F_BSD_ROUNDING) {
		range->pre = 0;
		range->post = 17;
	}
	/* Scale 0: everything to the first counter. */
	range->overflow = region->flags & PROFIL_REGION_F_OVERFLOW;
	if (range->overflow) {
		range->offset = 0;
		range->scale = 0;
	}
	range->end = profil_bin_end(range->bytes >> range->order, range->offset,
				    range->scale, range->pre, range->post);
}

/**
 * profil_region_mapped - Find out whether a histogram is writable
 * @range: Its range, in the address space of current
 *
 * A histogram may have as many mappings as a process, and a set 4096 of such:
 * mmap_lock is held for one histogram at a time.
 *
 * Context: Task, takes mmap_lock, sleeps.
 * Return: 0, -EFAULT, or -EINTR on a fatal signal.
 */
int profil_region_mapped(const struct profil_range *range)
{
	unsigned long addr = untagged_addr(range->addr), end = addr + range->bytes;
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;
	int err = 0;

	if (range->bytes > PROFIL_REGION_BYTES_MAX ||
	    !access_ok((void __user *)range->addr, range->bytes))
		return -EFAULT;
	if (mmap_read_lock_killable(mm))
		return -EINTR;
	while (!err && addr < end) {
		cond_resched();
		vma = vma_lookup(mm, addr);
		if (!vma || !(vma->vm_flags & VM_WRITE) ||
		    vma->vm_flags & PROFIL_VM_DENIED)
			err = -EFAULT;
		else if (fatal_signal_pending(current))
			err = -EINTR;
		else
			addr = vma->vm_end;
	}
	mmap_read_unlock(mm);
	return err;
}
