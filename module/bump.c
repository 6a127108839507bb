// SPDX-License-Identifier: GPL-2.0-only
/*
 * The increment of one counter in user memory.
 */
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/uaccess.h>
#include <asm/futex.h>

#include "profil.h"

/* A hostile writer of the same word must not buy time with interrupts off. */
#define PROFIL_BUMP_TRIES	8

/* A counter of 16 bits is the upper half of its word on one side only. */
static unsigned int profil_bump_shift(const struct profil_bin_ref *bin)
{
	if (bin->bits == 32)
		return 0;
#ifdef __BIG_ENDIAN
	return bin->addr & 2 ? 0 : 16;
#else
	return bin->addr & 2 ? 16 : 0;
#endif
}

static int profil_bump_word(u32 __user *word, unsigned int shift, u32 max,
			    unsigned int n)
{
	u32 old, seen, add;
	int tries, err;

	err = __get_user(old, word);
	for (tries = 0; !err && tries < PROFIL_BUMP_TRIES; tries++) {
		add = min(n, max - ((old >> shift) & max));
		if (!add)
			return 0;
		profil_race();
		err = futex_atomic_cmpxchg_inatomic(&seen, word, old,
						    old + (add << shift));
		if (err == -EAGAIN)	/* arm64: lost the reservation */
			err = __get_user(seen, word);
		else if (!err && seen == old)
			return add;
		old = seen;
	}
	return err ? err : -EAGAIN;
}

/**
 * profil_bump - Add to a counter, up to its maximum
 * @bin: The counter
 * @n: What to add
 *
 * Exact beside other writers of the word that are atomic themselves, in this
 * process or another: only an exchange that saw the old value counts.
 *
 * Context: In a section, the loaded page tables are those of its address
 * space.  Does not fault in.
 * Return: How much was added, less than @n at the maximum; -EFAULT if the
 * memory is not there or not writable now; -EAGAIN if others were faster each
 * time.
 */
int profil_bump(const struct profil_bin_ref *bin, unsigned int n)
{
	u32 __user *word = (u32 __user *)(bin->addr & ~3UL);
	int ret;

	pagefault_disable();
	ret = profil_bump_word(word, profil_bump_shift(bin),
			       GENMASK(bin->bits - 1, 0), n);
	pagefault_enable();
	return ret;
}
