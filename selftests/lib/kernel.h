/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * As much of a kernel as those parts of the module need that are pure: for the
 * tests that include module/bump.h, due.c, find.c, kept.h, period.h and spread.h.
 */
#ifndef SELFTESTS_LIB_KERNEL_H
#define SELFTESTS_LIB_KERNEL_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;
#define U32_MAX		UINT32_MAX
#define U64_MAX		UINT64_MAX
#define S32_MIN		INT32_MIN
#define S32_MAX		INT32_MAX
#define min(a, b)	((a) < (b) ? (a) : (b))
#define max(a, b)	((a) > (b) ? (a) : (b))
#define min_t(type, a, b) min((type)(a), (type)(b))
#define max_t(type, a, b) max((type)(a), (type)(b))
#define clamp_t(type, value, low, high)	\
	min_t(type, max_t(type, value, low), high)
#define HZ		250
#define __user
#define __read_mostly

struct rnd_state {
	int unused;
};

static inline void sort(void *base, size_t num, size_t size,
			int (*cmp)(const void *a, const void *b), void *swap)
{
	(void)swap;
	qsort(base, num, size, cmp);
}

/* The same numbers in each run. */
static inline u64 any(u64 below)
{
	static u64 state = 88172645463325252ULL;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % below;
}

static inline u32 gcd(u32 a, u32 b)
{
	return b ? gcd(b, a % b) : a;
}

static inline u64 div_u64_rem(u64 value, u32 by, u32 *rest)
{
	*rest = value % by;
	return value / by;
}

#define get_random_u32() ((u32)any(1ULL << 32))
#define get_random_u64() any(U64_MAX)

struct atomic64 {
	u64 value;
};

#define atomic64_t struct atomic64
#define ATOMIC64_INIT(value) { value }

static inline u64 atomic64_inc_return(atomic64_t *atomic)
{
	return ++atomic->value;
}

#define prandom_u32_state(state) ((void)(state), (u32)any(1ULL << 32))

/* User memory, and the exchange of a word of it, as the test has them. */
int user_get(u32 *value, u32 *from);
int user_exchange(u32 *seen, u32 *word, u32 old, u32 new);
#define __get_user(value, from)	user_get(&(value), from)
#define user_access_begin(from, size) ((void)(from), (void)(size), true)
#define user_access_end() ((void)0)
#define unsafe_get_user(value, from, label) \
	do { if (user_get(&(value), from)) goto label; } while (0)
#define futex_atomic_cmpxchg_inatomic(seen, word, old, new)	\
	user_exchange(seen, word, old, new)

#endif /* SELFTESTS_LIB_KERNEL_H */
