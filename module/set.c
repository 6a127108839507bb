// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sets of regions: copied and checked once, never changed, shared by a process
 * and its forked children.
 */
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/gcd.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/uaccess.h>

#include "bin.h"
#include "profil.h"

/* Enough for 16 processes with a region for each of 4096 objects. */
#define PROFIL_REGIONS_USER	(16 * PROFIL_REGIONS_MAX)

static atomic64_t profil_set_gen = ATOMIC64_INIT(0);

static unsigned int profil_region_bits(const struct profil_region *region)
{
	return region->flags & PROFIL_REGION_F_U32 ? 32 : 16;
}

static int profil_region_check(const struct profil_region *region)
{
	if (region->flags & ~PROFIL_REGION_F_U32)
		return -EOPNOTSUPP;
	if (!region->scale ||
	    region->buf_uptr % (profil_region_bits(region) / 8))
		return -EINVAL;
	return 0;
}

static int profil_region_cmp(const void *a, const void *b)
{
	const struct profil_region *left = a, *right = b;

	if (left->offset == right->offset)
		return 0;
	return left->offset < right->offset ? -1 : 1;
}

static int profil_set_copy(struct profil_set *set,
			   const struct profil_start *args)
{
	void __user *from = u64_to_user_ptr(args->regions_uptr);
	int err = 0;
	u32 i;

	for (i = 0; !err && i < set->nr; i++) {
		err = copy_struct_from_user(&set->region[i],
					    sizeof(set->region[i]),
					    from + (size_t)i * args->region_len,
					    args->region_len);
		if (!err)
			err = profil_region_check(&set->region[i]);
	}
	return err;
}

static struct profil_set *profil_set_alloc(const struct profil_start *args)
{
	struct profil_user *user = profil_user_get(current_uid());
	struct profil_set *set;
	int err = -ENOMEM;

	if (!user)
		return ERR_PTR(err);
	err = profil_user_charge(&user->regions, args->region_num,
				 PROFIL_REGIONS_USER);
	if (err)
		goto err_user;

	set = kvzalloc(struct_size(set, region, args->region_num),
		       GFP_KERNEL_ACCOUNT);
	err = -ENOMEM;
	if (!set)
		goto err_charge;
	set->user = user;
	set->nr = args->region_num;
	set->rate = args->rate;
	set->take = args->rate ? args->rate / gcd(args->rate, HZ) : 1;
	set->window = args->rate ? HZ / gcd(args->rate, HZ) : 1;
	set->gen = atomic64_inc_return(&profil_set_gen);
	refcount_set(&set->refs, 1);
	return set;

err_charge:
	atomic_sub(args->region_num, &user->regions);
err_user:
	profil_user_put(user);
	return ERR_PTR(err);
}

/**
 * profil_set_create - Make a set of what a program asks for
 * @args: Checked but for the regions
 *
 * Context: Task, may sleep and fault.
 * Return: The set with one reference, or an ERR_PTR() with an error of the
 * user interface.
 */
struct profil_set *profil_set_create(const struct profil_start *args)
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
	sort(set->region, set->nr, sizeof(set->region[0]), profil_region_cmp,
	     NULL);
	return set;
}

static int profil_region_mapped(const struct profil_region *region,
				struct mm_struct *mm)
{
	unsigned long addr = region->buf_uptr, end = addr + region->bytes;
	struct vm_area_struct *vma;

	if (!access_ok((void __user *)addr, region->bytes))
		return -EFAULT;
	while (addr < end) {
		vma = vma_lookup(mm, addr);
		if (!vma || !(vma->vm_flags & VM_WRITE) ||
		    vma->vm_flags & PROFIL_VM_DENIED)
			return -EFAULT;
		if (fatal_signal_pending(current))
			return -EINTR;
		addr = vma->vm_end;
	}
	return 0;
}

/**
 * profil_set_check - Find out whether all histograms are writable
 * @set: The set
 * @mm: The address space of current
 *
 * Context: Task, takes mmap_lock.
 * Return: 0, -EFAULT, or -EINTR on a fatal signal.
 */
int profil_set_check(const struct profil_set *set, struct mm_struct *mm)
{
	int err = mmap_read_lock_killable(mm);
	u32 i;

	if (err)
		return err;
	for (i = 0; !err && i < set->nr; i++)
		err = profil_region_mapped(&set->region[i], mm);
	mmap_read_unlock(mm);
	return err;
}

/**
 * profil_set_find - Find the counter of a program counter
 * @set: The set
 * @pc: The program counter
 * @bin: Receives the counter
 *
 * Context: Any; the caller keeps @set from being freed.
 * Return: Whether there is one.
 */
bool profil_set_find(const struct profil_set *set, u64 pc,
		     struct profil_bin_ref *bin)
{
	const struct profil_region *region;
	u32 low = 0, high = set->nr, mid;
	u64 index;

	/* The last region that does not begin above pc. */
	while (low < high) {
		mid = (low + high) / 2;
		if (set->region[mid].offset <= pc)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return false;

	region = &set->region[low - 1];
	bin->gen = set->gen;
	bin->bits = profil_region_bits(region);
	index = profil_bin(pc, region->offset, region->scale);
	if (index >= region->bytes / (bin->bits / 8))
		return false;
	bin->addr = region->buf_uptr + index * (bin->bits / 8);
	return true;
}

/**
 * profil_set_put - Drop a reference to a set
 * @set: The set, or NULL
 *
 * Context: Task; the caller has drained the sections that may use it.
 */
void profil_set_put(struct profil_set *set)
{
	if (!set || !refcount_dec_and_test(&set->refs))
		return;
	atomic_sub(set->nr, &set->user->regions);
	profil_user_put(set->user);
	kvfree(set);
}
