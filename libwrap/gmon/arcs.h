/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Arcs: how often a place has called a function.
 *
 *  -pg code --> mcount      mcount_x86_64.S	finds the arc in the thread's table and
 *                  |			adds one to it
 *                  | not there
 *                  v
 *       libprofil_arcs_add()  arcs.c	claims an entry, or maps a bigger table
 *       libprofil_arcs_each()		reads all tables, to write them to a file
 *
 * mcount may be called by the first code of a program, by a signal handler, by
 * the child of any kind of fork, and with arguments of its caller in all
 * registers there are.  So no code on this way calls the C library, uses vector
 * registers, waits, or takes a lock:
 *
 * - A thread counts in a table of its own, to which a pointer is all that is in
 *   thread-local memory.  Only a signal handler of that thread may come between
 *   two instructions.  It may claim the entry that was just found to be free, so
 *   entries are claimed by an exchange; and it may put a bigger table in place
 *   of this one, so nothing is ever moved or freed.  The same arc may then stand
 *   in two places, which gprof adds.
 * - The table of a thread that ended is taken over by a new one.  So there are
 *   never more of them than there were threads at a time.
 * - A child of vfork() counts in the table of the thread that made it, which
 *   stays the owner also of a bigger one.  If that thread had none yet, the
 *   child cannot tell who it is: the table is never taken over.
 * - ld.so has resolvers, of STT_GNU_IFUNC, call mcount when nothing of this library
 *   is relocated, and a static program when there is no thread pointer.  So those
 *   calls are not counted: a static program is ARCS_OFF until __monstartup(), and
 *   the shared library, which may count constructors before its own, ARCS_EARLY.
 * - In a forked child all but the first page of each table is empty
 *   (MADV_WIPEONFORK), and so belongs to nobody, until
 *   libprofil_arcs_forked().
 */
#ifndef _LIBPROFIL_ARCS_H
#define _LIBPROFIL_ARCS_H

/* For mcount_x86_64.S too: the layout of a table, and where an arc's search begins. */
#ifdef __aarch64__
#define ARCS_PAGE	65536	/* the largest that a kernel may have */
#else
#define ARCS_PAGE	4096
#endif
#define ARCS_FIRST	(ARCS_PAGE + 32)
#define ARC_BYTES	32
#define ARC_FROM	8
#define ARC_COUNT	16
#define ARCS_HASH	0x2545f491

/* What libprofil_arcs_off is; 0 if calls are counted. */
#define ARCS_OFF	1
#define ARCS_EARLY	2	/* unless there is no thread-local memory yet */

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
	/* What follows is empty in a forked child. */
	uintptr_t used __attribute__((aligned(ARCS_PAGE)));
	_Atomic int owner;	/* a thread, 0, or ARCS_KEPT */
	struct libprofil_arc first[] __attribute__((aligned(ARC_BYTES)));
};

_Static_assert(offsetof(struct libprofil_arcs, first) == ARCS_FIRST, "mcount_x86_64.S");
_Static_assert(sizeof(struct libprofil_arc) == ARC_BYTES, "mcount_x86_64.S");

/* The table of this thread; one without entries at first. */
extern __thread struct libprofil_arcs *libprofil_arcs_mine
	__attribute__((tls_model("initial-exec")));

/* Whether mcount returns at once.  Hidden: it is read before addresses are relocated. */
extern _Atomic unsigned char libprofil_arcs_off __attribute__((visibility("hidden")));

/* Calls that no memory was left to count. */
extern _Atomic unsigned long libprofil_arcs_lost;

void libprofil_arcs_add(uintptr_t from, uintptr_t self);
void libprofil_arcs_forked(void);

/* Calls @each for every arc, until it returns false. */
typedef bool libprofil_arcs_fn(void *arg, struct libprofil_arc *arc);
bool libprofil_arcs_each(libprofil_arcs_fn *each, void *arg);

#endif /* __ASSEMBLER__ */
#endif /* _LIBPROFIL_ARCS_H */
