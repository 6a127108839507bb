// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include "limited.h"

/* A small file can have very many empty messages: they may take so much memory. */
#define MEMORY_MAX ((size_t)2 << 30)
#define PIECE (1 << 20)

static void *take(void *data, size_t size)
{
	struct limited *limited = data;

	if (size > limited->left)
		return NULL;
	limited->left -= size;
	return obstack_alloc(&limited->memory, size);
}

static void keep(void *data, void *memory)
{
	(void)data;
	(void)memory;
}

void limited_init(struct limited *limited)
{
	limited->allocator = (ProtobufCAllocator) { take, keep, limited };
	limited->left = MEMORY_MAX;
	obstacks_init();
	obstack_begin(&limited->memory, PIECE);
}

void limited_free(struct limited *limited)
{
	obstack_free(&limited->memory, NULL);
}
