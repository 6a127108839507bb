/* SPDX-License-Identifier: GPL-2.0-only */
/* The ids by which the messages of a file name each other: any numbers. */
#ifndef TOOLS_IDS_H
#define TOOLS_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct id {
	uint64_t id;
	size_t index;	/* of the message that has it */
};

struct ids {
	struct id *ids;
	size_t num;
};

/* False if two messages have one id. */
bool ids_sort(struct ids *ids);
bool ids_find(const struct ids *ids, uint64_t id, size_t *index);

#endif /* TOOLS_IDS_H */
