// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* A block counts: see block.h, and arcs.h for the rules of the tables. */
#include "arcs.h"
#include "block.h"
#include "gmon.h"
#include "internal.h"

#define CALLEES_MAX 256	/* each object has one or two */

/* What blocks call: the entries that are not 0 come first. */
static _Atomic uintptr_t callees[CALLEES_MAX];

static void callee_add(uintptr_t callee)
{
	for (int i = 0; i < CALLEES_MAX && callee; i++) {
		uintptr_t seen = 0;

		if (atomic_compare_exchange_strong(&callees[i], &seen, callee) || seen == callee)
			return;
	}
}

/* Where the call is that returns to @back. */
static uintptr_t call_before(uintptr_t back)
{
#if defined(__x86_64__)
	const unsigned char *code = (const unsigned char *)back;

	return back - (code[-5] == 0xe8 ? 5 : 6);
#else
	return back - CALL_BYTES;
#endif
}

static void count_up(struct libprofil_arc *arc)
{
#if defined(__x86_64__)
	/* No other thread writes here, and no signal divides an instruction. */
	__asm__ volatile("incq %0" : "+m" (arc->count));
#else
	atomic_fetch_add_explicit(&arc->count, 1, memory_order_relaxed);
#endif
}

static struct libprofil_arc *search(uintptr_t at)
{
	const struct libprofil_arcs_memory *memory = &libprofil_arcs_memory;
	uintptr_t thread = libprofil_arcs_thread();
	uintptr_t slot = libprofil_arcs_slot(thread);
	struct libprofil_arcs *arcs;
	struct libprofil_arc *arc;

	/* Other slots are for libprofil_arcs_add() to look at. */
	if (atomic_load_explicit(&memory->threads[slot], memory_order_relaxed) != thread)
		return NULL;
	arcs = atomic_load_explicit(&memory->tables[slot], memory_order_relaxed);
	arc = &arcs->first[((at * ARCS_HASH + BLOCK_SELF) & arcs->mask) / ARC_BYTES];
	for (; atomic_load_explicit(&arc->self, memory_order_relaxed); arc++)
		if (atomic_load_explicit(&arc->from, memory_order_relaxed) == at &&
		    atomic_load_explicit(&arc->self, memory_order_relaxed) == BLOCK_SELF)
			return arc;
	return NULL;
}

/**
 * libprofil_block_count() - Count that a block was reached
 * @back: Where the call returns to with which the block begins
 *
 * Context: Any, also a signal handler.
 */
PROFIL_API
void libprofil_block_count(uintptr_t back)
{
	uintptr_t at = call_before(back);
	struct libprofil_arc *arc;

	if (libprofil_arcs_off())
		return;
	arc = search(at);
	if (arc) {
		count_up(arc);
		return;
	}
	callee_add(block_callee((const unsigned char *)at, at));
	libprofil_arcs_add(at, BLOCK_SELF);
}

/**
 * libprofil_block_calls() - Whether a block would call that
 * @callee: As from block_callee()
 */
bool libprofil_block_calls(uintptr_t callee)
{
	for (int i = 0; i < CALLEES_MAX && callees[i]; i++)
		if (callees[i] == callee)
			return true;
	return false;
}

/**
 * libprofil_block_counted() - Whether any block was reached at all
 */
bool libprofil_block_counted(void)
{
	return callees[0];
}
