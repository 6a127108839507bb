/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One counter in user memory.  It has 16 or 32 bits and is aligned, so it lies in
 * one aligned word of 32 bits, and a compare-and-exchange of that word is the only
 * way to add to it.  It is exact beside every other writer that is atomic itself,
 * in this process or in another.
 */
#ifndef _PROFIL_BUMP_H
#define _PROFIL_BUMP_H

#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/uaccess.h>
#include <asm/futex.h>

#include "race.h"

/* A hostile writer of the same word must not buy time with interrupts off. */
#define PROFIL_BUMP_TRIES	8

/*
 * Adds @n to the counter at @addr, whose maximum is @mask.  In a section, with page
 * faults disabled; the loaded page tables are those of the counter's address space.
 * Returns how much was added, which is less than @n where the counter is then at its
 * maximum; or, with nothing added, -EFAULT if the memory is not there or not writable
 * now, and -EAGAIN if another writer changed the word meanwhile.
 */
static __always_inline long profil_bump_once(unsigned long addr, u32 mask, unsigned int n)
{
	u32 __user *word = (u32 __user *)(addr & ~3UL);
	unsigned int shift = 8 * (addr % 4);
	u32 old, seen, add;
	int err;

	if (!user_access_begin(word, sizeof(*word)))
		return -EFAULT;
	unsafe_get_user(old, word, fault);
	user_access_end();
	add = min_t(u32, n, ~old >> shift & mask);
	if (!add)
		return 0;
	profil_race(PROFIL_RACE_BUMP);
	err = futex_atomic_cmpxchg_inatomic(&seen, word, old, old + (add << shift));
	if (err)
		return err;
	return seen == old ? (long)add : -EAGAIN;
fault:
	user_access_end();
	return -EFAULT;
}

/* The same, with a few tries more. */
static inline long profil_bump(unsigned long addr, u32 mask, unsigned int n)
{
	long ret = -EAGAIN;
	int tries;

	for (tries = 0; ret == -EAGAIN && tries < PROFIL_BUMP_TRIES; tries++)
		ret = profil_bump_once(addr, mask, n);
	return ret;
}

#endif /* _PROFIL_BUMP_H */
