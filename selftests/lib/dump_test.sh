#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Files of programs of gcc -pg that do not end by exit(), or not at all; without
# the device.
# Usage: dump_test.sh LIBDIR COMPILER...
set -eu

here=$(cd "$(dirname "$0")" && pwd)
lib=$(cd "$1" && pwd)
shift
CC="$* -O2 -pg -pthread"
# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$here/tap.sh"
# shellcheck source-path=SCRIPTDIR source=gprof.sh
. "$here/gprof.sh"
export PROFIL_QUIET=1
ends=$tmp/ends

# ends STATUS VARIABLE=VALUE... WAY N: its first line, which is its number, in $pid
ends() {
	want=$1
	shift
	status=0
	run env "$@" >"$tmp/out" 2>"$tmp/err" || status=$?
	cat "$tmp/out" "$tmp/err"
	pid=$(head -n 1 "$tmp/out")
	test "$status" = "$want"
}

# leaves N FILE...: that many calls in each, and no other file is there
leaves() {
	want_calls=$1
	shift
	(cd "$tmp/run" && ls -A) >"$tmp/have"
	printf '%s\n' "$@" | sort | diff -u - "$tmp/have"
	for file; do
		counted leaf "$want_calls" "$ends" "$tmp/run/$file"
	done
}

# Its writer may be killed amid the next one.
without_half_files() {
	rm -f "$tmp"/run/*.tmp*
}

leaves_nothing() {
	test -z "$(ls -A "$tmp/run")"
}

underscore_exit() {
	for way in _exit _Exit; do
		ends 3 PROFIL_EXIT=_exit "$ends" $way 12
		leaves 12 gmon.out
	done
}

# The linker takes it from the archive, for the C library's own use too.
static_exit() {
	$CC -static -o "$tmp/static" "$here/ends.c" -L"$lib" -lprofil
	ends 3 PROFIL_EXIT=_exit "$tmp/static" _exit 12
	counted leaf 12 "$tmp/static" "$tmp/run/gmon.out"
}

children_exit() {
	ends 0 PROFIL_EXIT=_exit "$ends" fork 15
	child=$(basename "$tmp"/run/gmon.out.*)
	leaves 15 gmon.out "$child"
}

vfork_writes_nothing() {
	ends 137 PROFIL_EXIT=_exit "$ends" vfork 15
	leaves_nothing
}

quick() {
	ends 3 PROFIL_EXIT=quick_exit "$ends" quick_exit 13
	leaves 13 gmon.out
}

aborts() {
	for way in abort assert; do
		ends 134 PROFIL_EXIT=abort "$ends" $way 14
		leaves 14 gmon.out
	done
}

# With more than one word, and each signal still ends it.
signals_end() {
	ends 143 PROFIL_EXIT=_exit,TERM,SIGSEGV "$ends" term 15
	leaves 15 gmon.out
	ends 139 PROFIL_EXIT=_exit,TERM,SIGSEGV "$ends" segv 16
	leaves 16 gmon.out
}

# Those that are rare end it, too.
rare_signals() {
	for signal in STKFLT:16 VTALRM:26 PROF:27 IO:29 POLL:29 PWR:30; do
		ends $((128 + ${signal#*:})) PROFIL_EXIT="${signal%:*}" SIGNAL="${signal#*:}" "$ends" signal 15
		leaves 15 gmon.out
	done
}

# The kernel drops what is to end it, and SIGKILL of its own, too: it exits, with all calls.
first_of_namespace() {
	# shellcheck disable=SC2086 # words
	ends 2 PROFIL_EXIT=USR1 $namespace "$ends" asked 20
	test "$pid" = 1
	leaves 40 gmon.out
}

# As in the C library.
not_asked() {
	for way in _exit:3 quick_exit:3 abort:134 term:143; do
		ends "${way#*:}" "$ends" "${way%:*}" 12
		leaves_nothing
	done
}

ignored_stays_ignored() {
	trap '' TERM
	ends 2 PROFIL_EXIT=TERM "$ends" term 15
}

on_demand() {
	ends 137 PROFIL_SIGNAL=USR1 "$ends" asked 20
	leaves 40 gmon.out
}

on_demand_amid() {
	ends 137 PROFIL_SIGNAL=USR1 "$ends" amid 20
	leaves 20 gmon.out
	test "$(cat "$tmp/out")" = "$pid"
}

# What could not be written is in the next one.
full_disk() {
	ends 137 "$ends" full 30
	grep '^profil: cannot write gmon.out: File too large; ' "$tmp/err"
	leaves 90 gmon.out
	ends 137 PROFIL_RESET=1 "$ends" full 30
	grep "^profil: cannot write gmon.out.$pid.1: File too large; " "$tmp/err"
	rm "$tmp/run/gmon.out"
	leaves 60 "gmon.out.$pid.1"
}

on_demand_anew() {
	ends 137 PROFIL_SIGNAL=USR1 PROFIL_RESET=1 "$ends" asked 20
	leaves 20 gmon.out "gmon.out.$pid.1"
	ends 137 PROFIL_SIGNAL=10 PROFIL_RESET=1 GMON_OUT_PREFIX=p "$ends" asked 20
	leaves 20 "p.$pid" "p.$pid.1"
}

functions() {
	ends 0 "$ends" functions 10
	(cd "$tmp/run" && counted leaf 20 "$ends" gmon.out && counted leaf 10 "$ends" "gmon.out.$pid.1")
}

at_once() {
	ends 0 PROFIL_SIGNAL=USR1 PROFIL_RESET=1 timeout -s KILL 600 "$ends" atonce 7
	counted leaf 707 "$ends" "$tmp"/run/gmon.out*
}

interval() {
	ends 137 PROFIL_INTERVAL=0.25 "$ends" idle 30
	without_half_files
	leaves 30 gmon.out
	test "$(cat "$tmp/out")" = "$pid"
}

interval_of_a_daemon() {
	ends 0 PROFIL_INTERVAL=0.25 "$ends" daemon 30
	for _ in $(seq 600); do
		file=$(find "$tmp/run" -name 'gmon.out.*' ! -name '*.tmp*')
		test -z "$file" || break
		sleep 0.1
	done
	# nobody may wait for it
	while grep -qs '^State:[[:space:]]*[^ZX]' "/proc/${file##*.}/status"; do
		sleep 0.1
	done
	without_half_files
	leaves 30 "${file##*/}"
}

