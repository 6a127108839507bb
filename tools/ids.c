// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include "ids.h"
#include "order.h"

static int by_id(const void *a, const void *b)
{
	return compare_numbers(((const struct id *)a)->id, ((const struct id *)b)->id);
}

bool ids_sort(struct ids *ids)
{
	if (ids->num)
		qsort(ids->ids, ids->num, sizeof(*ids->ids), by_id);
	for (size_t i = 1; i < ids->num; i++)
		if (ids->ids[i].id == ids->ids[i - 1].id)
			return false;
	return true;
}

bool ids_find(const struct ids *ids, uint64_t id, size_t *index)
{
	const struct id wanted = { .id = id }, *found;

	/* most files count them from 1 */
	if (id && id <= ids->num && ids->ids[id - 1].id == id)
		found = &ids->ids[id - 1];
	else
		found = ids->num ?
			bsearch(&wanted, ids->ids, ids->num, sizeof(wanted), by_id) : NULL;
	if (found)
		*index = found->index;
	return found;
}
