// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * What gcc -fsanitize-coverage=trace-pc, and clang's trace-pc-guard, have each
 * basic block call.  In a library of its own, libprofil_bb: a program with a
 * sanitizer has these names from that.
 */
#include <stdint.h>
#include "block.h"
#include "internal.h"

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc_guard(uint32_t *guard);
void __sanitizer_cov_trace_pc_guard_init(uint32_t *begin, uint32_t *end);

PROFIL_API
void __sanitizer_cov_trace_pc(void)
{
	libprofil_block_count((uintptr_t)__builtin_return_address(0));
}

/* Which block it is, its address tells. */
PROFIL_API
void __sanitizer_cov_trace_pc_guard(uint32_t *guard)
{
	(void)guard;
	libprofil_block_count((uintptr_t)__builtin_return_address(0));
}

PROFIL_API
void __sanitizer_cov_trace_pc_guard_init(uint32_t *begin, uint32_t *end)
{
	(void)begin;
	(void)end;
}

/*
 * A program that is gcc -pg does both itself, too.  Before and after all others,
 * so that the constructors and destructors of any other are counted.
 */
static __attribute__((constructor(101))) void start(void)
{
	libprofil_block_start();
}

static __attribute__((destructor(101))) void finish(void)
{
	libprofil_block_finish();
}
