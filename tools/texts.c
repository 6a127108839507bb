// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
/* which does not include what it needs */
#include <libiberty/hashtab.h>
#include "say.h"
#include "texts.h"

struct text_index {
	const char *text;
	int64_t index;
};

static hashval_t hash_address(const void *entry)
{
	return htab_hash_pointer(((const struct text_index *)entry)->text);
}

static int is_address(const void *a, const void *b)
{
	return ((const struct text_index *)a)->text == ((const struct text_index *)b)->text;
}

int64_t texts_index(struct texts *texts, const char *text)
{
	struct text_index wanted = { text, texts->num }, *known;
	void **found;

	if (!texts->indexes)
		texts->indexes = htab_create(1024, hash_address, is_address, free);
	found = htab_find_slot(texts->indexes, &wanted, INSERT);
	known = *found;
	if (known)
		return known->index;
	*found = memcpy(allocated(malloc(sizeof(wanted))), &wanted, sizeof(wanted));
	texts->list = more(texts->list, &texts->room, texts->num, sizeof(*texts->list));
	texts->list[texts->num] = text;
	return texts->num++;
}

void texts_free(struct texts *texts)
{
	if (texts->indexes)
		htab_delete(texts->indexes);
	free(texts->list);
}
