/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The arithmetic of profil(): from a program counter to the index of a
 * counter.  Pure, so that the kernel and the tests share it.
 *
 * All forms are floor(floor(distance / 2^pre) * scale / 2^post):
 *
 *	pre 1, post 16		4.4BSD's manual page, glibc, gprof
 *	pre log2(width), 16	sprofil() of HP-UX, IRIX and glibc
 *	pre 0, post 17		the kernels of BSD and illumos
 */
#ifndef _PROFIL_BIN_H
#define _PROFIL_BIN_H

#include <linux/types.h>

#define PROFIL_NO_BIN	(~(__u64)0)

/**
 * profil_bin - Index of the counter of a program counter
 * @pc: Program counter
 * @offset: Lowest program counter of the region
 * @scale: Counters for each unit of code, in units of 1/65536; with 0, all of
 *         the region has the first counter
 * @pre: Binary logarithm of what the distance is divided by first
 * @post: Binary logarithm of what the product is divided by
 *
 * Computed in two parts, so that no bit is lost.
 *
 * Return: The index, or PROFIL_NO_BIN below the region and where the index does
 * not fit 64 bits.
 */
static inline __u64 profil_bin(__u64 pc, __u64 offset, __u32 scale,
			       unsigned int pre, unsigned int post)
{
	__u64 units = (pc - offset) >> pre;
	__u64 low = (units & ((1UL << post) - 1)) * scale >> post;
	__u64 index;

	if (pc < offset ||
	    __builtin_mul_overflow(units >> post, (__u64)scale, &index) ||
	    __builtin_add_overflow(index, low, &index))
		return PROFIL_NO_BIN;
	return index;
}

/**
 * profil_bin_end - Where a histogram ends
 * @bins: Number of its counters
 * @offset: Lowest program counter of the region
 * @scale: As for profil_bin()
 * @pre: As for profil_bin()
 * @post: As for profil_bin()
 *
 * Return: The lowest program counter, not below @offset, whose index is @bins
 * or more; ~0 if there is none in 64 bits.
 */
static inline __u64 profil_bin_end(__u64 bins, __u64 offset, __u32 scale,
				   unsigned int pre, unsigned int post)
{
	__u64 whole, rest, end;

	if (!bins)
		return offset;
	if (!scale)
		return ~(__u64)0;
	whole = bins / scale;
	rest = (((bins % scale) << post) + scale - 1) / scale;
	end = (whole << post) + rest;
	if (whole >> (64 - post - pre) || end << pre >> pre != end ||
	    __builtin_add_overflow(offset, end << pre, &end))
		return ~(__u64)0;
	return end;
}

#endif /* _PROFIL_BIN_H */
