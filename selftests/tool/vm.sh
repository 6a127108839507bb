#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The command with the module, in a VM whose time is the count of instructions.
#
#   vm.sh [--kernel KERNEL] TEST...
#
#   guest		whom it follows, and that it counts all
#   system_guest	the whole machine
#   watch_guest [SECONDS]	profil watch, with services at work for so long
#   watch_share		what profil watch takes of a machine
#   programs		programs that nobody here wrote
#
# KERNEL is one of those of selftests/vm/kernels.sh: $KERNEL, else 6.12.
set -eu
. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"

here=$TOP/selftests/tool
O=$BUILD/tool-vm

prepare_guest() {
	gcc -g -O1 -I"$TOP/uapi" -o "$O/burn" "$here/burn.c" -pthread
	gcc -g -O1 -I"$TOP/uapi" -static -o "$O/burn-static" "$here/burn.c" -pthread
	CGO_ENABLED=0 GO111MODULE=off GOCACHE=$O/go-cache go build -o "$O/go-static" "$here/spin.go"
}

prepare_system_guest() {
	prepare_guest
	# each tick is at a place of its own
	gcc -O1 -x c -o "$O/spread" - <<-'END'
		#include <stdlib.h>
		int main(int argc, char **argv)
		{
			for (int i = argc > 1 ? atoi(argv[1]) : 0; i > 0; i--)
				asm volatile(".rept 1999993\nnop\n.endr");
			return 0;
		}
	END
}

prepare_watch_guest() {
	prepare_system_guest
}

prepare_watch_share() {
	prepare_system_guest
}

prepare_programs() {
	. "$TOP/selftests/programs/source"
	rm -rf "$O/profiles"
	mkdir "$O/profiles"
	redis_in "$O"
}

kernel=${KERNEL:-6.12}
if [ "${1-}" = --kernel ]; then
	kernel=$2
	shift 2
fi
what=${1:-guest}
# An instruction takes 8 ns, so that the emulator is not late; or one, as little as it can.
shift=3
[ "$what" != watch_share ] || shift=0
# Two lanes may be at work, and one of them is the other for longer.
tap=$O/$what-${kernel##*/}${2:+-$2}.tap
locked_here tool make -s -C "$TOP/tools" O="$O"
"prepare_$what"
"$VM/run.sh" --kernel "$kernel" --cpus 1 --mem 1024 --icount $shift --timeout $((1800 + 10 * ${2:-0})) \
	--append cryptomgr.notests --root9p --dir "$O:rw" -- "$here/$what.sh" "${@:2}" >"$tap"
tests=("cat $tap")
[ "$what" != programs ] || tests+=("$here/pprof_real.sh $O")
exec "$TOP/selftests/lib/prove.pl" 1 "${tests[@]}"
