/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The arithmetic of profil(): from a program counter to the index of a
 * counter.  It is pure, so that the kernel and the tests share it.
 *
 * All forms are floor(floor(distance / unit) * scale / one):
 *
 *	unit 2, one 65536	4.4BSD's manual page, glibc, gprof
 *	unit width, one 65536	sprofil() of HP-UX, IRIX and glibc
 *	unit 1, one 131072	the kernels of BSD and illumos
 *
 * A unit is a power of two.  So this is the distance without the bits below a unit,
 * times scale, shifted right by the bits of unit * one.
 */
#ifndef _PROFIL_BIN_H
#define _PROFIL_BIN_H

#include <linux/types.h>

/*
 * With a histogram no larger than this, no product of profil_bin() has more than
 * 64 bits, as long as the index is one of the histogram.
 */
#define PROFIL_BIN_BYTES_MAX	0x800000000000ULL

/*
 * The index of the counter of @pc, which is in a region that begins at @offset and
 * whose histogram is no larger than PROFIL_BIN_BYTES_MAX.  @scale is in units of
 * 1/65536; with 0, all of the region has the first counter.  @round has the bits of a
 * distance but for those below a unit.
 */
static inline __u64 profil_bin(__u64 pc, __u64 offset, __u32 scale, __u64 round,
			       unsigned int shift)
{
	return ((pc - offset) & round) * scale >> shift;
}

/*
 * Where a histogram of @bins counters ends: the lowest program counter, not below
 * @offset, whose index is @bins or more; ~0 also if there is none in 64 bits.
 */
static inline __u64 profil_bin_end(__u64 bins, __u64 offset, __u32 scale,
				   __u64 round, unsigned int shift)
{
	unsigned int pre = __builtin_ctzll(round), post = shift - pre;
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
