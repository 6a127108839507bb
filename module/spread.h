/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The key by which places are spread over the slots.  Most numbers would do.  With one in
 * seventy, code that lies together would come to a few slots and find those around them taken,
 * while the rest of the table is free.  Pure, so that the kernel and the tests share it.
 */
#ifndef _PROFIL_SPREAD_H
#define _PROFIL_SPREAD_H

#include <linux/random.h>
#include <linux/types.h>

/* Which of 2^(64 - @shift) slots is the first for @key. */
static __always_inline u32 profil_spread(u64 key, u64 secret, u32 shift)
{
	return key * secret >> shift;
}

/*
 * Whether two places have different first slots whenever fewer bytes are between them than a
 * quarter of the slots: their products differ by more than one slot then.
 */
static inline bool profil_spread_even(u64 secret, u32 shift)
{
	u64 slot = 1ULL << shift, sum = 0;
	u32 i;

	for (i = 1; i < 1U << (62 - shift); i++) {
		sum += secret;
		if (sum < slot || -sum < slot)
			return false;
	}
	return true;
}

/* A random one of those, which are two of three.  It is odd: nothing of a key is lost. */
static inline u64 profil_spread_secret(u32 shift)
{
	u64 secret;

	do
		secret = get_random_u64() | 1;
	while (!profil_spread_even(secret, shift));
	return secret;
}

#endif /* _PROFIL_SPREAD_H */
