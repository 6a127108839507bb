// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* The tables of arcs: see arcs.h for the rules that all of this follows. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include "arcs.h"
#include "gmon.h"
#include "internal.h"

#define ARCS_MIN	128	/* entries at which searches begin */
#define ARCS_TAIL	32	/* entries beyond, to end them; the last stays free */
#define ARCS_TRY	16	/* entries after which it is tried again to grow a table */
#define ARCS_PROBES	64	/* slots that are looked at for a thread */
#define ARCS_CLAIMED	2	/* a slot that will be another thread's, which no pointer is */

#define KIB		1024UL
#define RESERVE		(64 * KIB)	/* KiB, if nobody says how many */
#define RESERVE_SMALL	128		/* the same, in a program that locks all of it */
#define OF_LIMIT	16		/* of what it may map, a program has most itself */

#ifndef HWCAP2_FSGSBASE
#define HWCAP2_FSGSBASE	(1 << 1)
#endif

struct libprofil_arcs_memory libprofil_arcs_memory;

/* Of a static program: detect.c has that of the shared library. */
__attribute__((weak)) _Atomic unsigned char libprofil_arcs_state = ARCS_OFF;
unsigned char libprofil_arcs_on = ARCS_ON_FS;
_Atomic unsigned long libprofil_arcs_lost;

/* Where nothing is found: what a thread has at its beginning. */
static union {
	struct libprofil_arcs table;
	char bytes[ARCS_FIRST + ARC_BYTES];
} none;

/* What was set aside; empty in a forked child. */
static char *_Atomic reserve;
static uintptr_t reserved;	/* bytes, before it */

static void *take(_Atomic uintptr_t *used, void *memory, uintptr_t room, uintptr_t bytes)
{
	uintptr_t seen = atomic_load(used);

	do {
		if (bytes > room - seen)
			return NULL;
	} while (!atomic_compare_exchange_weak(used, &seen, seen + bytes));
	return (char *)memory + seen;
}

static struct libprofil_arcs *arcs_take(uintptr_t entries)
{
	struct libprofil_arcs_memory *memory = &libprofil_arcs_memory;
	uintptr_t bytes = ARCS_FIRST + (entries + ARCS_TAIL) * ARC_BYTES;
	struct libprofil_arcs *arcs;

	arcs = take(&memory->early_used, memory->early, sizeof(memory->early), bytes);
	if (!arcs && reserve)
		arcs = take(&memory->used, reserve, reserved, bytes);
	if (!arcs)
		return NULL;
	arcs->mask = (entries - 1) * ARC_BYTES;
	arcs->end = &arcs->first[entries + ARCS_TAIL - 1];
	arcs->next = atomic_load(&memory->all);
	while (!atomic_compare_exchange_weak(&memory->all, &arcs->next, arcs))
		;
	return arcs;
}

static uintptr_t arcs_entries(const struct libprofil_arcs *arcs)
{
	return arcs->mask / ARC_BYTES + 1;
}

/*
 * A table with more room than @old, or NULL.  If another thread that shares @table, or a
 * signal handler, has put one there meanwhile, it is that one.
 */
static struct libprofil_arcs *arcs_grow(struct libprofil_arcs *_Atomic *table,
					struct libprofil_arcs *old)
{
	struct libprofil_arcs *seen = atomic_load(table), *arcs;

	if (seen != old)
		return seen;
	arcs = arcs_take(old == &none.table ? ARCS_MIN : 2 * arcs_entries(old));
	if (arcs && !atomic_compare_exchange_strong(table, &seen, arcs))
		return seen;
	return arcs;
}

/*
 * Where the table of a thread is named, which may be new; or the one that is shared, if there
 * is no place left.  Should a signal handler of the same thread come amid this, then that one
 * has another.
 */
static struct libprofil_arcs *_Atomic *table_of(uintptr_t thread)
{
	struct libprofil_arcs_memory *memory = &libprofil_arcs_memory;
	uintptr_t first = libprofil_arcs_slot(thread);
	struct libprofil_arcs *unset = NULL;

	for (uintptr_t i = 0; i < ARCS_PROBES; i++) {
		uintptr_t slot = (first + i) % ARCS_SLOTS;
		uintptr_t seen = atomic_load(&memory->threads[slot]);

		if (seen == thread)
			return &memory->tables[slot];
		if (!seen && atomic_compare_exchange_strong(&memory->threads[slot], &seen,
							    ARCS_CLAIMED)) {
			atomic_store(&memory->tables[slot], &none.table);
			atomic_store(&memory->threads[slot], thread);
			return &memory->tables[slot];
		}
	}
	atomic_compare_exchange_strong(&memory->shared, &unset, &none.table);
	return &memory->shared;
}

