/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TOOLS_FILE_H
#define TOOLS_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Writes what the file behind the descriptor says, as texts that each end with a NUL
 * byte: its build id, the lowest address of its code, the end of it, the offset of the
 * lowest in the file; then of each place at @offsets its address, function and symbol;
 * then, which may take long, of each its source and line.  libdwfl may crash on what is
 * made to crash it: for a process of its own.
 */
void file_tell(int fd, const char *path, const uint64_t *offsets, size_t num, FILE *out);

#endif /* TOOLS_FILE_H */
