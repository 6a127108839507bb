/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where in a table to begin to look for a key.  Pure, so that the kernel and the tests share it.
 */
#ifndef _PROFIL_SPREAD_H
#define _PROFIL_SPREAD_H

#include <linux/types.h>

/* What parts objects and processes in a key: they number from 0, and both halves have to vary. */
#define PROFIL_SPREAD_OBJECT	0x61c88647ULL
#define PROFIL_SPREAD_PROCESS	0x80000000ULL

/*
 * Keys are places, addresses and numbers in a row, and lie at regular distances, which one
 * factor keeps: with some secrets many keys would meet at few entries, while the rest of a
 * table is free.  So the halves are mixed, and the secret is a factor once more.  The upper bits
 * are the best.
 */
static __always_inline u64 profil_spread(u64 key, u64 secret)
{
	key *= secret;
	return (key ^ key >> 32) * secret;
}

#endif /* _PROFIL_SPREAD_H */
