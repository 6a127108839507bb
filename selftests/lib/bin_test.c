// SPDX-License-Identifier: GPL-2.0-only
/*
 * module/bin.h against the formula of the manual pages, computed another way: by
 * hand, digit by digit, so that no width of an integer matters; or by repeated
 * addition.  Right is the exact index of a pc in a region, whose histogram is no
 * larger than PROFIL_BIN_BYTES_MAX; and where a region ends.
 */
#include "../../module/bin.h"
#include "tap.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* What a distance is divided by first, and the product afterwards. */
static const struct form {
	const char *name;
	__u64 round;
	unsigned int shift;
	__u32 unit, one;
} forms[] = {
	{ "profil()",			~1ULL, 17, 2, 65536 },
	{ "counters of 4 bytes",	~3ULL, 18, 4, 65536 },
	{ "BSD and illumos",		~0ULL, 17, 1, 131072 },
};

#define for_each_form(f) \
	for (const struct form *(f) = forms; (f) < forms + ARRAY_SIZE(forms); (f)++)

/* A large number: its digits to the base 256, the lowest first. */
#define DIGITS 16

struct number {
	__u32 digit[DIGITS];
};

static struct number number_of(__u64 value)
{
	struct number n = { };

	for (int i = 0; value; i++, value /= 256)
		n.digit[i] = value % 256;
	return n;
}

static void multiply(struct number *n, __u32 by)
{
	__u64 carry = 0;

	for (int i = 0; i < DIGITS; i++) {
		carry += (__u64)n->digit[i] * by;
		n->digit[i] = carry & 255;
		carry >>= 8;
	}
}

static void divide(struct number *n, __u32 by)
{
	__u32 rest = 0;

	for (int i = DIGITS - 1; i >= 0; i--) {
		rest = rest * 256 + n->digit[i];
		n->digit[i] = rest / by;
		rest %= by;
	}
}

#define NO_BIN	(~(__u64)0)

/* The exact index, or NO_BIN: it does not fit 64 bits, or pc is below the region. */
static __u64 exact(__u64 pc, __u64 offset, __u32 scale, const struct form *form)
{
	struct number n;
	__u64 value = 0;

	if (pc < offset)
		return NO_BIN;
	n = number_of(pc - offset);
	divide(&n, form->unit);
	multiply(&n, scale);
	divide(&n, form->one);
	for (int i = 8; i < DIGITS; i++)
		if (n.digit[i])
			return NO_BIN;
	for (int i = 7; i >= 0; i--)
		value = value * 256 + n.digit[i];
	return value;
}

static __u64 bin(__u64 pc, __u64 offset, __u32 scale, const struct form *form)
{
	return profil_bin(pc, offset, scale, form->round, form->shift);
}

static __u64 end(__u64 bins, __u64 offset, __u32 scale, const struct form *form)
{
	return profil_bin_end(bins, offset, scale, form->round, form->shift);
}

static bool right(__u64 pc, __u64 offset, __u32 scale, const struct form *form)
{
	__u64 want = exact(pc, offset, scale, form);
	__u64 got;

	if (want >= PROFIL_BIN_BYTES_MAX / 2)
		return true;
	got = bin(pc, offset, scale, form);
	if (got == want)
		return true;
	return tap_fail("%s: pc %#llx offset %#llx scale %u gives %#llx, not %#llx",
			form->name, pc, offset, scale, got, want);
}

/* Below the end there are bins, and from there on there are none. */
static bool right_end(__u64 bins, __u64 offset, __u32 scale, const struct form *form)
{
	__u64 at = end(bins, offset, scale, form);
	bool below = at == offset || exact(at - 1, offset, scale, form) < bins;
	/* Where the end is beyond 64 bits, the very last pc is one too many. */
	bool above = at == ~0ULL || exact(at, offset, scale, form) >= bins;

	if (at >= offset && below && above)
		return true;
	return tap_fail("%s: %llu bins at offset %#llx with scale %u end at %#llx",
			form->name, bins, offset, scale, at);
}

