/* SPDX-License-Identifier: GPL-2.0-only */
/* A number for what is told apart, as Fowler, Noll and Vo have it: no secret, and no proof. */
#ifndef TOOLS_HASH_H
#define TOOLS_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_BEGIN 0xcbf29ce484222325

static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t length)
{
	for (const unsigned char *byte = bytes; length--; byte++)
		hash = (hash ^ *byte) * 0x100000001b3;
	return hash;
}

#endif /* TOOLS_HASH_H */
