#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What the runtime of gcc -pg takes where memory is short: less, and the program's own last.
# Usage: memory_test.sh LIBDIR COMPILER...
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
calls=$tmp/calls

begin() {
	rm -rf "$tmp/run"
	mkdir "$tmp/run"
	cd "$tmp/run"
}

# limited OPTION KB COMMAND...: what it says is in $tmp/err
limited() {
	option=$1 kb=$2
	shift 2
	(ulimit "$option" "$kb" && "$@") >"$tmp/out" 2>"$tmp/err"
}

# From where a program runs with the library, but without a profile: so does one that has
# one, with all calls, or a line says how many are missing.
little() {
	option=$1 runs=0 lines=0
	begin
	shift
	for kb; do
		rm -f gmon*
		limited "$option" "$kb" env LD_PRELOAD="$lib/libprofil.so" "$tmp/plain" many 1 ||
			continue
		limited "$option" "$kb" env LD_PRELOAD="$lib/libprofil.so" "$calls" many 1
		cat "$tmp/err"
		lost=$(sed -n 's/^profil: \([0-9]*\) calls are not counted: .*/\1/p' "$tmp/err")
		seen=$((${lost:-0}))
		for name in busy leaf many; do
			seen=$((seen + $(calls_of "$name" "$calls" gmon.out)))
		done
		test "$seen" = 684
		runs=$((runs + 1)) lines=$((lines + $(wc -l <"$tmp/err")))
	done
	test "$runs" -gt 3
	test "$lines" -gt 3
}

address_space() {
	# shellcheck disable=SC2046 # numbers
	little -v $(seq 2000 50 4000)
}

data() {
	# shellcheck disable=SC2046 # numbers
	little -d $(seq 50 50 1000)
}

# bin_of FILE: the bytes of code in a bin
bin_of() {
	od -A n -t u8 -j 21 -N 16 "$1" | tr -s ' ' '\n' >"$tmp/range"
	echo $((($(tail -n 1 "$tmp/range") - $(sed -n 2p "$tmp/range")) / $(od -A n -t u4 -j 37 -N 4 "$1")))
}

# sampled OPTION KB: once in each object, by a device that can do that
sampled() {
	limited "$1" "$2" env SAMPLE=1 LD_PRELOAD="$tmp/device.so:$lib/libprofil.so" "$calls" many 1
	grep '^scale ' "$tmp/err" >"$tmp/scales"
	sed -i '/^query$\|^start \|^scale /d' "$tmp/err"
	cat "$tmp/err"
}

enough() {
	begin
	sampled -v unlimited
	test ! -s "$tmp/err"
	test "$(bin_of gmon.out) $(bin_of gmon.out.libc.so.6)" = '2 2'
}

program_first() {
	begin
	sampled -v 4000
	grep '^profil: samples in libc.so.6[a-z0-9 ]* are known less exactly: no memory' "$tmp/err"
	test "$(wc -l <"$tmp/err")" = 1
	test "$(bin_of gmon.out)" = 2
	test "$(bin_of gmon.out.libc.so.6)" -gt 2
	test "$(samples_of gmon.out) $(samples_of gmon.out.libc.so.6)" = '1 1'
	# and so the kernel counts: the program is first
	test "$(head -n 1 "$tmp/scales")" = 'scale 65536'
	grep -x "scale $((65536 * 2 / $(bin_of gmon.out.libc.so.6)))" "$tmp/scales"
}

# as_user COMMAND...: as one who has limits
as_user() {
	if [ "$(id -u)" = 0 ]; then
		setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
	else
		"$@"
	fi
}

# A little more than the program itself has.
locked() {
	begin
	chmod 777 .
	kb=$(($("$tmp/lock" 0) + 1000))
	limited -l "$kb" as_user "$tmp/lock" 1
	rm gmon.out
	limited -l "$kb" as_user env LD_PRELOAD="$tmp/libprofil.so" "$tmp/lock" 21
	test ! -s "$tmp/err"
	counted leaf 21 "$tmp/lock" gmon.out
}

$CC -o "$calls" "$here/calls.c"
${CC% -pg*} -pthread -o "$tmp/plain" "$here/calls.c"
$CC -o "$tmp/lock" "$here/lock.c"
${CC% -pg*} -fPIC -shared -I"$here/../../uapi" -o "$tmp/device.so" "$here/device.c"
# where another user finds them
cp "$lib/libprofil.so" "$tmp"
chmod 755 "$tmp"
check 'ulimit -v: a program runs, and what is left out is told' address_space
check 'ulimit -d: so does one' data
check 'without a limit bins are small, and nothing is told' enough
check 'with one, those of the program are still small, those of libraries larger' program_first
check 'mlockall() works where it does without' locked
plan
