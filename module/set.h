/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _PROFIL_SET_H
#define _PROFIL_SET_H

#include <linux/refcount.h>

#include "due.h"
#include "find.h"

#define PROFIL_REGION_FLAGS	(PROFIL_REGION_F_U32 | \
				 PROFIL_REGION_F_PER_COUNTER | \
				 PROFIL_REGION_F_BSD_ROUNDING | \
				 PROFIL_REGION_F_OVERFLOW)

struct profil_ioc_start;
struct profil_user;

/* What one START asked for.  It never changes; forked children share it. */
struct profil_set {
	refcount_t		refs;
	u64			gen;		/* generation, never used twice */
	struct profil_user	*user;		/* charged for the regions */
	u32			charged;	/* so many */
	u32			flags;		/* as in struct profil_ioc_start */
	u32			rate;
	struct profil_due	due;		/* which ticks are due; without a secret */
	u64			timer;		/* gen, or 0: the tick is the source */
	u32			period;		/* of the samples, in ns */
	u32			spread;		/* a random part of it */
	void			(*release)(void);	/* with the last reference, or NULL */
	struct profil_segments	segments;
	u32			nr_ranges;
	struct profil_range	range[];
};

struct profil_set *profil_set_create(const struct profil_ioc_start *args);
int profil_set_check(const struct profil_set *set);
void profil_set_put(struct profil_set *set);

#endif /* _PROFIL_SET_H */
