// SPDX-License-Identifier: GPL-2.0-only
/*
 * profil_bin() against the formula of the manual page, computed in 128 bits.
 * Right is the exact index, or "no bin" where the index is beyond any memory;
 * a small number instead of a large one would count in the wrong place.
 */
#include "../../module/bin.h"
#include "tap.h"

#define BEYOND_MEMORY ((__uint128_t)1 << 48)
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static bool right(__u64 pc, __u64 offset, __u32 scale)
{
	__u64 bin = profil_bin(pc, offset, scale);
	__uint128_t exact;

	if (pc < offset) {
		if (bin == PROFIL_NO_BIN)
			return true;
	} else {
		exact = (__uint128_t)((pc - offset) / 2) * scale / 65536;
		if (bin == exact)
			return true;
		if (bin == PROFIL_NO_BIN && exact >= BEYOND_MEMORY)
			return true;
	}
	return tap_fail("pc %#llx offset %#llx scale %u gives %#llx", pc, offset,
			scale, bin);
}

static bool known_values(void)
{
	/* The manual page's own examples, and a scale as glibc's gmon makes. */
	TAP_CHECK(profil_bin(0x1000, 0x1000, 65536) == 0);
	TAP_CHECK(profil_bin(0x1001, 0x1000, 65536) == 0);
	TAP_CHECK(profil_bin(0x1002, 0x1000, 65536) == 1);
	TAP_CHECK(profil_bin(0x1003, 0x1000, 32768) == 0);
	TAP_CHECK(profil_bin(0x1004, 0x1000, 32768) == 1);
	TAP_CHECK(profil_bin(0x1000 + 131071, 0x1000, 1) == 0);
	TAP_CHECK(profil_bin(0x1000 + 131072, 0x1000, 1) == 1);
	TAP_CHECK(profil_bin(0x1000 + 3, 0x1000, 131072) == 2);
	TAP_CHECK(profil_bin(0x1000 + 4096, 0x1000, 32824) == 1025);
	TAP_CHECK(profil_bin(0xfff, 0x1000, 65536) == PROFIL_NO_BIN);
	TAP_CHECK(profil_bin(0, ~0ULL, 65536) == PROFIL_NO_BIN);
	return true;
}

static bool small_distances_all_scales(void)
{
	for (__u64 pc = 0; pc < 64; pc++)
		for (__u32 scale = 0; scale <= 131073; scale++)
			if (!right(0x1000 + pc, 0x1010, scale))
				return false;
	return true;
}

static bool many_distances_few_scales(void)
{
	static const __u32 scales[] = { 1, 2, 3, 32767, 32768, 32824, 65535, 65536,
					65537, 131072, 1U << 31, ~0U };

	for (size_t s = 0; s < ARRAY_SIZE(scales); s++)
		for (__u64 d = 0; d < 1 << 20; d++)
			if (!right(0x400000 + d, 0x400000, scales[s]))
				return false;
	return true;
}

/* Values next to each power of two, where carries and overflows sit. */
static bool edges(void)
{
	__u64 edge[64 * 3 + 1];
	size_t n = 0;

	for (int bit = 0; bit < 64; bit++)
		for (int near = -1; near <= 1; near++)
			edge[n++] = (1ULL << bit) + near;
	edge[n++] = ~0ULL;

	for (size_t p = 0; p < n; p++)
		for (size_t o = 0; o < n; o++)
			for (size_t s = 0; s < 32 * 3; s++)
				if (!right(edge[p], edge[o], edge[s]))
					return false;
	return true;
}

static bool random_values(void)
{
	__u64 x = 88172645463325252ULL;
	__u64 v[3];

	for (int i = 0; i < 2000000; i++) {
		for (int j = 0; j < 3; j++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			v[j] = x >> (i % 64);
		}
		if (!right(v[0], v[1], v[2]))
			return false;
	}
	return true;
}

int main(void)
{
	tap_fork(known_values, "the examples of the manual page");
	tap_fork(small_distances_all_scales, "scales 0 to 131073, all small distances");
	tap_fork(many_distances_few_scales, "distances to 1 MiB, common scales");
	tap_fork(edges, "around every power of two");
	tap_fork(random_values, "two million values of all sizes");
	return tap_plan();
}
