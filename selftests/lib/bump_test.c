// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module's increment, at every place and of every width, while its
 * exchanges fail now and then: what it says was added, is in the counter, and
 * nothing is anywhere else.
 */
#include <stdio.h>
#include <string.h>
#include "kernel.h"
#include "../../module/bump.c"
#include "tap.h"

#define WORDS	16
#define BYTES	(WORDS * sizeof(u32))
#define FILLER	0x5a

static u32 memory[WORDS];
static unsigned int failing;	/* of a hundred accesses */
static u32 *readonly;	/* this word and what follows, if any */
static bool beyond;

static bool reachable(const u32 *word)
{
	if (word >= memory && word < memory + WORDS)
		return true;
	beyond = true;
	return false;
}

int user_get(u32 *value, u32 *from)
{
	if (!reachable(from) || any(100) < failing)
		return -EFAULT;
	*value = *from;
	return 0;
}

/* It also loses its reservation of the word, as on arm64. */
int user_exchange(u32 *seen, u32 *word, u32 old, u32 new)
{
	if (!reachable(word) || (readonly && word >= readonly) ||
	    any(100) < failing)
		return -EFAULT;
	if (any(100) < failing)
		return -EAGAIN;
	*seen = *word;
	if (*word == old)
		*word = new;
	return 0;
}

/* Values near which carries and ends are. */
static u64 interesting(u64 max)
{
	switch (any(4)) {
	case 0:
		return max - any(600);
	case 1:
		return (0xffffffffULL - any(700)) & max;
	case 2:
		return (any(256) << 24 | 0xffff00 | any(256)) & max;
	default:
		return any(UINT64_MAX) & max;
	}
}

static bool neighbours_intact(unsigned int at, unsigned int width)
{
	const u8 *byte = (const u8 *)memory;

	for (unsigned int i = 0; i < BYTES; i++)
		if (i - at >= width && byte[i] != FILLER)
			return false;
	return true;
}

/* Again and again, as the tick and the deliveries after it do together. */
static u64 bump_all(struct profil_bin_ref *bin, unsigned int n)
{
	unsigned int added;
	u64 sum = 0;
	int err;

	do {
		err = profil_bump(bin, n, &added);
		sum += added;
		n -= added;
	} while (err && n && !beyond);
	return sum;
}

static bool bump_one(unsigned int width, unsigned int at, bool wrap, bool svr4)
{
	u64 max = width == 8 ? UINT64_MAX : (1ULL << 8 * width) - 1;
	u64 top = svr4 ? 32767 : max;
	u64 before = interesting(max), after = 0, want, sum;
	unsigned int n = any(4) ? any(400) : any(100000);
	struct profil_bin_ref bin = {
		.addr = (unsigned long)memory + at,
		.width = width,
		.wrap = wrap,
		.svr4 = svr4,
	};

	memset(memory, FILLER, BYTES);
	memcpy((u8 *)memory + at, &before, width);
	want = wrap ? n : min(n, before < top ? top - before : 0);
	sum = bump_all(&bin, n);
	memcpy(&after, (u8 *)memory + at, width);
	if (sum == want && after == ((before + want) & max) && !bin.carry &&
	    !beyond && neighbours_intact(at, width))
		return true;
	return tap_fail("width %u at %u%s%s: %#llx + %u gives %#llx, %llu added",
			width, at, wrap ? " wrap" : "", svr4 ? " svr4" : "",
			(unsigned long long)before, n,
			(unsigned long long)after, (unsigned long long)sum);
}

static bool bump_everywhere(bool wrap)
{
	for (int round = 0; round < 20000; round++) {
		failing = any(2) ? any(30) : 0;
		for (unsigned int width = 2; width <= 8; width *= 2)
			for (unsigned int at = 16; at < 24; at++)
				if (!bump_one(width, at, wrap, false))
					return false;
	}
	return true;
}

static bool saturates(void)
{
	return bump_everywhere(false);
}

static bool wraps(void)
{
	return bump_everywhere(true);
}

static bool svr4_stops(void)
{
	for (int round = 0; round < 200000; round++) {
		failing = any(2) ? any(30) : 0;
		if (!bump_one(2, 16 + 2 * any(4), false, true))
			return false;
	}
	return true;
}

/* A counter over the end of writable memory, at the moment of its carry. */
static bool torn(void)
{
	readonly = memory + 5;
	for (unsigned int width = 2; width <= 8; width *= 2)
		for (unsigned int at = 21 - width; at < 20; at++) {
			struct profil_bin_ref bin = {
				.addr = (unsigned long)memory + at,
				.width = width,
			};
			unsigned int added;

			memset(memory, FILLER, BYTES);
			memset((u8 *)memory + at, 0xff, 20 - at);
			TAP_CHECK(profil_bump(&bin, 1, &added) == -EFAULT);
			TAP_CHECK(!added && !bin.carry);
			for (unsigned int i = 0; i < BYTES; i++)
				TAP_CHECK(((u8 *)memory)[i] ==
					  (i >= at && i < 20 ? 0xff : FILLER));
		}
	return true;
}

static bool odd(void)
{
	for (unsigned int width = 2; width <= 8; width *= 2)
		for (unsigned long at = 16; at < 24; at++) {
			struct profil_bin_ref bin = { .addr = at, .width = width };
			unsigned long words = (at + width - 1) / 4 - at / 4 + 1;

			TAP_CHECK(profil_bump_odd(&bin) ==
				  (words > (width + 3) / 4));
		}
	return true;
}

int main(void)
{
	tap_fork(saturates, "all widths at all places, to their maximum");
	tap_fork(wraps, "all widths at all places, beyond their maximum");
	tap_fork(svr4_stops, "to the maximum of System V");
	tap_fork(torn, "nothing is written where the carry cannot be");
	tap_fork(odd, "odd is what straddles words");
	return tap_plan();
}
