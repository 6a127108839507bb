/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TOOLS_FRAMES_H
#define TOOLS_FRAMES_H

#include <gelf.h>
#include <stdbool.h>

/* The table of where functions begin, which stripped files have as well. */
struct frames {
	const struct frame_table *table;
	GElf_Addr base;
};

void frames_find(Elf *elf, struct frames *frames);

/* Where the function at @address begins. */
bool frames_start(const struct frames *frames, GElf_Addr address, GElf_Addr *start);

/* Where the function after the one at @address begins; 0 if there is none. */
GElf_Addr frames_next(const struct frames *frames, GElf_Addr address);

#endif /* TOOLS_FRAMES_H */
