/* SPDX-License-Identifier: GPL-2.0-only */
/* The memory of messages: in large pieces, with an end, and freed at once. */
#ifndef TOOLS_LIMITED_H
#define TOOLS_LIMITED_H

#include <protobuf-c/protobuf-c.h>
#include "obstacks.h"

struct limited {
	ProtobufCAllocator allocator;	/* frees nothing */
	struct obstack memory;
	size_t left;
};

void limited_init(struct limited *limited);
void limited_free(struct limited *limited);

#endif /* TOOLS_LIMITED_H */
