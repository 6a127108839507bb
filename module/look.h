/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Looks at mappings that come late.
 *
 * In a kernel for real time no tick may take mmap_lock: to let go of it may turn interrupts
 * on.  There a tick leaves the look to a worker, which comes at once.  The tick is in the row
 * of its process meanwhile, and in no slot until the worker has found the place; STOP waits
 * for that.
 */
#ifndef _PROFIL_LOOK_H
#define _PROFIL_LOOK_H

#include <linux/types.h>

struct mm_struct;
struct profil_member;
struct profil_table;

bool profil_look_later(struct profil_member *member, struct mm_struct *mm, u64 pc,
		       unsigned long system, unsigned int n);
void profil_look_wait(struct profil_table *table);
void profil_look_end(struct profil_table *table);
int profil_look_init(struct profil_table *table);
void profil_look_free(struct profil_table *table);

#endif /* _PROFIL_LOOK_H */
