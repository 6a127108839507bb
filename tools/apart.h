/* SPDX-License-Identifier: GPL-2.0-only */
/* A child that is apart from the command, whatever becomes of it. */
#ifndef TOOLS_APART_H
#define TOOLS_APART_H

#include <stddef.h>
#include <sys/resource.h>

/*
 * In the child: nothing of the command's is open but the descriptors @kept, which are sorted;
 * those below 0 are none.  It ends with the command, and after @seconds.
 */
void apart_begin(int *kept, size_t num, double seconds);

/* For good, as it could raise a soft limit. */
void apart_limit(int resource, rlim_t most);

#endif /* TOOLS_APART_H */