static bool known_values(void)
{
	const struct form *profil = &forms[0], *uint = &forms[1], *bsd = &forms[2];

	/* The manual page's own examples. */
	TAP_CHECK(bin(0x1000, 0x1000, 65536, profil) == 0);
	TAP_CHECK(bin(0x1001, 0x1000, 65536, profil) == 0);
	TAP_CHECK(bin(0x1002, 0x1000, 65536, profil) == 1);
	TAP_CHECK(bin(0x1003, 0x1000, 32768, profil) == 0);
	TAP_CHECK(bin(0x1004, 0x1000, 32768, profil) == 1);
	TAP_CHECK(bin(0x1000 + 131071, 0x1000, 1, profil) == 0);
	TAP_CHECK(bin(0x1000 + 131072, 0x1000, 1, profil) == 1);
	TAP_CHECK(bin(0x1000 + 65535, 0x1000, 2, profil) == 0);
	TAP_CHECK(bin(0x1000 + 65536, 0x1000, 2, profil) == 1);
	TAP_CHECK(bin(0x1000 + 3, 0x1000, 131072, profil) == 2);
	TAP_CHECK(bin(0x1000 + 4096, 0x1000, 32824, profil) == 1025);

	/* One counter to as many bytes of code as it has itself. */
	TAP_CHECK(bin(0x1003, 0x1000, 65536, uint) == 0);
	TAP_CHECK(bin(0x1004, 0x1000, 65536, uint) == 1);

	/* Every byte its own counter: only without rounding to two bytes. */
	TAP_CHECK(bin(0x1003, 0x1000, 131072, bsd) == 3);

	/* Far away, where 32 bits of an index would begin again. */
	TAP_CHECK(bin(0x200000000, 0, 65536, profil) == 0x100000000);
	/* The last counters of the largest histogram. */
	TAP_CHECK(bin((1ULL << 47) - 1, 0, 65536, profil) == (1ULL << 46) - 1);
	TAP_CHECK(bin((1ULL << 46) - 1, 0, 131072, bsd) == (1ULL << 46) - 1);
	TAP_CHECK(bin(1ULL << 15, 0, ~0U, bsd) == ~0U >> 2);
	return true;
}

/* 32824 is one that the start-up code for gcc -pg computes. */
static const __u32 common_scales[] = {
	0, 1, 2, 3, 255, 16384, 32767, 32768, 32824, 65535, 65536, 65537, 131072,
	131073, 1U << 31, ~0U
};

/* At how many of the first distances a bin is another one than on BSD. */
static int differ(__u32 scale, __u64 distances)
{
	int n = 0;

	for (__u64 d = 0; d < distances; d++)
		n += bin(d, 0, scale, &forms[0]) != bin(d, 0, scale, &forms[2]);
	return n;
}

static bool forms_agree_and_differ(void)
{
	for (__u32 scale = 1; scale <= 65536; scale *= 2)
		TAP_CHECK(differ(scale, 1 << 20) == 0);
	/* One in eight, a third of 96 KiB of text, and each at an odd distance. */
	TAP_CHECK(differ(32824, 1 << 20) == 131264);
	TAP_CHECK(differ(65535, 98304) == 32767);
	TAP_CHECK(differ(131072, 1 << 20) == 1 << 19);
	for (__u64 d = 1; d < 1 << 20; d += 2)
		TAP_CHECK(bin(d, 0, 131072, &forms[0]) + 1 ==
			  bin(d, 0, 131072, &forms[2]));
	return true;
}

static bool agree_at_even_distances(void)
{
	for (__u64 d = 0; d < 1 << 20; d += 2)
		for (size_t s = 0; s < ARRAY_SIZE(common_scales); s++)
			TAP_CHECK(bin(d, 0, common_scales[s], &forms[0]) ==
				  bin(d, 0, common_scales[s], &forms[2]));
	return true;
}

/* With each scale a product grows by as much as with the scale before. */
static bool all_scales(void)
{
	for_each_form(form)
		for (__u32 d = 0; d < 128; d++) {
			__u32 product = 0, index = 0;

			for (__u32 scale = 0; scale <= 131073; scale++) {
				if (bin(0x1000 + d, 0x1000, scale, form) != index)
					return right(0x1000 + d, 0x1000, scale, form);
				product += d / form->unit;
				while (product >= form->one) {
					product -= form->one;
					index++;
				}
			}
		}
	return true;
}

static bool many_distances(void)
{
	for_each_form(form)
		for (size_t s = 0; s < ARRAY_SIZE(common_scales); s++)
			for (__u64 d = 0; d < 1 << 16; d++)
				if (!right(0x400000 + d, 0x400000, common_scales[s], form))
					return false;
	return true;
}

/* Values next to each power of two, where carries and overflows sit. */
#define EDGES (64 * 3 + 1)
#define EDGES_OF_SCALE (32 * 3)

static const __u64 *edges(void)
{
	static __u64 edge[EDGES];
	size_t n = 0;

	for (int bit = 0; bit < 64; bit++)
		for (int near = -1; near <= 1; near++)
			edge[n++] = (1ULL << bit) + near;
	edge[n] = ~0ULL;
	return edge;
}

