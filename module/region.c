// SPDX-License-Identifier: GPL-2.0-only
/*
 * One region of a START: its rules, and the form that the tick needs.
 */
#include <linux/errno.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/overflow.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/uaccess.h>

#include "bin.h"
#include "profil.h"

#define PROFIL_REGION_FLAGS	(PROFIL_REGION_F_U32 | PROFIL_REGION_F_U64 | \
				 PROFIL_REGION_F_WRAP | \
				 PROFIL_REGION_F_PER_COUNTER | \
				 PROFIL_REGION_F_BYTE17 | \
				 PROFIL_REGION_F_OVERFLOW)
/* System V has counters of 16 bits that end the profile when they are full. */
#define PROFIL_REGION_NOT_SVR4	(PROFIL_REGION_F_U32 | PROFIL_REGION_F_U64 | \
				 PROFIL_REGION_F_WRAP)
/* The largest that BSD takes. */
#define PROFIL_SCALE_BSD	65536

static bool profil_region_has(const struct profil_region *region, u32 flags)
{
	return (region->flags & flags) == flags;
}

static unsigned int profil_region_width(const struct profil_region *region)
{
	if (region->flags & PROFIL_REGION_F_U64)
		return 8;
	return region->flags & PROFIL_REGION_F_U32 ? 4 : 2;
}

static bool profil_region_strict(const struct profil_region *region)
{
	if (region->scale > PROFIL_SCALE_BSD &&
	    !(region->flags & PROFIL_REGION_F_OVERFLOW))
		return false;
	return region->bytes && !(region->bytes % profil_region_width(region));
}

/**
 * profil_region_check - Apply the rules for one region
 * @region: The region
 * @flags: PROFIL_START_F_*
 *
 * Context: Any.
 * Return: 1 if it counts, 0 if it is left out, or an error of the user
 * interface.
 */
int profil_region_check(const struct profil_region *region, u32 flags)
{
	u32 least = flags & PROFIL_START_F_SVR4 ? 2 : 1;

	if (region->flags & ~PROFIL_REGION_FLAGS)
		return -EOPNOTSUPP;
	if (profil_region_has(region, PROFIL_REGION_F_U32 | PROFIL_REGION_F_U64) ||
	    profil_region_has(region, PROFIL_REGION_F_PER_COUNTER |
				      PROFIL_REGION_F_BYTE17))
		return -EINVAL;
	if (flags & PROFIL_START_F_SVR4 &&
	    (region->flags & PROFIL_REGION_NOT_SVR4 || region->buf_uptr % 2))
		return -EINVAL;
	if (region->scale < least && !(region->flags & PROFIL_REGION_F_OVERFLOW))
		return 0;
	if (flags & PROFIL_START_F_STRICT && !profil_region_strict(region))
		return -EINVAL;
	return 1;
}

/* What profil_tick_fast() does not look at again. */
static void profil_region_fast(struct profil_range *range)
{
	u64 width = 1 << range->order, product;

	range->mask = U32_MAX >> (32 - min_t(u64, 8 * width, 32));
	range->last = range->addr + round_down(range->bytes, width) - width;
	range->fast = !range->svr4 && width <= 4 && range->addr % width == 0 &&
		      !check_mul_overflow((range->end - range->offset) >> range->pre,
					  (u64)range->scale, &product);
}

/**
 * profil_region_range - Bring a region into the form that the tick needs
 * @region: The region, checked
 * @flags: PROFIL_START_F_*
 * @range: Receives it
 *
 * Context: Any.
 */
void profil_region_range(const struct profil_region *region, u32 flags,
			 struct profil_range *range)
{
	range->addr = region->buf_uptr;
	range->bytes = region->bytes;
	range->offset = region->offset;
	range->scale = region->scale;
	range->order = ilog2(profil_region_width(region));
	range->wrap = region->flags & PROFIL_REGION_F_WRAP;
	range->svr4 = flags & PROFIL_START_F_SVR4;
	range->pre = 1;
	range->post = 16;
	if (region->flags & PROFIL_REGION_F_PER_COUNTER) {
		range->pre = range->order;
	} else if (region->flags & PROFIL_REGION_F_BYTE17) {
		range->pre = 0;
		range->post = 17;
	}
	/* Scale 0: everything to the first counter. */
	range->overflow = region->flags & PROFIL_REGION_F_OVERFLOW;
	if (range->overflow)
		range->offset = 0;
	if (range->overflow || (range->svr4 && range->scale == 2))
		range->scale = 0;
	range->end = profil_bin_end(range->bytes >> range->order, range->offset,
				    range->scale, range->pre, range->post);
	profil_region_fast(range);
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

	if (!access_ok((void __user *)range->addr, range->bytes))
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

/**
 * profil_region_fault_in - Make all pages of a histogram present
 * @range: Its range, mapped
 *
 * Context: Task, sleeps.
 * Return: 0, -EFAULT, or -EINTR on a fatal signal.
 */
int profil_region_fault_in(const struct profil_range *range)
{
	char __user *addr = (char __user *)range->addr;
	u64 left = range->bytes;
	size_t part;

	/* In parts, because each holds mmap_lock all the time. */
	for (; left; left -= part, addr += part) {
		part = min_t(u64, left, SZ_1M);
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
		if (fault_in_safe_writeable(addr, part))
			return fatal_signal_pending(current) ? -EINTR : -EFAULT;
	}
	return 0;
}
