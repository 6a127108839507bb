/* SPDX-License-Identifier: GPL-2.0-only */
/* Obstacks of the C library: what they lack ends the program. */
#ifndef TOOLS_OBSTACKS_H
#define TOOLS_OBSTACKS_H

#include <obstack.h>
#include <stdlib.h>
#include "say.h"

#define obstack_chunk_alloc malloc
#define obstack_chunk_free free

static inline void obstacks_no_memory(void)
{
	allocated(NULL);
}

/* Before the first one is begun. */
static inline void obstacks_init(void)
{
	obstack_alloc_failed_handler = obstacks_no_memory;
}

#endif /* TOOLS_OBSTACKS_H */