# Two threads go on while counts begin anew: each call is in one of the files.
interval_anew() {
	ends 0 PROFIL_INTERVAL=0.01 PROFIL_RESET=1 "$ends" busy 30000000
	counted leaf $((30000000 * $(tail -n 1 "$tmp/out"))) "$ends" "$tmp"/run/gmon.out*
}

# sizes N: how many there are, none among them, while the file is replaced N times
sizes() {
	perl -e 'while ($n < $ARGV[1]) {
			my @is = stat $ARGV[0];
			$seen{@is ? $is[7] : "none"} = 1;
			$n++ if @is && $is[1] != ($before // 0);
			$before = $is[1] if @is;
		}
		print scalar keys %seen, "\n"' "$tmp/run/gmon.out" "$1"
}

# Whenever it is killed, and whenever someone reads it.
always_whole() {
	rm -rf "$tmp/run"
	mkdir "$tmp/run"
	# here, for its process to be the one that is killed
	(cd "$tmp/run" && LD_PRELOAD=$lib/libprofil.so PROFIL_INTERVAL=0.001 exec "$tmp/calls" many 1000000000) &
	# of 512 calls in each turn; by then all have been made once
	until test "$(calls_of busy "$tmp/calls" "$tmp/run/gmon.out" 2>/dev/null)" -gt 512; do
		kill -0 $! || return
		sleep 0.1
	done 2>"$tmp/not_yet"
	test "$(sizes 100)" = 1
	kill -KILL $!
	wait $! || test $? = 137
	test "$(calls_of busy "$tmp/calls" "$tmp/run/gmon.out")" -gt 512
}

