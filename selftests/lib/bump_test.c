// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module's increment, at each place of a word and of both widths, while its accesses
 * fail and others write now and then: what it says was added is in the counter, and
 * nothing is anywhere else.
 */
#include <stdio.h>
#include <string.h>
#include "kernel.h"
#include "../../module/bump.h"
#include "tap.h"

#define WORDS	4
#define BYTES	(WORDS * sizeof(u32))
#define FILLER	0x5a

static u32 memory[WORDS];
static unsigned int failing;	/* of a hundred accesses */
static unsigned int contended;	/* of a hundred exchanges, by a neighbour */
static u8 *neighbour;		/* which others write */
static bool readonly, beyond;

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
	if (!reachable(word) || readonly || any(100) < failing)
		return -EFAULT;
	if (any(100) < failing)
		return -EAGAIN;
	if (any(100) < contended)
		++*neighbour;
	*seen = *word;
	if (*word == old)
		*word = new;
	return 0;
}

/* Values near which carries into a neighbour and ends are. */
static u32 interesting(u32 max)
{
	switch (any(3)) {
	case 0:
		return max - any(600);
	case 1:
		return (any(256) << 24 | 0xffff00 | any(256)) & max;
	default:
		return any(UINT64_MAX) & max;
	}
}

static bool others_intact(unsigned int at, unsigned int width)
{
	const u8 *byte = (const u8 *)memory;

	for (unsigned int i = 0; i < BYTES; i++)
		if (i - at >= width && byte + i != neighbour && byte[i] != FILLER)
			return false;
	return true;
}

/* Again and again, as the tick and the deliveries after it do together. */
static u64 bump_all(unsigned long addr, u32 mask, unsigned int n)
{
	int added;

	do
		added = profil_bump(addr, mask, n);
	while (added < 0 && !beyond);
	return added;
}

static bool bump_one(unsigned int width, unsigned int at)
{
	u32 mask = width == 4 ? U32_MAX : 0xffff, before = interesting(mask), after = 0;
	unsigned int n = any(4) ? any(400) : any(100000);
	u32 want = min(n, mask - before);
	u64 sum;

	memset(memory, FILLER, BYTES);
	/* in the other half of its word, where there is one */
	neighbour = (u8 *)memory + (width == 4 ? at + 4 : at ^ 2);
	memcpy((u8 *)memory + at, &before, width);
	sum = bump_all((unsigned long)memory + at, mask, n);
	memcpy(&after, (u8 *)memory + at, width);
	if (sum == want && after == before + want && !beyond && others_intact(at, width))
		return true;
	return tap_fail("width %u at %u: %#x + %u gives %#x, %llu added", width, at, before, n,
			after, (unsigned long long)sum);
}

static bool saturates(void)
{
	for (int round = 0; round < 20000; round++) {
		failing = any(2) ? any(30) : 0;
		contended = any(2) ? any(100) : 0;
		for (unsigned int width = 2; width <= 4; width += 2)
			for (unsigned int at = 4; at < 8; at += width)
				if (!bump_one(width, at))
					return false;
	}
	return true;
}

/* Its tries are few: with interrupts off nobody may be held up for long. */
static bool gives_up(void)
{
	failing = 0;
	contended = 100;
	neighbour = (u8 *)memory;
	TAP_CHECK(profil_bump((unsigned long)memory + 2, 0xffff, 1) == -EAGAIN);
	TAP_CHECK(*neighbour == PROFIL_BUMP_TRIES);
	return true;
}

static bool says_why_not(void)
{
	readonly = true;
	TAP_CHECK(profil_bump((unsigned long)memory, 0xffff, 1) == -EFAULT);
	/* nothing is to be written where nothing can be added */
	memory[0] = 0xffff;
	TAP_CHECK(profil_bump((unsigned long)memory, 0xffff, 1) == 0);
	return true;
}

int main(void)
{
	tap_fork(saturates, "both widths at all places, to their maximum");
	tap_fork(gives_up, "others that write at each try are not waited for");
	tap_fork(says_why_not, "memory that is not writable, and a counter that is full");
	return tap_plan();
}
