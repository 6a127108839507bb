/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The arithmetic of profil(): from a program counter to the index of a
 * counter.  Pure, so that the kernel, the library and the tests share it.
 */
#ifndef _PROFIL_BIN_H
#define _PROFIL_BIN_H

#include <linux/types.h>

#define PROFIL_NO_BIN	(~(__u64)0)

/**
 * profil_bin - Index of the counter of a program counter
 * @pc: Program counter
 * @offset: Lowest program counter of the region
 * @scale: Counters for each two bytes of code, in units of 1/65536
 *
 * As the manual pages of 4.4BSD and glibc have it: halve first, then scale.
 * Computed in two parts, so that no bit is lost.
 *
 * Return: floor(floor((pc - offset) / 2) * scale / 65536), or PROFIL_NO_BIN
 * below the region and where the index is 2^48 or more, beyond any memory, and
 * might not fit 64 bits.
 */
static inline __u64 profil_bin(__u64 pc, __u64 offset, __u32 scale)
{
	__u64 half = (pc - offset) >> 1;

	if (pc < offset || (half >> 48 && scale > 65536))
		return PROFIL_NO_BIN;
	return (half >> 16) * scale + (((half & 0xffff) * scale) >> 16);
}

#endif /* _PROFIL_BIN_H */
