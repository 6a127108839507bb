/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Limits of each user and of the system.  Memory is charged to the caller's control
 * group as well; these limits are for what is scarce in other ways.
 */
#ifndef _PROFIL_LIMITS_H
#define _PROFIL_LIMITS_H

#include <linux/gfp.h>
#include <linux/types.h>
#include <linux/uidgid.h>

/*
 * What a user has the size of: it is on the account of his control group, and where that is
 * full he gets ENOMEM, nobody is killed, and the log says nothing.
 */
#define PROFIL_GFP		(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

#define PROFIL_REGIONS_MAX	4096	/* in one set */
#define PROFIL_PENDING_MAX	4096	/* records of one process */

enum profil_limit {
	PROFIL_LIMIT_PROFILES,	/* registrations and members, until they are freed */
	PROFIL_LIMIT_REGIONS,	/* in sets */
	PROFIL_LIMIT_RECORDS,	/* pending, beyond the first of each process */
	PROFIL_LIMIT_WORKERS,	/* running now */
	PROFIL_LIMIT_SESSIONS,	/* until they are freed, as what follows */
	PROFIL_LIMIT_SLOTS,
	PROFIL_LIMIT_MEMBERS,	/* rows, which bound the members */
	PROFIL_LIMIT_OBJECTS,
	PROFIL_LIMITS,
};

struct profil_user;

bool profil_limit_any(enum profil_limit limit);
struct profil_user *profil_user_get(kuid_t uid);
void profil_user_put(struct profil_user *user);
int profil_limit_charge(struct profil_user *user, enum profil_limit limit,
			unsigned int n);
void profil_limit_refund(struct profil_user *user, enum profil_limit limit,
			 unsigned int n);
int profil_limit_charge_all(struct profil_user *user, enum profil_limit first, const u32 *charged,
			    int nr);
void profil_limit_refund_all(struct profil_user *user, enum profil_limit first,
			     const u32 *charged, int nr);

#endif /* _PROFIL_LIMITS_H */
