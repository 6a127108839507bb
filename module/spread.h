/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where in a table to begin to look for a key.  Pure, so that the kernel and the tests share it.
 */
#ifndef _PROFIL_SPREAD_H
#define _PROFIL_SPREAD_H

#include <linux/types.h>

/*
 * Keys are places, addresses and numbers in a row, and lie at regular distances, which one
 * factor keeps: with some secrets many keys would meet at few entries, while the rest of a
 * table is free.  So the halves are mixed, and it is a factor once more.  The upper bits are
 * the best.
 */
static __always_inline u64 profil_spread(u64 key, u64 secret)
{
	key *= secret;
	return (key ^ key >> 32) * secret;
}

#endif /* _PROFIL_SPREAD_H */