/*
 * Whether the table is to grow, which had so many.  Of threads that share it not all are told
 * so at the same time; and without memory it may become as full as it can.
 */
static bool arcs_is_full(const struct libprofil_arcs *arcs, uintptr_t used)
{
	return used >= arcs_entries(arcs) / 2 && used % ARCS_TRY == 0;
}

/* @full: set if it was a new one that made it so */
static bool arcs_count(struct libprofil_arcs *arcs, uintptr_t from, uintptr_t self, bool *full)
{
	uintptr_t offset = (from * ARCS_HASH + self) & arcs->mask;
	struct libprofil_arc *arc = &arcs->first[offset / ARC_BYTES];

	for (; arc < arcs->end; arc++) {
		uintptr_t seen = atomic_load(&arc->self);

		if (!seen && atomic_compare_exchange_strong(&arc->self, &seen, self)) {
			atomic_store(&arc->from, from);
			*full = arcs_is_full(arcs, atomic_fetch_add(&arcs->used, 1));
		} else if (seen != self || atomic_load(&arc->from) != from) {
			continue;
		}
		atomic_fetch_add(&arc->count, 1);
		return true;
	}
	return false;
}

static bool arcs_count_anywhere(uintptr_t from, uintptr_t self)
{
	struct libprofil_arcs *_Atomic *table = table_of(libprofil_arcs_thread());
	struct libprofil_arcs *arcs = atomic_load(table);
	bool full = false;

	while (arcs && !arcs_count(arcs, from, self, &full))
		arcs = arcs_grow(table, arcs);
	if (full)
		arcs_grow(table, arcs);
	return arcs;
}

/**
 * libprofil_arcs_add() - Count a call, of an arc that may be new
 * @from: Where the call returns to
 * @self: Where mcount returns to
 *
 * Context: Any, also where neither the C library nor the kernel may be called.
 */
void libprofil_arcs_add(uintptr_t from, uintptr_t self)
{
	if (!libprofil_arcs_off() && !arcs_count_anywhere(from, self))
		atomic_fetch_add(&libprofil_arcs_lost, 1);
}

/* As PROFIL_ARCS says; else it depends on what the program may map. */
static uintptr_t wanted(void)
{
	const char *kib = secure_getenv("PROFIL_ARCS");
	struct rlimit limit;
	char *end = NULL;
	unsigned long number = kib ? strtoul(kib, &end, 10) : 0;
	const char *const parts[LIBPROFIL_PARTS] = {
		"profil: cannot understand ", kib,
		" in PROFIL_ARCS; give a number of KiB, as 65536\n",
	};

	if (number && !*end && number <= UINTPTR_MAX / KIB / 2)
		return number * KIB;
	if (kib)
		libprofil_say(parts);
	if (libprofil_profile.small)
		return RESERVE_SMALL * KIB;
	if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur / OF_LIMIT > RESERVE * KIB)
		return RESERVE * KIB;
	return limit.rlim_cur / OF_LIMIT;
}

/**
 * libprofil_arcs_reserve() - Set memory aside, so that mcount needs no system call
 *
 * Context: Before main(), or where libraries are loaded.
 */
void libprofil_arcs_reserve(void)
{
	void *memory = NULL;

	if (reserve)
		return;
	if (getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE)
		libprofil_arcs_on = ARCS_ON;
	madvise(libprofil_arcs_memory.threads, sizeof(libprofil_arcs_memory) - ARCS_THREADS,
		MADV_WIPEONFORK);
	for (reserved = wanted(); reserved && !memory; reserved /= memory ? 1 : 2)
		memory = libprofil_map_zero(reserved);
	reserve = memory;
}

/**
 * libprofil_arcs_switch() - Have calls be counted, or not
 * @on: Which of both
 */
void libprofil_arcs_switch(bool on)
{
	libprofil_arcs_state = on ? libprofil_arcs_on : ARCS_OFF;
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

	for (arcs = atomic_load(&libprofil_arcs_memory.all); arcs; arcs = arcs->next)
		for (arc = arcs->first; arc < arcs->end; arc++)
			if (atomic_load(&arc->self) && atomic_load(&arc->from) &&
			    !each(arg, arc))
				return false;
	return true;
}
