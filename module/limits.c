// SPDX-License-Identifier: GPL-2.0-only
#include <linux/errno.h>
#include <linux/hashtable.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/nodemask.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "limits.h"

static unsigned int profil_max_profiles = 16384;
module_param_named(max_profiles, profil_max_profiles, uint, 0644);
MODULE_PARM_DESC(max_profiles, "most profiled processes, and members of sessions (default 16384)");

static unsigned int profil_max_profiles_user = 1024;
module_param_named(max_profiles_user, profil_max_profiles_user, uint, 0644);
MODULE_PARM_DESC(max_profiles_user, "most profiled processes of one user, and members of his sessions (default 1024)");

static unsigned int profil_max_regions_user = 16 * PROFIL_REGIONS_MAX;
module_param_named(max_regions_user, profil_max_regions_user, uint, 0644);
MODULE_PARM_DESC(max_regions_user, "most regions in all profiles of one user (default 65536)");

static unsigned int profil_max_records_user = 16 * PROFIL_PENDING_MAX;
module_param_named(max_records_user, profil_max_records_user, uint, 0644);
MODULE_PARM_DESC(max_records_user, "most pending records of one user, beyond the first of each process (default 65536)");

static unsigned int profil_max_workers_user = 8;
module_param_named(max_workers_user, profil_max_workers_user, uint, 0644);
MODULE_PARM_DESC(max_workers_user, "most workers that run for one user at a time (default 8)");

static unsigned int profil_max_sessions_user = 16;
module_param_named(max_sessions_user, profil_max_sessions_user, uint, 0644);
MODULE_PARM_DESC(max_sessions_user, "most sessions of one user (default 16; 0: there are no sessions)");

static unsigned int profil_max_slots_user = 1 << 21;
module_param_named(max_slots_user, profil_max_slots_user, uint, 0644);
MODULE_PARM_DESC(max_slots_user, "most slots in all sessions of one user (default 2097152)");

static unsigned int profil_max_members_user = 1 << 17;
module_param_named(max_members_user, profil_max_members_user, uint, 0644);
MODULE_PARM_DESC(max_members_user, "most rows for processes in all sessions of one user (default 131072)");

static unsigned int profil_max_objects_user = 1 << 17;
module_param_named(max_objects_user, profil_max_objects_user, uint, 0644);
MODULE_PARM_DESC(max_objects_user, "most entries for objects in all sessions of one user (default 131072)");

static const unsigned int *const profil_limit_of_user[PROFIL_LIMITS] = {
	[PROFIL_LIMIT_PROFILES]	= &profil_max_profiles_user,
	[PROFIL_LIMIT_REGIONS]	= &profil_max_regions_user,
	[PROFIL_LIMIT_RECORDS]	= &profil_max_records_user,
	[PROFIL_LIMIT_WORKERS]	= &profil_max_workers_user,
	[PROFIL_LIMIT_SESSIONS]	= &profil_max_sessions_user,
	[PROFIL_LIMIT_SLOTS]	= &profil_max_slots_user,
	[PROFIL_LIMIT_MEMBERS]	= &profil_max_members_user,
	[PROFIL_LIMIT_OBJECTS]	= &profil_max_objects_user,
};

struct profil_user {
	struct hlist_node	node;		/* under profil_user_lock */
	kuid_t			uid;
	unsigned int		refs;		/* under profil_user_lock */
	atomic_t		used[PROFIL_LIMITS];
};

/* Of all users together. */
static atomic_t profil_limit_used[PROFIL_LIMITS];

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

/*
 * Finds or makes the entry of a user, for profil_user_put(); NULL if there is no
 * memory.  May sleep, also under mmap_lock.
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

	new = kzalloc(sizeof(*new), PROFIL_GFP);
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

/* Drops a reference to the entry of a user.  Task or softirq. */
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

/*
 * A worker may wait, and what is over needs a place beside it: half of what a node has
 * of the workqueue, if all nodes have as many CPUs.
 */
static unsigned int profil_limit_of_system(enum profil_limit limit)
{
	switch (limit) {
	case PROFIL_LIMIT_PROFILES:
		return READ_ONCE(profil_max_profiles);
	case PROFIL_LIMIT_WORKERS:
		return clamp_t(unsigned int, WQ_MAX_ACTIVE / 2 / num_possible_nodes(), 4, 128);
	case PROFIL_LIMIT_SLOTS:
	case PROFIL_LIMIT_MEMBERS:
	case PROFIL_LIMIT_OBJECTS:
		return min_t(u64, UINT_MAX, (u64)PROFIL_TABLES_USERS *
			     READ_ONCE(*profil_limit_of_user[limit]));
	default:
		return UINT_MAX;
	}
}

/* Whether a user can have any of it. */
bool profil_limit_any(enum profil_limit limit)
{
	return READ_ONCE(*profil_limit_of_user[limit]);
}

static bool profil_limit_add(atomic_t *used, unsigned int n, unsigned int most)
{
	int old = atomic_read(used);

	do {
		if (n > most || (unsigned int)old > most - n)
			return false;
	} while (!atomic_try_cmpxchg(used, &old, old + n));
	return true;
}

/* Takes @n of what a limit leaves, for profil_limit_refund(): 0, or -ENOSPC. */
int profil_limit_charge(struct profil_user *user, enum profil_limit limit,
			unsigned int n)
{
	if (!profil_limit_add(&user->used[limit], n,
			      READ_ONCE(*profil_limit_of_user[limit])))
		return -ENOSPC;
	if (profil_limit_add(&profil_limit_used[limit], n,
			     profil_limit_of_system(limit)))
		return 0;
	atomic_sub(n, &user->used[limit]);
	return -ENOSPC;
}

/* Gives back what profil_limit_charge() took.  Any context. */
void profil_limit_refund(struct profil_user *user, enum profil_limit limit,
			 unsigned int n)
{
	atomic_sub(n, &profil_limit_used[limit]);
	atomic_sub(n, &user->used[limit]);
}

/* Charges @nr limits from @first on, for profil_limit_refund_all(): 0, or -ENOSPC. */
int profil_limit_charge_all(struct profil_user *user, enum profil_limit first, const u32 *charged,
			    int nr)
{
	int i, err;

	for (i = 0; i < nr; i++) {
		err = profil_limit_charge(user, first + i, charged[i]);
		if (err) {
			profil_limit_refund_all(user, first, charged, i);
			return err;
		}
	}
	return 0;
}

void profil_limit_refund_all(struct profil_user *user, enum profil_limit first,
			     const u32 *charged, int nr)
{
	while (nr--)
		profil_limit_refund(user, first + nr, charged[nr]);
}
