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
# VM cannot write to this machine's files.  Its input is empty, and its errors come with its
# output.  After TIMEOUT= seconds (1200) it is sent SIGTERM, and its profile is shown: so
# that of a server.  ROWS= changes SQLite's work, MEM= the megabytes;
# KERNEL=, CPUS= and APPEND= the VM.
#
# Time is counted in instructions, 2^3 ns each: so that no tick is lost or comes late while
# this machine does something else, which would name functions that take no time.  FAST=1
# goes without that: as fast as /dev/kvm is, which then has the time right, too.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"

demo=$BUILD/demo
out=$demo/out
kernel=${KERNEL:-6.12}
seconds=${TIMEOUT:-1200}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || die "TIMEOUT=$seconds is no number from 1 up: give TIMEOUT=1200"

# QEMU without KVM lets several CPUs take turns, and their ticks get lost.
run=("$VM/run.sh" --kernel "$kernel" --cpus "${CPUS:-1}")
# The kernel's tests of its ciphers and its search for random bytes would otherwise go on
# beside the program.
[ "${FAST:-}" ] || run+=(--icount 3 --append cryptomgr.notests)
ready='head -c 1 /dev/random >/dev/null'
# In the folder $0 the VM says that it has begun, and this machine that the time is over; $@ is
# the command.  All that is profiled is sent SIGTERM then, and writes its profile.
# shellcheck disable=SC2016 # expanded there
in_vm=$ready'
	profiled() { grep -ls record.so /proc/[1-9]*/maps | cut -d / -f 3; }
	: >"$0/start"
	"$@" &
	command=$!
	(until [ -e "$0/stop" ]; do sleep 1; done; kill $(profiled)) &
	wait $command
	status=$?
	[ -e "$0/stop" ] || exit $status
	for try in $(seq 50); do
		[ ! "$(profiled)" ] || sleep 1
	done
	exit 124'

"$TOP/selftests/setup.sh" build vm demo
say 'building the library and the programs'
make -s -C "$TOP/selftests/demo"
say "building the module for kernel $kernel (the first time, this fetches the kernel)"
"$VM/kernels.sh" fetch "$kernel"
"$VM/module.sh" "$kernel"

rm -rf "$out"
mkdir -p "$out"
status=0
if [ "${PROG:-}" ]; then
	say "booting a virtual machine to run: $PROG"
	[ "${FAST:-}" ] || say 'time in it is exact, and slow; FAST=1 is faster, and exact only where /dev/kvm works'
	# By this machine's time, as the VM's leaps where it has nothing to do.
	setsid sh -c "until [ -e '$out/start' ]; do sleep 1; done; sleep $seconds; : >'$out/stop'" </dev/null >/dev/null 2>&1 &
	trap 'kill -- -$! 2>/dev/null || :' EXIT
	"${run[@]}" --mem "${MEM:-1024}" --timeout $((seconds + 300)) --root9p --dir "$TOP:rw" -- \
		sh -c "$in_vm" "$out" \
		env PROFIL_RECORD="$out" LD_PRELOAD="$demo/record.so" sh -c "$PROG" ||
		status=$?
else
	say 'booting a virtual machine to run SQLite; this takes about a minute'
	"${run[@]}" --timeout "$seconds" --dir "$demo:rw" -- \
		sh -c "$ready; exec ./sqlite ${ROWS:-100000} out/sqlite.profil" || status=$?
fi
# The runner has said what went wrong.
[ $status -lt 126 ] || exit $status

shopt -s nullglob
files=("$out"/*.profil)
if [ ${#files[@]} = 0 ]; then
	die 'no profile was written: static and set-user-ID programs cannot be preloaded, and one that SIGKILL or a crash ends writes none'
fi
case $status in
0) ;;
124) say "it was sent SIGTERM after $seconds s: give it more with TIMEOUT=" ;;
*) say "it ended with status $status" ;;
esac
echo
if command -v c++filt >/dev/null; then
	"$demo/report" "${files[@]}" | c++filt
else
	"$demo/report" "${files[@]}"
fi
exit $status
