// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sets of regions: copied and checked once, never changed, shared by a process
 * and its forked children.
 */
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/gcd.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "profil.h"

static atomic64_t profil_set_gen = ATOMIC64_INIT(0);

/* The copy goes on from the last range that was kept. */
struct profil_copy {
	struct profil_set	*set;
	struct profil_range	*overflow;	/* the one so far */
};

static int profil_copy_one(struct profil_copy *copy,
			   const struct profil_region *region, u32 given)
{
	struct profil_set *set = copy->set;
	struct profil_range *range = &set->range[set->nr_ranges];
	int ret = profil_region_check(region);

	if (ret <= 0)
		return ret;
	profil_region_range(region, range);
	range->given = given;
	if (range->overflow && copy->overflow) {
		*copy->overflow = *range;
		return 0;
	}
	if (range->overflow)
		copy->overflow = range;
	set->nr_ranges++;
	return 0;
}

static int profil_set_copy(struct profil_set *set,
			   const struct profil_start *args)
{
	void __user *from = u64_to_user_ptr(args->regions_uptr);
	struct profil_copy copy = { .set = set };
	struct profil_region region;
	int err = 0;
	u32 i;

	for (i = 0; !err && i < args->region_num; i++) {
		err = copy_struct_from_user(&region, sizeof(region),
					    from + (size_t)i * args->region_len,
					    args->region_len);
		if (!err)
			err = profil_copy_one(&copy, &region, i);
	}
	return err;
}

/* Of each window of ticks, so many are due; rate 0 is every tick. */
static void profil_set_rate(struct profil_set *set, u32 rate)
{
	u32 divisor = rate ? gcd(rate, HZ) : HZ;

	set->rate = rate;
	set->take = (rate ? rate : HZ) / divisor;
	set->window = HZ / divisor;
	set->fast = !profil_deferred && set->take == set->window;
}

static void profil_set_timer(struct profil_set *set, u32 rate, u32 jitter)
{
	set->rate = rate;
	set->take = 1;
	set->window = 1;
	set->timer = set->gen;
	set->period = NSEC_PER_SEC / rate;
	set->spread = (u64)set->period * jitter / 100;
}

static struct profil_set *profil_set_alloc(const struct profil_start *args)
{
	struct profil_user *user = profil_user_get(current_uid());
	u32 nr = args->region_num;
	struct profil_set *set;
	int err = -ENOMEM;

	if (!user)
		return ERR_PTR(err);
	err = profil_user_charge(&user->regions, nr,
				 READ_ONCE(profil_max_regions_user));
	if (err)
		goto err_user;

	/* Each region begins one segment, and ends with another. */
	set = kvzalloc(struct_size(set, range, nr) + (2 * nr + 1) *
		       (sizeof(set->start[0]) + sizeof(set->segment[0])),
		       GFP_KERNEL_ACCOUNT);
	err = -ENOMEM;
	if (!set)
		goto err_charge;
	set->start = (u64 *)&set->range[nr];
	set->segment = (struct profil_range **)&set->start[2 * nr + 1];
	set->user = user;
	set->charged = nr;
	set->flags = args->flags;
	set->gen = atomic64_inc_return(&profil_set_gen);
	if (args->source == PROFIL_SOURCE_TIMER)
		profil_set_timer(set, args->rate, args->jitter);
	else
		profil_set_rate(set, args->rate);
	refcount_set(&set->refs, 1);
	return set;

err_charge:
	atomic_sub(nr, &user->regions);
err_user:
	profil_user_put(user);
	return ERR_PTR(err);
}

/**
 * profil_set_create - Make a set of what a program asks for
 * @args: Checked but for the regions
 *
 * Context: Task, may sleep and fault.
 * Return: The set with one reference, without a range if none counts; or an
 * ERR_PTR() with an error of the user interface.
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
	profil_find_prepare(set);
	return set;
}

/**
 * profil_set_check - Find out whether all histograms are writable
 * @set: The set; they are in the address space of current
 *
 * Context: Task, takes mmap_lock, sleeps.
 * Return: 0, -EFAULT, or -EINTR on a fatal signal.
 */
int profil_set_check(const struct profil_set *set)
{
	int err = 0;
	u32 i;

	for (i = 0; !err && i < set->nr_ranges; i++)
		err = profil_region_mapped(&set->range[i]);
	return err;
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
	atomic_sub(set->charged, &set->user->regions);
	profil_user_put(set->user);
	kvfree(set);
}
