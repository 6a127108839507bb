// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* The tables of arcs: see arcs.h for the rules that all of this follows. */
#include <errno.h>
#include <linux/mman.h>
#include "arcs.h"
#include "gmon.h"
#include "syscall.h"

#define ARCS_MIN	512	/* entries at which searches begin */
#define ARCS_TAIL	64	/* entries beyond, to end them; the last stays free */
#define ARCS_KEPT	(-1)	/* by a thread that is not known, or replaced by a bigger one */

/* Where nothing is found: what a thread has at its beginning. */
struct libprofil_arcs libprofil_arcs_none;

__thread struct libprofil_arcs *libprofil_arcs_mine
	__attribute__((tls_model("initial-exec"))) = &libprofil_arcs_none;

/* Of a static program: detect.c has that of the shared library. */
__attribute__((weak)) _Atomic unsigned char libprofil_arcs_off = ARCS_OFF;
_Atomic unsigned long libprofil_arcs_lost;

static struct libprofil_arcs *_Atomic all;

static int thread_id(void)
{
	return libprofil_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

static int process_id(void)
{
	return libprofil_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

static bool is_alive(int thread)
{
	return thread &&
	       libprofil_syscall(SYS_tgkill, process_id(), thread, 0, 0, 0, 0) != -ESRCH;
}

/* Which is in its parent's memory, and has the table of the thread that made it. */
static bool is_child_of_vfork(void)
{
	int pid = atomic_load(&libprofil_state->pid);

	return pid && pid != process_id();
}

/* Whose the table is that replaces @old: not a child's, which ends before its parent. */
static int arcs_owner(const struct libprofil_arcs *old)
{
	int owner = atomic_load(&old->owner);

	if (owner > 0)
		return owner;
	return is_child_of_vfork() ? ARCS_KEPT : thread_id();
}

/* What no thread has any more, counts and all. */
static struct libprofil_arcs *arcs_adopt(int thread)
{
	struct libprofil_arcs *arcs;

	/* To it, all threads of its parent look as if they had ended. */
	if (is_child_of_vfork())
		return NULL;
	for (arcs = atomic_load(&all); arcs; arcs = arcs->next) {
		int owner = atomic_load(&arcs->owner);

		if (owner != ARCS_KEPT && (owner == thread || !is_alive(owner)) &&
		    atomic_compare_exchange_strong(&arcs->owner, &owner, thread))
			return arcs;
	}
	return NULL;
}

static struct libprofil_arcs *arcs_map(uintptr_t entries, int thread)
{
	uintptr_t bytes = ARCS_FIRST + (entries + ARCS_TAIL) * ARC_BYTES;
	struct libprofil_arcs *arcs;
	long ret = libprofil_syscall(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (ret < 0 && ret > -4096)
		return NULL;
	arcs = (struct libprofil_arcs *)ret;
	libprofil_syscall(SYS_madvise, ret + ARCS_PAGE, bytes - ARCS_PAGE,
			  MADV_WIPEONFORK, 0, 0, 0);
	arcs->mask = (entries - 1) * ARC_BYTES;
	arcs->end = &arcs->first[entries + ARCS_TAIL - 1];
	atomic_store(&arcs->owner, thread);
	arcs->next = atomic_load(&all);
	while (!atomic_compare_exchange_weak(&all, &arcs->next, arcs))
		;
	return arcs;
}

static uintptr_t arcs_entries(const struct libprofil_arcs *arcs)
{
	return arcs->mask / ARC_BYTES + 1;
}

/* A table with more room than @old, or NULL. */
static struct libprofil_arcs *arcs_grow(struct libprofil_arcs *old)
{
	int thread = arcs_owner(old);
	struct libprofil_arcs *arcs;

	if (old == &libprofil_arcs_none)
		arcs = arcs_adopt(thread);
	else
		arcs = arcs_map(2 * arcs_entries(old), thread);
	if (!arcs && old == &libprofil_arcs_none)
		arcs = arcs_map(ARCS_MIN, thread);
	if (!arcs)
		return NULL;
	libprofil_arcs_mine = arcs;
	if (old != &libprofil_arcs_none)
		atomic_store(&old->owner, ARCS_KEPT);
	return arcs;
}

static bool arcs_count(struct libprofil_arcs *arcs, uintptr_t from, uintptr_t self)
{
	uintptr_t offset = (from * ARCS_HASH + self) & arcs->mask;
	struct libprofil_arc *arc = &arcs->first[offset / ARC_BYTES];

	for (; arc < arcs->end; arc++) {
		uintptr_t seen = atomic_load(&arc->self);

		if (!seen && atomic_compare_exchange_strong(&arc->self, &seen, self)) {
			atomic_store(&arc->from, from);
			arcs->used++;
		} else if (seen != self || atomic_load(&arc->from) != from) {
			continue;
		}
		atomic_fetch_add(&arc->count, 1);
		return true;
	}
	return false;
}

/*
 * Whether what was ARCS_EARLY can be counted.  No thread has a table then.  Before this
 * library is relocated, what is read here is another word, near the thread pointer.
 */
static bool arcs_begin(void)
{
	unsigned char early = ARCS_EARLY;

	if (libprofil_arcs_mine == &libprofil_arcs_none)
		atomic_compare_exchange_strong(&libprofil_arcs_off, &early, 0);
	return !libprofil_arcs_off;
}

/**
 * libprofil_arcs_add() - Count a call, of an arc that may be new
 * @from: Where the call returns to
 * @self: Where mcount returns to
 *
 * Context: Any, also where the C library must not be called.
 */
void libprofil_arcs_add(uintptr_t from, uintptr_t self)
{
	struct libprofil_arcs *arcs, *bigger = NULL;

	if (libprofil_arcs_off && !arcs_begin())
		return;
	arcs = libprofil_arcs_mine;
	/* Without memory it may become as full as it can. */
	if (arcs->used > arcs_entries(arcs) / 2)
		bigger = arcs_grow(arcs);
	if (bigger)
		arcs = bigger;
	while (!arcs_count(arcs, from, self)) {
		arcs = arcs_grow(arcs);
		if (!arcs) {
			atomic_fetch_add(&libprofil_arcs_lost, 1);
			return;
		}
	}
}

/**
 * libprofil_arcs_forked() - Keep the table that this thread had before fork()
 *
 * Context: The child, which has this thread alone.
 */
void libprofil_arcs_forked(void)
{
	if (libprofil_arcs_mine != &libprofil_arcs_none)
		atomic_store(&libprofil_arcs_mine->owner, thread_id());
}

/**
 * libprofil_arcs_each() - Read all arcs of all threads
 * @each: Called for each, until it returns false
 * @arg: For @each
 *
 * The same arc may come more than once.
 *
 * Context: Any thread, while others count.
 * Return: Whether @each was called for all.
 */
bool libprofil_arcs_each(libprofil_arcs_fn *each, void *arg)
{
	struct libprofil_arcs *arcs;
	struct libprofil_arc *arc;

	for (arcs = atomic_load(&all); arcs; arcs = arcs->next)
		for (arc = arcs->first; arc < arcs->end; arc++)
			if (atomic_load(&arc->self) && atomic_load(&arc->from) &&
			    !each(arg, arc))
				return false;
	return true;
}
