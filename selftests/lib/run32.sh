#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Runs a program of 32 bits, also where the kernel runs none: some hypervisors
# have no such mode.  There qemu-i386 does; but not what has threads and forks,
# at which that may hang: of such a program one skipped result is printed.
# Usage: run32.sh [--forks-threads] PROGRAM ARGUMENT...
set -eu

forks=
if [ "$1" = --forks-threads ]; then
	forks=1
	shift
fi
# The dynamic linker of such programs is one itself.
if /lib/ld-linux.so.2 --version >/dev/null 2>&1; then
	exec "$@"
fi
if [ "$forks" ]; then
	printf 'ok 1 - %s, with 32 bits # SKIP this kernel runs none, and qemu-i386 may hang at it\n1..1\n' \
		"${1##*/}"
	exit
fi
command -v qemu-i386 >/dev/null || {
	echo "run32.sh: this kernel runs no programs of 32 bits, and there is no qemu-i386 that would: apt-get install qemu-user" >&2
	exit 1
}
exec qemu-i386 "$@"
