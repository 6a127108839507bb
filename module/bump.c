// SPDX-License-Identifier: GPL-2.0-only
/*
 * The increment of one counter in user memory.
 *
 * Memory is changed by compare-and-exchange of aligned words of 32 bits.  A
 * counter that lies in one word is exact beside every other writer that is
 * atomic itself, in this process or another.  Of a wider or a straddling one
 * the lower part is changed first, and then its carry is brought to the rest;
 * while that has not succeeded, the carry is owed and not lost.
 */
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/uaccess.h>
#include <asm/futex.h>

#include "profil.h"

/* A hostile writer of the same word must not buy time with interrupts off. */
#define PROFIL_BUMP_TRIES	8

/* Full for System V: it takes a counter to be signed. */
#define PROFIL_BUMP_SVR4_MAX	32767

/* The part of a counter that lies in one word, and what is above it. */
struct profil_part {
	u32 __user	*word;
	unsigned int	shift;
	u32		mask;	/* its largest value */
	u32		max;	/* where it stops */
	bool		stops;	/* there, instead of carrying or wrapping */
	unsigned long	rest;	/* address of what is above it */
	unsigned int	left;	/* bytes of that */
};

static void profil_part_init(struct profil_part *part, unsigned long addr,
			     unsigned int width)
{
	unsigned int bytes = min_t(unsigned int, width, 4 - addr % 4);

	part->word = (u32 __user *)(addr & ~3UL);
	part->shift = 8 * (addr % 4);
	part->mask = GENMASK(8 * bytes - 1, 0);
	part->max = part->mask;
	part->stops = false;
	part->rest = addr + bytes;
	part->left = width - bytes;
}

/* 1 if all above a part is at its maximum, 0 if not, or -EFAULT. */
static int profil_part_topped(const struct profil_part *part)
{
	unsigned long addr = part->rest;
	unsigned int left = part->left;
	struct profil_part next;
	u32 value;

	for (; left; addr = next.rest, left = next.left) {
		profil_part_init(&next, addr, left);
		if (__get_user(value, next.word))
			return -EFAULT;
		if (~(value >> next.shift) & next.mask)
			return 0;
	}
	return 1;
}

/* Nothing is to be written if the carry of it could not be: 0 or an error. */
static int profil_part_probe(const struct profil_part *part, unsigned int n)
{
	unsigned long addr = part->rest;
	unsigned int left = part->left;
	struct profil_part next;
	u32 value;
	int err;

	if (!left)
		return 0;
	err = __get_user(value, part->word);
	if (!err && n <= part->mask - ((value >> part->shift) & part->mask))
		return 0;
	for (; !err && left; addr = next.rest, left = next.left) {
		profil_part_init(&next, addr, left);
		err = __get_user(value, next.word);
		if (!err)
			err = futex_atomic_cmpxchg_inatomic(&value, next.word,
							    value, value);
	}
	return err;
}

/* Returns how much was added, and in @old what was there, or an error. */
static int profil_part_add(const struct profil_part *part, unsigned int n,
			   u32 *old)
{
	u32 word, seen, add = min(n, part->mask);
	int tries, err;

	err = __get_user(word, part->word);
	for (tries = 0; !err && tries < PROFIL_BUMP_TRIES; tries++) {
		*old = (word >> part->shift) & part->mask;
		if (part->stops)
			add = min(n, part->max - min(*old, part->max));
		if (!add)
			return 0;
		seen = (word & ~(part->mask << part->shift)) |
		       ((*old + add) & part->mask) << part->shift;
		profil_race(PROFIL_RACE_BUMP);
		err = futex_atomic_cmpxchg_inatomic(&seen, part->word, word,
						    seen);
		if (err == -EAGAIN)	/* arm64: lost the reservation */
			err = __get_user(seen, part->word);
		else if (!err && seen == word)
			return add;
		word = seen;
	}
	return err ? err : -EAGAIN;
}

static int profil_bump_carry(struct profil_bin_ref *bin)
{
	struct profil_part part;
	int ret;
	u32 old;

	while (bin->carry) {
		profil_part_init(&part, bin->addr + bin->carry,
				 bin->width - bin->carry);
		ret = profil_part_add(&part, 1, &old);
		if (ret < 0)
			return ret;
		bin->carry = 0;
		if (part.left && old == part.mask)
			bin->carry = part.rest - bin->addr;
	}
	return 0;
}

static int profil_bump_low(struct profil_bin_ref *bin, unsigned int n,
			   unsigned int *added)
{
	struct profil_part part;
	int ret = 0;
	u32 old;

	profil_part_init(&part, bin->addr, bin->width);
	if (!bin->wrap)
		ret = profil_part_topped(&part);
	if (ret < 0)
		return ret;
	part.stops = ret;
	ret = profil_part_probe(&part, n);
	if (ret)
		return ret;
	if (bin->svr4)
		part.max = PROFIL_BUMP_SVR4_MAX;
	ret = profil_part_add(&part, n, &old);
	if (ret < 0)
		return ret;

	*added += ret;
	n -= ret;
	if (part.left && (u32)ret > part.mask - old) {
		bin->carry = part.rest - bin->addr;
		ret = profil_bump_carry(bin);
		if (ret < 0) {
			--*added;
			return ret;
		}
	}
	return n && !part.stops ? -EAGAIN : 0;
}

/**
 * profil_bump_odd - Find out whether a counter straddles words
 * @bin: The counter
 *
 * Context: Any.
 * Return: Whether profil_bump() needs the registration's lock.
 */
bool profil_bump_odd(const struct profil_bin_ref *bin)
{
	return bin->addr % 4 + min_t(unsigned int, bin->width, 4) > 4;
}

/**
 * profil_bump - Add to a counter
 * @bin: The counter; what it owes is changed
 * @n: What to add; one of it is owed already, if @bin says so
 * @added: Receives how much was added
 *
 * Context: In a section, the loaded page tables are those of its address
 * space; for an odd counter with reg->lock held.  Does not fault in.
 * Return: 0 if all was added but for what exceeds the maximum; if there is more
 * to be added, -EFAULT when the memory is not there or not writable now, or
 * -EAGAIN when another try may do.
 */
int profil_bump(struct profil_bin_ref *bin, unsigned int n, unsigned int *added)
{
	bool owed = bin->carry;
	int err;

	*added = 0;
	pagefault_disable();
	err = profil_bump_carry(bin);
	if (!err) {
		*added = owed;
		if (n > owed)
			err = profil_bump_low(bin, n - owed, added);
	}
	pagefault_enable();
	return err;
}
