/* SPDX-License-Identifier: GPL-2.0-only */
/* Files that are there whole, or not at all. */
#ifndef TOOLS_WHOLE_H
#define TOOLS_WHOLE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Writes a file beside FILE and renames it; "-" is standard output, and what is no ordinary
 * file is written to.  False, with errno, if that failed.
 */
bool whole_write(const char *file, const void *bytes, size_t length);

/* All bytes to a descriptor; false, with errno, if that failed. */
bool whole_write_all(int fd, const void *bytes, size_t length);

#endif /* TOOLS_WHOLE_H */
