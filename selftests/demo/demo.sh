#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Where does a program spend its time?  "profil run" of it, in a VM with the module loaded.
#
#   demo.sh			SQLite
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
kernel=${KERNEL:-6.12}
seconds=${TIMEOUT:-1200}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || die "TIMEOUT=$seconds is no number from 1 up: give TIMEOUT=1200"

# QEMU without KVM lets several CPUs take turns, and their ticks get lost.
run=("$VM/run.sh" --kernel "$kernel" --cpus "${CPUS:-1}")
# The kernel's tests of its ciphers and its search for random bytes would otherwise go on
# beside the program.
[ "${FAST:-}" ] || run+=(--icount 3 --append cryptomgr.notests)
# In the folder $0 the VM says that it has begun, and this machine that the time is over; $@ is
# the command.  SIGTERM comes to all that it has started, as timeout(1) has it.  For what goes
# on all the same, SIGINT twice means that its profile is written without waiting for it.
# shellcheck disable=SC2016 # expanded there
in_vm='head -c 1 /dev/random >/dev/null
	: >"$0/start"
	setsid "$@" &
	command=$!
	(
		until [ -e "$0/stop" ]; do sleep 1; done
		kill -s TERM -- -$command
		sleep 10
		kill -INT $command
		sleep 1
		kill -INT $command
	) &
	wait $command
	status=$?
	[ -e "$0/stop" ] || exit $status
	exit 124'

room "$TOP" 100
"$TOP/selftests/setup.sh" build vm demo
say 'building the command profil'
make -s -C "$TOP/tools"
make -s -C "$TOP/selftests/demo"
say "building the module for kernel $kernel (the first time, this fetches the kernel)"
"$VM/kernels.sh" fetch "$kernel"
"$VM/module.sh" "$kernel"

rm -f "$demo"/profil.pb.gz* "$demo/start" "$demo/stop"
profil=("$BUILD/tool/profil" run --wait)
if [ "${PROG:-}" ]; then
	say "booting a virtual machine to run: $PROG"
	[ "${FAST:-}" ] || say 'time in it is exact, and slow; FAST=1 is faster, and exact only where /dev/kvm works'
	folder=$TOP
	profil+=(-o build/demo/profil.pb.gz -- sh -c "$PROG")
else
	say 'booting a virtual machine to run SQLite; this takes about a minute'
	folder=$demo
	profil+=(-- ./sqlite "${ROWS:-100000}")
fi
# By this machine's time, as the VM's leaps where it has nothing to do.
setsid sh -c "until [ -e '$demo/start' ]; do sleep 1; done; sleep $seconds; : >'$demo/stop'" </dev/null >/dev/null 2>&1 &
trap 'kill -- -$! 2>/dev/null || :' EXIT
status=0
"${run[@]}" --mem "${MEM:-1024}" --timeout $((seconds + 300)) --root9p --dir "$folder:rw" -- \
	sh -c "$in_vm" "$demo" env TERM=dumb "${profil[@]}" || status=$?
# The runner has said what went wrong.
[ $status -lt 126 ] || exit $status
[ -e "$demo/profil.pb.gz" ] || exit "$((status ? status : 1))"
case $status in
0) ;;
124) say "it was sent SIGTERM after $seconds s: give it more with TIMEOUT=" ;;
*) say "it ended with status $status" ;;
esac
say 'build/tool/profil report --by line build/demo/profil.pb.gz shows more of it'
exit $status
