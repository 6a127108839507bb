/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TOOLS_FUNCTION_H
#define TOOLS_FUNCTION_H

#include "reader.h"

struct function_wish {
	const char *path;
	const uint64_t *addresses;	/* ascending, the file's own */
	size_t num;
};

/*
 * What a file says of the function, or the functions, that these addresses are in, for
 * body.c: its build id, why there are no instructions, or "", and then of each function
 *
 *   "range"	name, start, end, and where it is written: source, line
 *   "code"	address, text, target of a jump or a call, whether it jumps; source, line;
 *		the function that was inlined there
 *
 * and "end".  Without instructions there is a "code" without text where something of the
 * rest is another one, and at each of the addresses.  For reader_run().
 */
void function_tell(void *wish, int fd, FILE *out);

#endif /* TOOLS_FUNCTION_H */
