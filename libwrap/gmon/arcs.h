/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Arcs: how often a place has called a function.
 *
 *  -pg code --> mcount      mcount_x86_64.S	finds the arc in the thread's table and
 *                  |			adds one to it
 *                  | not there
 *                  v
 *       libprofil_arcs_add()  arcs.c	claims an entry, or takes a bigger table
 *       libprofil_arcs_each()		reads all tables, to write them to a file
 *
 * mcount may be called by the first code of a program, by a signal handler, by
 * the child of any kind of fork, in a sandbox that ends it for a system call, where
 * the thread pointer is another runtime's, and with arguments of its caller in all
 * registers there are.  So no code on this way calls the C library or the kernel,
 * reads thread-local memory, uses vector registers, waits, or takes a lock:
 *
 * - A thread is known by its thread pointer, which is looked up and never followed,
 *   and counts in a table of its own.  Only a signal handler of that thread may come
 *   between two instructions.  It may claim the entry that was just found to be free,
 *   so entries are claimed by an exchange; and it may put a bigger table in place
 *   of this one, so nothing is ever moved or freed.  The same arc may then stand
 *   in two places, which gprof adds.
 * - Threads that find no place for a table of their own share one.  No thread waits there
 *   either: each change of it is one instruction for all processors.
 * - A thread that begins where another one has ended has the same thread pointer, and
 *   goes on in its table.  So has a child of vfork() that of the thread that made it.
 * - Tables are taken from memory that was set aside by libprofil_arcs_reserve(), and
 *   before that from a little that the library has.  What finds none is counted as lost.
 * - ld.so has resolvers, of STT_GNU_IFUNC, call mcount when nothing of this library
 *   is relocated, which nothing on this way needs; but a static program when there is
 *   no thread pointer.  So that one is off until __monstartup().
 * - In a forked child all of this is empty (MADV_WIPEONFORK), and begins anew.  But a slot
 *   keeps its table, which is empty itself: a signal handler may fork after the slot was
 *   found to be the thread's, and before its table is looked up.
 */
#ifndef _LIBPROFIL_ARCS_H
#define _LIBPROFIL_ARCS_H

/*
 * For mcount_x86_64.S too: the layout of a table, and where the searches for an arc and
 * for a thread begin.
 */
#ifdef __aarch64__
#define ARCS_PAGE	65536	/* the largest that a kernel may have */
#else
#define ARCS_PAGE	4096
#endif
#define ARCS_FIRST	32
#define ARC_BYTES	32
#define ARC_FROM	8
#define ARC_COUNT	16
#define ARCS_HASH	0x2545f491
#define ARCS_SLOTS	2048
#define ARCS_SHIFT	21	/* of a hash of 32 bits, and it is below that */
#define ARCS_THREADS	((ARCS_SLOTS * 8 + ARCS_PAGE - 1) / ARCS_PAGE * ARCS_PAGE)

/* What libprofil_arcs_state is. */
#define ARCS_ON		0	/* the thread pointer can be read from its register */
#define ARCS_ON_FS	1	/* only from the memory that it points to */
#define ARCS_OFF	2	/* mcount returns at once */

#ifndef __ASSEMBLER__

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One call site and one function; the latter 0 if it is free. */
struct libprofil_arc {
	_Atomic uintptr_t self;
	_Atomic uintptr_t from;	/* written after that: 0 for a moment */
	_Atomic uintptr_t count;
	uintptr_t written;	/* of these, in a file after which counts began anew */
};

struct libprofil_arcs {
	uintptr_t mask;		/* of the offset at which a search begins */
	struct libprofil_arc *end;
	struct libprofil_arcs *next;	/* of all there are */
	_Atomic uintptr_t used;
	struct libprofil_arc first[];
};

/*
 * All that is empty in a forked child, from the threads on, but for what
 * libprofil_arcs_reserve() has mapped.
 */
struct libprofil_arcs_memory {
	struct libprofil_arcs *_Atomic tables[ARCS_SLOTS];	/* of slots that have a thread */
	/* The thread pointer and 1, or 0 if it is free. */
	_Atomic uintptr_t threads[ARCS_SLOTS] __attribute__((aligned(ARCS_PAGE)));
	struct libprofil_arcs *_Atomic shared;	/* of threads without a slot */
	struct libprofil_arcs *_Atomic all;
	_Atomic uintptr_t early_used, used;	/* bytes */
	struct libprofil_arc early[512];
} __attribute__((aligned(ARCS_PAGE)));

_Static_assert(offsetof(struct libprofil_arcs, first) == ARCS_FIRST, "mcount_x86_64.S");
_Static_assert(sizeof(struct libprofil_arc) == ARC_BYTES, "mcount_x86_64.S");
_Static_assert(offsetof(struct libprofil_arcs_memory, threads) == ARCS_THREADS, "mcount_x86_64.S");
_Static_assert(UINT32_MAX >> ARCS_SHIFT == ARCS_SLOTS - 1, "mcount_x86_64.S");

/* Hidden: they are used before addresses are relocated. */
#define ARCS_HIDDEN __attribute__((visibility("hidden")))

extern struct libprofil_arcs_memory libprofil_arcs_memory ARCS_HIDDEN;

extern _Atomic unsigned char libprofil_arcs_state ARCS_HIDDEN;

/* Of both ARCS_ON, which it is here. */
extern unsigned char libprofil_arcs_on ARCS_HIDDEN;

/* Calls that no memory was left to count. */
extern _Atomic unsigned long libprofil_arcs_lost;

static inline uintptr_t libprofil_arcs_thread(void)
{
	uintptr_t pointer;

#if defined(__x86_64__)
	if (libprofil_arcs_on == ARCS_ON)
		__asm__ volatile("rdfsbase %0" : "=r" (pointer));
	else
		__asm__ volatile("movq %%fs:0, %0" : "=r" (pointer));
#else
	__asm__ volatile("mrs %0, tpidr_el0" : "=r" (pointer));
#endif
	return pointer + 1;
}

/* Of the slots in which a thread may be, the first. */
static inline uintptr_t libprofil_arcs_slot(uintptr_t thread)
{
	return (uint32_t)thread * ARCS_HASH >> ARCS_SHIFT;
}

static inline bool libprofil_arcs_off(void)
{
	return libprofil_arcs_state == ARCS_OFF;
}

void libprofil_arcs_reserve(void);
void libprofil_arcs_switch(bool on);
void libprofil_arcs_add(uintptr_t from, uintptr_t self);

/* Calls @each for every arc, until it returns false. */
typedef bool libprofil_arcs_fn(void *arg, struct libprofil_arc *arc);
bool libprofil_arcs_each(libprofil_arcs_fn *each, void *arg);

#endif /* __ASSEMBLER__ */
#endif /* _LIBPROFIL_ARCS_H */
