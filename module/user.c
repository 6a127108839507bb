// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limits of each user.  Memory is charged to the caller's control group as
 * well; these limits are for what is scarce in other ways.
 */
#include <linux/errno.h>
#include <linux/hashtable.h>
#include <linux/slab.h>

#include "profil.h"

static DEFINE_HASHTABLE(profil_users, 6);
/* Registrations are freed in softirqs. */
static DEFINE_SPINLOCK(profil_user_lock);

static struct profil_user *profil_user_find(kuid_t uid)
{
	struct profil_user *user;

	lockdep_assert_held(&profil_user_lock);
	hash_for_each_possible(profil_users, user, node, __kuid_val(uid))
		if (uid_eq(user->uid, uid))
			return user;
	return NULL;
}

/**
 * profil_user_get - Find or make the entry of a user
 * @uid: The user
 *
 * Context: Task, may sleep, also under mmap_lock.
 * Return: The entry, to be given to profil_user_put(), or NULL without memory.
 */
struct profil_user *profil_user_get(kuid_t uid)
{
	struct profil_user *user, *new;

	spin_lock_bh(&profil_user_lock);
	user = profil_user_find(uid);
	if (user)
		user->refs++;
	spin_unlock_bh(&profil_user_lock);
	if (user)
		return user;

	new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT);
	if (!new)
		return NULL;
	new->uid = uid;

	spin_lock_bh(&profil_user_lock);
	user = profil_user_find(uid);
	if (!user) {
		user = new;
		new = NULL;
		hash_add(profil_users, &user->node, __kuid_val(uid));
	}
	user->refs++;
	spin_unlock_bh(&profil_user_lock);
	kfree(new);
	return user;
}

/**
 * profil_user_put - Drop a reference to the entry of a user
 * @user: The entry
 *
 * Context: Task or softirq.
 */
void profil_user_put(struct profil_user *user)
{
	spin_lock_bh(&profil_user_lock);
	if (--user->refs)
		user = NULL;
	else
		hash_del(&user->node);
	spin_unlock_bh(&profil_user_lock);
	kfree(user);
}

/**
 * profil_user_charge - Take from a limit
 * @used: What is used of it
 * @nr: What to take
 * @limit: The limit
 *
 * Given back with atomic_sub().
 *
 * Context: Any.
 * Return: 0, or -ENOSPC with nothing taken.
 */
int profil_user_charge(atomic_t *used, unsigned int nr, unsigned int limit)
{
	int old = atomic_read(used);

	do {
		if (nr > limit || (unsigned int)old > limit - nr)
			return -ENOSPC;
	} while (!atomic_try_cmpxchg(used, &old, old + nr));
	return 0;
}
