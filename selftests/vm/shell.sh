#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# "make vm" and "make vm-run": the VM with this machine's files, the module loaded, and
# the library and the headers where the compiler and ld.so look.
#
#   shell.sh		a shell, in this source tree, which is writable there
#   CMD='…' shell.sh --run	a command, in the folder DIR, which is writable there
#
# KERNEL=, CPUS=, MEM= (megabytes) and APPEND= are the machine's; TIMEOUT= is how many
# seconds a command may take, 300 if it is not given.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

if [ $# = 0 ]; then
	{ [ -t 0 ] && [ -t 1 ]; } ||
		die "there is no terminal for a shell: for one command, make vm-run CMD='...'"
elif [ ! "${CMD:-}" ]; then
	die "which command? make vm-run DIR=folder CMD='...'"
fi
room "$TOP" 100
"$TOP/selftests/setup.sh" build vm
make -s -C "$TOP/libwrap"

machine=("$VM/run.sh" --mem "${MEM:-1024}" --timeout "${TIMEOUT:-300}" --root9p)
env=(env LD_LIBRARY_PATH="$BUILD/lib" LIBRARY_PATH="$BUILD/lib" CPATH="$TOP/uapi:$TOP/libwrap")
if [ $# = 0 ]; then
	say 'booting; your files are there, this folder is writable, exit ends it'
	exec "${machine[@]}" --interactive --dir "$TOP:rw" -- "${env[@]}" bash --norc
fi
exec "${machine[@]}" --dir "${DIR:-.}:rw" -- "${env[@]}" sh -c "$CMD"
