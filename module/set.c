// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sets of regions: copied and checked once, never changed, shared by a process
 * and its forked children.
 */
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/overflow.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/time64.h>
#include <linux/uaccess.h>
#include <linux/profil.h>

#include "limits.h"
#include "profil.h"
#include "set.h"

static atomic64_t profil_set_gen = ATOMIC64_INIT(0);

static unsigned int profil_region_order(const struct profil_region *region)
{
	return region->flags & PROFIL_REGION_F_U32 ? 2 : 1;
}

/* 1 if the region counts, 0 if it is left out, or an error of the user interface. */
static int profil_region_check(const struct profil_region *region)
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

/* Brings a region that counts into the form that the tick needs. */
static void profil_region_range(const struct profil_region *region,
				struct profil_range *range)
{
	range->addr = region->buf_uptr;
	range->bytes = region->bytes;
	range->offset = region->offset;
	range->scale = region->scale;
	range->order = profil_region_order(region);
	range->mask = region->flags & PROFIL_REGION_F_U32 ? U32_MAX : U16_MAX;
	range->round = ~1ULL;
	range->shift = 17;
	if (region->flags & PROFIL_REGION_F_BSD_ROUNDING)
		range->round = ~0ULL;
	if (region->flags & PROFIL_REGION_F_PER_COUNTER) {
		range->round = ~0ULL << range->order;
		range->shift = 16 + range->order;
	}
	/* Scale 0: everything to the first counter. */
	range->overflow = region->flags & PROFIL_REGION_F_OVERFLOW;
	if (range->overflow) {
		range->offset = 0;
		range->scale = 0;
	}
	range->end = profil_bin_end(range->bytes >> range->order, range->offset,
				    range->scale, range->round, range->shift);
}

/* The last overflow region replaces the former one, which is at *@overflow. */
static int profil_set_add(struct profil_set *set, const struct profil_region *region,
			  u32 given, struct profil_range **overflow)
{
	struct profil_range *range = &set->range[set->nr_ranges];
	int ret = profil_region_check(region);

	if (ret <= 0)
		return ret;
	profil_region_range(region, range);
	range->given = given;
	if (range->overflow && *overflow) {
		**overflow = *range;
		return 0;
	}
	if (range->overflow)
		*overflow = range;
	set->nr_ranges++;
	return 0;
}

static int profil_set_copy(struct profil_set *set,
			   const struct profil_ioc_start *args)
{
	void __user *from = u64_to_user_ptr(args->regions_uptr);
	struct profil_range *overflow = NULL;
	struct profil_region region;
	int err = 0;
	u32 i;

	for (i = 0; !err && i < args->region_num; i++) {
		err = copy_struct_from_user(&region, sizeof(region),
					    from + (size_t)i * args->region_len,
					    args->region_len);
		if (!err)
			err = profil_set_add(set, &region, i, &overflow);
	}
	return err;
}

static void profil_set_tick(struct profil_set *set)
{
	profil_due_rate(&set->due, set->rate);
	set->period = NSEC_PER_SEC / (set->rate ?: HZ);
}

static void profil_set_timer(struct profil_set *set, const struct profil_ioc_start *args)
{
	set->due.take = 1;
	set->due.window = 1;
	set->timer = set->gen;
	set->period = args->period_ns ?: NSEC_PER_SEC / args->rate;
	set->spread = (u64)set->period * args->jitter / 100;
}

static struct profil_set *profil_set_alloc(const struct profil_ioc_start *args)
{
	struct profil_user *user = profil_user_get(current_uid());
	u32 nr = args->region_num;
	struct profil_set *set;
	int err = -ENOMEM;

	if (!user)
		return ERR_PTR(err);
	err = profil_limit_charge(user, PROFIL_LIMIT_REGIONS, nr);
	if (err)
		goto err_user;

	/* Each region begins one segment, and ends with another. */
	set = kvzalloc(struct_size(set, range, nr) + (2 * nr + 1) *
		       (sizeof(set->segments.start[0]) + sizeof(set->segments.range[0])),
		       PROFIL_GFP);
	err = -ENOMEM;
	if (!set)
		goto err_charge;
	set->segments.start = (u64 *)&set->range[nr];
	set->segments.range = (struct profil_range **)&set->segments.start[2 * nr + 1];
	set->user = user;
	set->charged = nr;
	set->flags = args->flags;
	set->gen = atomic64_inc_return(&profil_set_gen);
	set->rate = args->period_ns ? (u32)NSEC_PER_SEC / (u32)args->period_ns : args->rate;
	if (args->source == PROFIL_SOURCE_TIMER)
		profil_set_timer(set, args);
	else
		profil_set_tick(set);
	refcount_set(&set->refs, 1);
	return set;

err_charge:
	profil_limit_refund(user, PROFIL_LIMIT_REGIONS, nr);
err_user:
	profil_user_put(user);
	return ERR_PTR(err);
}

/*
 * Makes a set of what a program asks for; @args is checked but for the regions.  Returns
 * it with one reference, without a range if no region counts; or an ERR_PTR() with an
 * error of the user interface.  May sleep and fault.
 */
struct profil_set *profil_set_create(const struct profil_ioc_start *args)
{
	struct profil_set *set = profil_set_alloc(args);
	int err;

	if (IS_ERR(set))
		return set;
	err = profil_set_copy(set, args);
	if (err) {
		profil_set_put(set);
		return ERR_PTR(err);
	}
	profil_find_prepare(&set->segments, set->range, set->nr_ranges);
	return set;
}

/*
 * A histogram may have as many mappings as a process, and a set 4096 of such:
 * mmap_lock is held for one histogram at a time.
 */
static int profil_set_check_range(const struct profil_range *range)
{
	unsigned long addr = untagged_addr(range->addr), end = addr + range->bytes;
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;
	int err = 0;

	if (range->bytes > PROFIL_BIN_BYTES_MAX ||
	    !access_ok((void __user *)range->addr, range->bytes))
		return -ENXIO;
	if (mmap_read_lock_killable(mm))
		return -EINTR;
	while (!err && addr < end) {
		cond_resched();
		vma = vma_lookup(mm, addr);
		if (!vma || !(vma->vm_flags & VM_WRITE) ||
		    vma->vm_flags & PROFIL_VM_DENIED)
			err = -ENXIO;
		else if (fatal_signal_pending(current))
			err = -EINTR;
		else
			addr = vma->vm_end;
	}
	mmap_read_unlock(mm);
	return err;
}

/*
 * Finds out whether all histograms are writable in the address space of current: 0,
 * -ENXIO, or -EINTR on a fatal signal.  Takes mmap_lock and sleeps.
 */
int profil_set_check(const struct profil_set *set)
{
	int err = 0;
	u32 i;

	for (i = 0; !err && i < set->nr_ranges; i++)
		err = profil_set_check_range(&set->range[i]);
	return err;
}

/*
 * Drops a reference to a set, or to NULL.  The caller has drained the sections that
 * may use it.  Task context, also under mmap_lock.
 */
void profil_set_put(struct profil_set *set)
{
	if (!set || !refcount_dec_and_test(&set->refs))
		return;
	if (set->release)
		set->release();
	profil_limit_refund(set->user, PROFIL_LIMIT_REGIONS, set->charged);
	profil_user_put(set->user);
	kvfree(set);
}
