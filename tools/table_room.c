// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "order.h"
#include "say.h"
#include "table_room.h"
#include "tables.h"

#define SIZE_MAX_ALL ((uint64_t)256 << 20)

struct kept {
	char key[TABLES_KEY];
	uint64_t used, size;
};

static int by_use(const void *a, const void *b)
{
	return compare_numbers(((const struct kept *)a)->used, ((const struct kept *)b)->used);
}

void table_room(int tables)
{
	int own = openat(tables, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = own < 0 ? NULL : fdopendir(own);
	struct dirent *entry;
	struct kept *kept = NULL;
	size_t num = 0, room = 0;
	uint64_t size = 0;

	while (folder && (entry = readdir(folder))) {
		struct stat st;

		if (fstatat(own, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode) || strlen(entry->d_name) >= TABLES_KEY)
			continue;
		kept = more(kept, &room, num, sizeof(*kept));
		kept[num] = (struct kept) { .used = st.st_mtime, .size = st.st_size };
		strcpy(kept[num++].key, entry->d_name);
		size += st.st_size;
	}
	if (num)
		qsort(kept, num, sizeof(*kept), by_use);
	for (size_t i = 0; i < num && size > SIZE_MAX_ALL; i++) {
		unlinkat(tables, kept[i].key, 0);
		size -= kept[i].size;
	}
	free(kept);
	if (folder)
		closedir(folder);
}
