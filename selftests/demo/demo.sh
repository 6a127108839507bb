#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Where does a program spend its time?  Runs it in a VM with the module loaded,
# and prints its profile.
#
#   demo.sh			SQLite, under profil()
#   PROG='command...' demo.sh	a program of this machine and what it starts
#
# The command is run by sh, in the folder of this source tree; outside of it the
# VM cannot write to this machine's files.  ROWS= changes SQLite's work, MEM= the
# megabytes for a program, TIMEOUT= the seconds it may take; KERNEL=, CPUS= and
# APPEND= the VM.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
demo=$top/build/demo
out=$demo/out
kernel=${KERNEL:-6.12}

# QEMU without KVM lets several CPUs take turns, and their ticks get lost.
run=("$top/selftests/vm/run.sh" --kernel "$kernel" --cpus "${CPUS:-1}" --timeout "${TIMEOUT:-1200}")

# For SQLite, time is counted in instructions, 2^3 ns each: so that no tick is
# lost while this machine does something else.  The kernel's tests of its ciphers
# and its search for random bytes would otherwise go on beside it.
counted=(--icount 3 --append cryptomgr.notests)
sqlite="head -c 1 /dev/random >/dev/null; exec ./sqlite ${ROWS:-100000} out/sqlite.profil"

say() {
	echo "demo: $*"
}

"$top/selftests/setup.sh" build vm demo
say "building the library and the programs"
make -s -C "$top/selftests/demo"
say "building the module for kernel $kernel (the first time, this fetches the kernel)"
"$top/selftests/vm/kernels.sh" fetch "$kernel"
"$top/selftests/vm/module.sh" "$kernel"

rm -rf "$out"
mkdir -p "$out"
status=0
if [ "${PROG:-}" ]; then
	say "booting a virtual machine to run: $PROG"
	"${run[@]}" --mem "${MEM:-1024}" --root9p --dir "$top:rw" -- \
		env PROFIL_RECORD="$out" LD_PRELOAD="$demo/record.so" sh -c "$PROG" ||
		status=$?
else
	say "booting a virtual machine to run SQLite; this takes about a minute"
	"${run[@]}" "${counted[@]}" --dir "$demo:rw" -- sh -c "$sqlite" || status=$?
fi
# The runner has said what went wrong.
[ $status -lt 126 ] || exit $status

shopt -s nullglob
files=("$out"/*.profil)
if [ ${#files[@]} = 0 ]; then
	say "no profile was written: static and set-user-ID programs cannot be preloaded, and one that a signal kills writes none" >&2
	exit 1
fi
[ $status = 0 ] || say "the program ended with status $status"
echo
if command -v c++filt >/dev/null; then
	"$demo/report" "${files[@]}" | c++filt
else
	"$demo/report" "${files[@]}"
fi
exit $status