# Another thread may change it.
reads_nothing() {
	preload=$tmp/reads.so:$tmp/device.so:$lib/libprofil.so
	ends 143 LD_PRELOAD="$preload" PROFIL_EXIT=TERM PROFIL_VERBOSE=1 "$ends" term 15
	grep '^profil: of 200 samples 150 ' "$tmp/err"
	test -z "$(grep reads "$tmp/err")"
	ends 137 LD_PRELOAD="$preload" PROFIL_INTERVAL=0.25 "$ends" idle 30
	test -z "$(grep reads "$tmp/err")"
}

last_thread_exits() {
	ends 0 PROFIL_INTERVAL=100 timeout -s KILL 300 "$ends" lastthread 9
	leaves 18 gmon.out
}

no_folder() {
	ends 0 "$ends" gone 31
	leaves 31 gmon.out
	grep "^profil: cannot write gmon.out: No such file or directory; it is $tmp/run/gmon.out" "$tmp/err"
}

no_thread() {
	ends 3 PROFIL_INTERVAL=x PROFIL_EXIT=sideways,KILL,9,WINCH,17,_exit PROFIL_SIGNAL=19 "$ends" _exit 1
	grep '^profil: cannot understand x in PROFIL_INTERVAL; ' "$tmp/err"
	for word in sideways KILL 9 WINCH 17; do
		grep "^profil: cannot understand $word in PROFIL_EXIT; " "$tmp/err"
	done
	grep '^profil: cannot understand 19 in PROFIL_SIGNAL; ' "$tmp/err"
	test "$(wc -l <"$tmp/err")" = 7
	leaves 1 gmon.out
}

# After a handler the same instruction would do the same.
no_fault() {
	ends 139 PROFIL_SIGNAL=SEGV timeout --foreground -s KILL 60 "$ends" segv 16
	grep '^profil: cannot understand SEGV in PROFIL_SIGNAL; ' "$tmp/err"
	leaves_nothing
}

$CC -o "$ends" "$here/ends.c"
$CC -o "$tmp/calls" "$here/calls.c"
${CC% -pg*} -fPIC -shared -o "$tmp/reads.so" "$here/reads.c"
${CC% -pg*} -fPIC -shared -I"$here/../../uapi" -o "$tmp/device.so" "$here/device.c"
check 'PROFIL_EXIT=_exit: _exit() and _Exit() write files' underscore_exit
check 'in a static program too' static_exit
check 'and in a forked child' children_exit
check 'but a child of vfork() writes nothing of its parent' vfork_writes_nothing
check 'PROFIL_EXIT=quick_exit: so does quick_exit()' quick
check 'PROFIL_EXIT=abort: so do abort() and assert()' aborts
check 'PROFIL_EXIT=TERM,SEGV: so do signals, and end it' signals_end
check 'PROFIL_EXIT=PROF: those that are rare, too' rare_signals
# Not everybody may make one.
for namespace in 'unshare --pid --fork' 'unshare --map-root-user --pid --fork' ''; do
	! $namespace true 2>/dev/null || break
done
test -z "$namespace" ||
	check 'what a signal does not end, as in a container, writes files later' first_of_namespace
check 'nothing is written where it was not asked for' not_asked
check 'a signal that is ignored stays so' ignored_stays_ignored
check 'PROFIL_SIGNAL: files are written while it goes on' on_demand
check 'and a call that can go on then does' on_demand_amid
check 'PROFIL_RESET: counts begin anew, in files of their own' on_demand_anew
check 'a file that cannot be written loses nothing' full_disk
check 'profil_dump() and profil_reset() do the same' functions
check 'signals and calls of it may come at once' at_once
check 'PROFIL_INTERVAL: a killed program leaves a file, and nothing is interrupted' interval
check 'a daemon too' interval_of_a_daemon
check 'no call is lost where counts begin anew amid others' interval_anew
check 'a file is whole whenever one looks, also after SIGKILL' always_whole
check 'neither a handler nor the thread of the interval reads the environment' reads_nothing
check 'a program still exits with its last thread' last_thread_exits
check 'who leaves for a bad folder finds its file in the first' no_folder
check 'what is not understood is told' no_thread
check 'PROFIL_SIGNAL: a fault ends a program' no_fault
plan
