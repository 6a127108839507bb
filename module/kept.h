/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is kept of the mappings that ticks of a member have looked up.
 *
 * While the sequence of its mm's lock is that of the stamp, nothing there has changed;
 * afterwards it is the best that is known.  A tick reads it without a lock, and what another
 * CPU changes meanwhile does not count: the stamp is another one then: (M) who writes changes
 * it before and after all the rest, who reads looks at it before and after.  (N) A look that
 * comes late may find that the member is another process by now, or executes another program:
 * who makes it so changes its mm first, and then forgets what is kept; who keeps looks at the
 * mm under the lock.
 */
#ifndef _PROFIL_KEPT_H
#define _PROFIL_KEPT_H

#include <linux/compiler.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <asm/barrier.h>

#define PROFIL_KEPT		4	/* ranges: a program, libc, two more */

/* A sequence is even while there is no change; so nothing has this one. */
#define PROFIL_KEPT_CHANGES	1U

struct inode;
struct mm_struct;

struct profil_kept_range {
	u64			stamp;	/* lock to change, as what follows */
	u64			start;
	u64			bytes;	/* 0: nothing is kept */
	u64			base;	/* the place of the start */
	u32			object;
	const struct inode	*inode;	/* a key */
};

struct profil_kept {
	struct profil_kept_range range[PROFIL_KEPT];
	raw_spinlock_t		lock;		/* interrupts off */
	u32			oldest;		/* lock */
};

/* The range that may have @pc, or NULL. */
static __always_inline const struct profil_kept_range *
profil_kept_has(const struct profil_kept *kept, u64 pc)
{
	const struct profil_kept_range *range = kept->range;

	while (pc - READ_ONCE(range->start) >= READ_ONCE(range->bytes))
		if (++range == kept->range + PROFIL_KEPT)
			return NULL;
	return range;
}

/* Where @pc is, if that was kept at @seq and has not changed; else @object is 0. */
static __always_inline u64 profil_kept_place(const struct profil_kept *kept, u64 pc, u32 seq,
					     u32 *object)
{
	const struct profil_kept_range *range = profil_kept_has(kept, pc);
	u64 stamp, offset, base;

	*object = 0;
	if (!range)
		return 0;
	stamp = smp_load_acquire(&range->stamp);	/* (M) */
	offset = pc - READ_ONCE(range->start);
	if ((u32)stamp != seq || offset >= READ_ONCE(range->bytes))
		return 0;
	base = READ_ONCE(range->base);
	*object = READ_ONCE(range->object);
	smp_rmb();	/* (M) */
	if (READ_ONCE(range->stamp) != stamp)
		*object = 0;
	return offset + base;
}

/*
 * The object of a mapping of which all but that is known, as it was kept at @seq; or 0.  Its
 * parts are no struct, which each tick that looks would have to fill.
 */
static __always_inline u32 profil_kept_object(const struct profil_kept *kept, u64 start,
					      u64 bytes, u64 base, const struct inode *inode,
					      u32 seq)
{
	const struct profil_kept_range *range = kept->range;
	u64 stamp;
	u32 object;

	while (READ_ONCE(range->start) != start)
		if (++range == kept->range + PROFIL_KEPT)
			return 0;
	stamp = smp_load_acquire(&range->stamp);	/* (M) */
	if ((u32)stamp != (seq & ~PROFIL_KEPT_CHANGES) ||
	    READ_ONCE(range->start) != start || READ_ONCE(range->bytes) != bytes ||
	    READ_ONCE(range->base) != base || READ_ONCE(range->inode) != inode)
		return 0;
	object = READ_ONCE(range->object);
	smp_rmb();	/* (M) */
	return READ_ONCE(range->stamp) == stamp ? object : 0;
}

void profil_kept_find(struct profil_kept *kept, u64 pc, struct profil_kept_range *found);
void profil_kept_write(struct profil_kept *kept, const struct profil_kept_range *new, u32 seq,
		       struct mm_struct *const *of, const struct mm_struct *mm);
void profil_kept_forget(struct profil_kept *kept);

#endif /* _PROFIL_KEPT_H */
