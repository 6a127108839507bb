// SPDX-License-Identifier: GPL-2.0-only
/*
 * A call: the numbers that it takes, its fault, the code that it reaches, and memory that
 * may not be there.
 */
#include <limits.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"

static __thread sigjmp_buf *escape;

u64 next(u64 *rng)
{
	*rng ^= *rng << 13;
	*rng ^= *rng >> 7;
	*rng ^= *rng << 17;
	return *rng;
}

/* One number is as good a seed as the next one; 0 is none for xorshift. */
u64 scatter(u64 seed)
{
	seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9ULL;
	seed = (seed ^ seed >> 27) * 0x94d049bb133111ebULL;
	return (seed ^ seed >> 31) | 1;
}

unsigned int below(struct thread *t, unsigned int limit)
{
	return (next(&t->rng) >> 32) % limit;
}

bool once_in(struct thread *t, unsigned int times)
{
	return !below(t, times);
}

u64 wild(struct thread *t)
{
	u64 value = pick(t, 0, 1, 2, 7, 8, PAGE - 1, PAGE, PAGE + 1, INT_MAX,
			 1ULL << 31, UINT_MAX, 1ULL << 32, 1ULL << 47,
			 (1ULL << 47) - PAGE, 1ULL << 63, -1ULL, -2ULL, -PAGE,
			 ARENA, ARENA + ARENA_BYTES, ARENA + ARENA_BYTES - 1);

	switch (below(t, 4)) {
	case 0:
		return next(&t->rng);
	case 1:
		return next(&t->rng) >> below(t, 64);
	default:
		return value;
	}
}

/* Seldom something else than what would do. */
u64 mostly(struct thread *t, u64 value)
{
	return once_in(t, 24) ? wild(t) : value;
}

void *arena_page(struct thread *t)
{
	return (void *)(ARENA + below(t, ARENA_PAGES) * PAGE);
}

/* From @at on, as many bytes as the arena may have there. */
size_t arena_len(struct thread *t, void *at)
{
	size_t left = ARENA + ARENA_BYTES - (unsigned long)at;
	size_t len = (once_in(t, 40) ? ARENA_PAGES : pick(t, 1, 1, 1, 2, 3, 8)) * PAGE;

	return len < left ? len : left;
}

/* Handles what is wrong with memory. */
void segv(int sig)
{
	if (escape)
		siglongjmp(*escape, 1);
	_exit(100 + sig);
}

/* What a child does wrong must not have it go on as its parent. */
void no_escape(void)
{
	escape = NULL;
}

/* Touches memory that may not be there. */
void touch(volatile unsigned char *at, const void *from, size_t len)
{
	sigjmp_buf *outer = escape, here;
	size_t i;

	if (!sigsetjmp(here, 0)) {
		escape = &here;
		/* A handler reads it, and gcc would leave out what nobody else does. */
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		for (i = 0; i < len; i++)
			at[i] = ((const unsigned char *)from)[i];
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
	}
	escape = outer;
}

/* What was reached since begin(). */
void see(const unsigned long *cover)
{
	unsigned long i, n;

	n = __atomic_load_n(&cover[0], __ATOMIC_RELAXED);
	for (i = 1; i <= n && i < COVER_WORDS; i++) {
		unsigned int hash = cover[i] * 0x9e3779b97f4a7c15ULL >>
				    (64 - SEEN_BITS);
		unsigned int *word = &shared->seen[hash / 32];
		unsigned int bit = 1U << hash % 32;

		if (*word & bit || __atomic_fetch_or(word, bit, __ATOMIC_RELAXED) & bit)
			continue;
		__atomic_add_fetch(&shared->pcs, 1, __ATOMIC_RELAXED);
		__atomic_add_fetch(&slot->fresh, 1, __ATOMIC_RELAXED);
	}
}

static void write_number(int file, unsigned int number)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", number);

	/* The write itself may be what fails, and uses the fault up then. */
	if (write(file, text, len) < 0)
		return;
}

/* Before and after each call that is counted. */
void begin(struct thread *t)
{
	__atomic_add_fetch(&shared->calls, 1, __ATOMIC_RELAXED);
	if (t->cover)
		__atomic_store_n(&t->cover[0], 0, __ATOMIC_RELAXED);
}

long end(struct thread *t, long ret)
{
	if (t->cover)
		see(t->cover);
	return ret;
}

void begin_faulty(struct thread *t, unsigned int nth)
{
	begin(t);
	t->nth = nth;
	if (nth)
		write_number(t->fail_nth, nth);
}

/* If the copy of the answer is what fails, nothing had failed before. */
static bool fault_came(int file)
{
	char text[16] = "";

	return pread(file, text, sizeof(text) - 1, 0) > 0 && text[0] == '0';
}

long end_faulty(struct thread *t, long ret)
{
	if (t->nth) {
		__atomic_add_fetch(&shared->faults, fault_came(t->fail_nth),
				   __ATOMIC_RELAXED);
		write_number(t->fail_nth, 0);
		t->nth = 0;
	}
	return end(t, ret);
}

/* An operation; one that loses its own stack or data does not end the process. */
void guarded(struct thread *t, void (*run)(struct thread *t))
{
	sigjmp_buf here;

	if (!sigsetjmp(here, 0)) {
		escape = &here;
		run(t);
	} else if (t->nth) {
		write_number(t->fail_nth, 0);
		t->nth = 0;
	}
	escape = NULL;
}