static const __u64 some_offsets[] = {
	0, 1, 0x400000, 0x401003, 1ULL << 32, (1ULL << 47) - 1, 1ULL << 63, ~0ULL - 1, ~0ULL
};

static bool near_powers_of_two(void)
{
	const __u64 *edge = edges();

	for_each_form(form)
		for (size_t p = 0; p < EDGES; p++)
			for (size_t o = 0; o < ARRAY_SIZE(some_offsets); o++)
				for (size_t s = 0; s < EDGES_OF_SCALE; s++)
					if (!right(edge[p], some_offsets[o], edge[s], form) ||
					    !right(some_offsets[o] + edge[p], some_offsets[o],
						   edge[s], form))
						return false;
	return true;
}

static __u64 random_number(void)
{
	static __u64 x = 88172645463325252ULL;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

static bool random_values(void)
{
	for (int i = 0; i < 500000; i++) {
		__u64 pc = random_number() >> i % 64;
		__u64 offset = random_number() >> i / 64 % 64;
		__u32 scale = random_number() >> i % 31;

		for_each_form(form)
			if (!right(pc, offset, scale, form) ||
			    !right_end(pc, offset, scale, form))
				return false;
	}
	return true;
}

/* Walks through a region and over its end, one byte at a time. */
static bool every_end(void)
{
	for_each_form(form)
		for (size_t s = 0; s < ARRAY_SIZE(common_scales); s++)
			for (__u64 bins = 0; bins < 20; bins++) {
				__u32 scale = common_scales[s];
				__u64 at = end(bins, 0x1003, scale, form);

				for (__u64 pc = 0x1003; pc < 0x1003 + 512; pc++)
					if (pc < at ? exact(pc, 0x1003, scale, form) >= bins :
						      exact(pc, 0x1003, scale, form) < bins)
						return right_end(bins, 0x1003, scale, form) &&
						       tap_fail("pc %#llx", pc);
			}
	return true;
}

static bool ends_of_all_scales(void)
{
	static const __u64 bins[] = { 0, 1, 2, 3, 1000, 65536 };

	for_each_form(form)
		for (__u32 scale = 0; scale <= 131073; scale++)
			for (size_t i = 0; i < ARRAY_SIZE(bins); i++)
				if (!right_end(bins[i], 0x401003, scale, form))
					return false;
	return true;
}

static bool ends_near_powers_of_two(void)
{
	const __u64 *edge = edges();

	for_each_form(form)
		for (size_t b = 0; b < EDGES; b++)
			for (size_t o = 0; o < ARRAY_SIZE(some_offsets); o++)
				for (size_t s = 0; s < EDGES_OF_SCALE; s++)
					if (!right_end(edge[b], some_offsets[o], edge[s], form))
						return false;
	return true;
}

static bool known_ends(void)
{
	TAP_CHECK(end(1, 0x1000, 65536, &forms[0]) == 0x1002);
	TAP_CHECK(end(100, 0x1000, 32768, &forms[0]) == 0x1000 + 400);
	TAP_CHECK(end(100, 0x1000, 65536, &forms[1]) == 0x1000 + 400);
	TAP_CHECK(end(3, 0x1000, 131072, &forms[0]) == 0x1004);
	TAP_CHECK(end(3, 0x1000, 131072, &forms[2]) == 0x1003);
	/* No bin, no end; and all of the region in the first one. */
	TAP_CHECK(end(0, 0x1000, 65536, &forms[0]) == 0x1000);
	TAP_CHECK(end(1, 0x1000, 0, &forms[0]) == ~0ULL);
	TAP_CHECK(end(1ULL << 63, 0, 65536, &forms[0]) == ~0ULL);
	return true;
}

int main(void)
{
	tap_fork(known_values, "the examples of the manual pages");
	tap_fork(forms_agree_and_differ, "where the forms agree, and how often they differ");
	tap_fork(agree_at_even_distances, "the forms agree at even distances");
	tap_fork(all_scales, "scales 0 to 131073, all small distances, all forms");
	tap_fork(many_distances, "distances to 64 KiB, common scales, all forms");
	tap_fork(near_powers_of_two, "around every power of two, all forms");
	tap_fork(random_values, "values and ends of all sizes, all forms");
	tap_fork(known_ends, "the ends of known regions");
	tap_fork(every_end, "a region ends where its bins end, pc by pc");
	tap_fork(ends_of_all_scales, "the ends with scales 0 to 131073, all forms");
	tap_fork(ends_near_powers_of_two, "the ends around every power of two, all forms");
	return tap_plan();
}
