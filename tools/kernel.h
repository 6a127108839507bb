/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TOOLS_KERNEL_H
#define TOOLS_KERNEL_H

#include "profile.h"
#include "slices.h"

/* What rows call the kernel itself; its modules are "[ext4]". */
#define KERNEL_NAME "[kernel]"
/* The same in files: others look for this name. */
#define KERNEL_NAME_PPROF "[kernel.kallsyms]"

/*
 * Names, objects and addresses for @num of @places, whose addresses are the kernel's.  The
 * addresses become distances from the first function of the kernel, or of the module: they
 * are the same after the next boot, and tell nobody where the kernel lies.
 */
void kernel_find(struct profile *profile, struct place *places, size_t num);

/* Keeps a table of the names for which tables.h had no time. */
void kernel_finish(void);

/*
 * Of ticks that are there twice, as at the place in the kernel and at that outside, one.
 * Returns how many of kernel threads and interrupts are among the parts.
 */
uint64_t kernel_keep(struct profil_session_page *page, struct part *parts, size_t *num_parts);

#endif /* TOOLS_KERNEL_H */
