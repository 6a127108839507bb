/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Basic blocks: how often each was reached.  The compiler puts a call of
 * libprofil_bb at the beginning of each.
 *
 *  program --> __sanitizer_cov_trace_pc	bb.c, in libprofil_bb
 *                  |
 *       libprofil_block_count()	count.c	adds one to it
 *       libprofil_blocks_each()	read.c	finds all in an object
 *
 * A block is counted in the tables of arcs.h, as an arc from the block to
 * BLOCK_SELF, and so are exact under threads and signal handlers as arcs are,
 * and empty in a forked child.
 *
 * A block that was never reached has called nobody, and gprof would take it for
 * a part of the one before it.  It is found as the call that it is: of what
 * those that were reached have called.
 */
#ifndef _LIBPROFIL_BLOCK_H
#define _LIBPROFIL_BLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define BLOCK_SELF 1	/* where no function is */

#if defined(__x86_64__)
#define CALL_BYTES 6
#define CALL_STEP 1	/* where a call may begin */
#elif defined(__aarch64__)
#define CALL_BYTES 4
#define CALL_STEP 4
#endif

/*
 * What the instruction @code, which is run at @at, calls, or in which word it
 * finds that; 0 if it calls nothing.
 */
static inline uintptr_t block_callee(const unsigned char *code, uintptr_t at)
{
	int32_t far;

#if defined(__x86_64__)
	if (code[0] == 0xe8) {
		memcpy(&far, code + 1, sizeof(far));
		return at + 5 + far;
	}
	memcpy(&far, code + 2, sizeof(far));
	return code[0] == 0xff && code[1] == 0x15 ? at + 6 + far : 0;
#elif defined(__aarch64__)
	memcpy(&far, code, sizeof(far));
	return (uint32_t)far >> 26 == 0x25 ? at + ((int32_t)((uint32_t)far << 6) >> 4) : 0;
#endif
}

/* gmon/start.c, for libprofil_bb */
void libprofil_block_start(void);
void libprofil_block_finish(void);

/* count.c: the first one is for libprofil_bb */
void libprofil_block_count(uintptr_t back);
bool libprofil_block_calls(uintptr_t callee);
bool libprofil_block_counted(void);

/* read.c: calls @each in the order of addresses, until it returns false. */
struct libprofil_object;
bool libprofil_block_any(const struct libprofil_object *object);
typedef bool libprofil_blocks_fn(void *arg, uintptr_t at, uintptr_t count);
struct libprofil_gmon;
bool libprofil_blocks_each(const struct libprofil_gmon *gmon,
			   libprofil_blocks_fn *each, void *arg);

#endif /* _LIBPROFIL_BLOCK_H */
