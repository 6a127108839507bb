/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of texts of a file: each text is there once, and has an index. */
#ifndef TOOLS_TEXTS_H
#define TOOLS_TEXTS_H

#include <stddef.h>
#include <stdint.h>

struct texts {
	const char **list;
	size_t num, room;
	void *indexes;
};

/* For texts of one profile, which are equal where their addresses are. */
int64_t texts_index(struct texts *texts, const char *text);
void texts_free(struct texts *texts);

#endif /* TOOLS_TEXTS_H */
