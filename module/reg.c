// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registrations: what is profiled, found by its address space.
 */
#include <linux/cred.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "hot.h"

struct hlist_head *profil_regs;
unsigned long profil_reg_key __read_mostly;
static DEFINE_SPINLOCK(profil_reg_lock);

static atomic_t profil_nr_regs = ATOMIC_INIT(0);
static DECLARE_WAIT_QUEUE_HEAD(profil_no_regs);

/**
 * profil_reg_find - Find the registration of an address space
 * @mm: The address space
 *
 * Context: Any, under rcu_read_lock() or profil_reg_lock.
 * Return: The registration, without a reference, or NULL.
 */
struct profil_reg *profil_reg_find(struct mm_struct *mm)
{
	struct profil_reg *reg;

	hlist_for_each_entry_rcu(reg, profil_hot_bucket(mm), node,
				 lockdep_is_held(&profil_reg_lock))
		if (reg->mm == mm)
			return reg;
	return NULL;
}

/**
 * profil_reg_get - Find the registration of an address space, and hold it
 * @mm: The address space
 *
 * Context: Any.
 * Return: The registration, to be given to profil_reg_put(), or NULL.
 */
struct profil_reg *profil_reg_get(struct mm_struct *mm)
{
	struct profil_reg *reg;

	rcu_read_lock();
	reg = profil_reg_find(mm);
	if (reg && !refcount_inc_not_zero(&reg->refs))
		reg = NULL;
	rcu_read_unlock();
	return reg;
}

static int profil_reg_charge(struct profil_user *user)
{
	int err = profil_user_charge(&user->profiles, 1,
				     READ_ONCE(profil_max_profiles_user));

	if (err)
		return err;
	err = profil_user_charge(&profil_nr_regs, 1,
				 READ_ONCE(profil_max_profiles));
	if (err)
		atomic_dec(&user->profiles);
	return err;
}

/**
 * profil_reg_create - Make a registration that nobody finds yet
 * @mm: Its address space
 *
 * Context: Task, may sleep, also under mmap_lock.
 * Return: The registration with one reference, or an ERR_PTR(): -ENOMEM, or
 * -ENOSPC at a limit.
 */
struct profil_reg *profil_reg_create(struct mm_struct *mm)
{
	struct profil_user *user = profil_user_get(current_uid());
	struct profil_reg *reg;
	int err = -ENOMEM;

	if (!user)
		return ERR_PTR(err);
	err = profil_reg_charge(user);
	if (err)
		goto err_user;

	/* The first records are written when they are used. */
	reg = kmalloc(sizeof(*reg), GFP_KERNEL_ACCOUNT);
	err = -ENOMEM;
	if (!reg)
		goto err_charge;
	memset(reg, 0, offsetof(struct profil_reg, first));
	mmgrab(mm);
	reg->mm = mm;
	reg->user = user;
	refcount_set(&reg->refs, 1);
	atomic_set(&reg->anchors, 1);
	raw_spin_lock_init(&reg->lock);
	/* Odd, and as little known as the key. */
	reg->secret = hash_long((unsigned long)reg ^ profil_reg_key,
				BITS_PER_LONG) | 1;
	profil_pending_init(reg);
	return reg;

err_charge:
	atomic_dec(&profil_nr_regs);
	atomic_dec(&user->profiles);
err_user:
	profil_user_put(user);
	return ERR_PTR(err);
}

/**
 * profil_reg_publish - Let a registration be found, for its anchor
 * @reg: The registration; the anchor gets a reference of its own
 *
 * Context: Task, also under mmap_lock.
 * Return: 0, or -EEXIST if the address space has one already.
 */
int profil_reg_publish(struct profil_reg *reg)
{
	int err = -EEXIST;

	spin_lock(&profil_reg_lock);
	if (!profil_reg_find(reg->mm)) {
		refcount_inc(&reg->refs);
		hlist_add_head_rcu(&reg->node, profil_hot_bucket(reg->mm));
		err = 0;
	}
	spin_unlock(&profil_reg_lock);
	return err;
}

/**
 * profil_reg_unpublish - Let a registration not be found any more
 * @reg: The registration; the anchor's reference stays
 *
 * Context: Task, also under mmap_lock.
 */
void profil_reg_unpublish(struct profil_reg *reg)
{
	spin_lock(&profil_reg_lock);
	hlist_del_rcu(&reg->node);
	spin_unlock(&profil_reg_lock);
}

/* Softirq, or a thread of RCU's own. */
static void profil_reg_free(struct rcu_head *head)
{
	struct profil_reg *reg = container_of(head, struct profil_reg, free);

	profil_pending_free(reg);
	atomic_dec(&reg->user->profiles);
	profil_user_put(reg->user);
	kfree(reg);
	if (atomic_dec_and_test(&profil_nr_regs))
		wake_up_all(&profil_no_regs);
}

/**
 * profil_reg_put - Drop a reference to a registration
 * @reg: The registration
 *
 * Context: Task, also under mmap_lock; never a tick.
 */
void profil_reg_put(struct profil_reg *reg)
{
	if (!refcount_dec_and_test(&reg->refs))
		return;
	/* Here, because it may sleep.  Who still sees @reg compares addresses. */
	mmdrop(reg->mm);
	/* Soon, because the user is charged for it until then. */
	call_rcu_hurry(&reg->free, profil_reg_free);
}

/**
 * profil_reg_wait - Wait until all registrations are freed
 *
 * Context: Task, of module exit: none can be made any more, and what keeps one
 * is a worker at most, which has only to settle what is lost.
 */
void profil_reg_wait(void)
{
	wait_event(profil_no_regs, !atomic_read(&profil_nr_regs));
	/* The last profil_reg_free() may not have returned. */
	rcu_barrier();
}

/**
 * profil_reg_init - Set up the hash
 *
 * Context: Task.
 * Return: 0 or -ENOMEM.
 */
int profil_reg_init(void)
{
	profil_regs = kvcalloc(1UL << PROFIL_REG_BITS, sizeof(*profil_regs),
			       GFP_KERNEL);
	profil_reg_key = get_random_long() | 1;
	return profil_regs ? 0 : -ENOMEM;
}

/**
 * profil_reg_exit - Free the hash
 *
 * Context: Task.
 */
void profil_reg_exit(void)
{
	kvfree(profil_regs);
}
