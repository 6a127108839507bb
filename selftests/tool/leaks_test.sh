#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# All programs here are linked with leaks.c: what is lost is found all the same, and nothing else.
set -eu
. "$(dirname "$0")/lib.sh"

cd "$tmp"
cat >lose.c <<'END_OF_C'
#include <stdlib.h>
#include <string.h>

static char *kept;

int main(int argc, char **argv)
{
	kept = malloc(100);
	/* what is behind a pointer is known, too */
	*(char **)kept = strdup("known");
	if (argc > 1)
		*(char **)kept = argv[0];
	return 0;
}
END_OF_C
gcc -g -O0 -fsanitize=address,undefined -o lose lose.c "$O/leaks.o"

found() {
	says 0 ./lose
	none ./lose lost 2>err
	cat err
	grep -F '6 byte(s) leaked in 1 allocation(s)' err
	grep -F 'in main ' err
}

check 'leaks: what is lost is found, and nothing else' found
plan
