// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <search.h>
#include <stdlib.h>
#include "order.h"
#include "say.h"
#include "texts.h"

struct text_index {
	const char *text;
	int64_t index;
};

static int by_address(const void *a, const void *b)
{
	return compare_numbers((uintptr_t)((const struct text_index *)a)->text,
			       (uintptr_t)((const struct text_index *)b)->text);
}

int64_t texts_index(struct texts *texts, const char *text)
{
	struct text_index wanted = { text, texts->num };
	struct text_index **found = allocated(tsearch(&wanted, &texts->indexes, by_address));

	if (*found != &wanted)
		return (*found)->index;
	*found = allocated(malloc(sizeof(wanted)));
	**found = wanted;
	texts->list = more(texts->list, &texts->room, texts->num, sizeof(*texts->list));
	texts->list[texts->num] = text;
	return texts->num++;
}

void texts_free(struct texts *texts)
{
	tdestroy(texts->indexes, free);
	free(texts->list);
}
