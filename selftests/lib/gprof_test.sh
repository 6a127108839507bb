#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The runtime of gcc -pg, without the device: calls, and files that gprof reads.
# Usage: gprof_test.sh LIBDIR COMPILER...
set -eu

here=$(cd "$(dirname "$0")" && pwd)
lib=$(cd "$1" && pwd)
shift
plain="$* -O2"
CC="$* -O2 -pg -pthread"
# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$here/tap.sh"
# shellcheck source-path=SCRIPTDIR source=gprof.sh
. "$here/gprof.sh"
export PROFIL_QUIET=1

# takeover NAME FLAG...
takeover() {
	program=$tmp/$1
	shift
	$CC "$@" -o "$program" "$here/calls.c"
	run "$program" threads 1 12345
	counted leaf 12345 "$program" "$tmp/run/gmon.out"
}

# linked FLAG...: without a word of the linker
linked() {
	$CC "$@" -o "$tmp/linked" "$here/calls.c" -L"$lib" -lprofil >"$tmp/link" 2>&1
	test ! -s "$tmp/link"
	rm -rf "$tmp/run"
	mkdir "$tmp/run"
	(cd "$tmp/run" && LD_LIBRARY_PATH=$lib "$tmp/linked" threads 1 54321)
	counted leaf 54321 "$tmp/linked" "$tmp/run/gmon.out"
}

# resolver FLAG...: the program, whose resolvers call mcount when there is nothing yet
resolver() {
	$CC -o "$tmp/resolver" "$here/resolver.c" "$@"
}

resolver_preloaded() {
	for flag in -mno-fentry -mfentry; do
		resolver $flag
		run "$tmp/resolver" 41
		counted leaf 41 "$tmp/resolver" "$tmp/run/gmon.out"
	done
}

# resolver_linked FLAG...
resolver_linked() {
	resolver -L"$lib" -lprofil "$@"
	rm -rf "$tmp/run"
	mkdir "$tmp/run"
	(cd "$tmp/run" && LD_LIBRARY_PATH=$lib "$tmp/resolver" 42)
	counted leaf 42 "$tmp/resolver" "$tmp/run/gmon.out"
}

four_threads() {
	run "$tmp/calls" threads 4 300000
	counted leaf 1200000 "$tmp/calls" "$tmp/run/gmon.out"
}

# More than there are tables for: the others share one.
many_threads() {
	run "$tmp/calls" together 3000 100 2>"$tmp/err"
	cat "$tmp/err"
	test ! -s "$tmp/err"
	counted leaf 300000 "$tmp/calls" "$tmp/run/gmon.out"
}

signal_handlers() {
	num=$(run "$tmp/calls" signals 2000)
	counted leaf "$num" "$tmp/calls" "$tmp/run/gmon.out"
}

# Each child has counts of its own from zero, in a file of its own.
children() {
	run "$tmp/calls" fork 20 17
	test "$(find "$tmp/run" -name 'gmon.out.*' | wc -l)" = 20
	for file in "$tmp"/run/gmon.out.*; do
		counted leaf 17 "$tmp/calls" "$file"
	done
	counted leaf 17 "$tmp/calls" "$tmp/run/gmon.out"
}

two_threads_of_a_child() {
	run "$tmp/calls" child 20000000
	counted leaf 40000000 "$tmp/calls" "$tmp"/run/gmon.out.*
}

# It counts in the table of a thread of its parent, which no other one may take over.
vfork_children() {
	$CC -o "$tmp/vfork" "$here/vfork.c"
	run "$tmp/vfork" grown 20000000
	counted leaf $((1 + 1024 + 2 * 20000000)) "$tmp/vfork" "$tmp/run/gmon.out"
	run "$tmp/vfork" first 20000000
	counted leaf $((1 + 1 + 3 * 20000000)) "$tmp/vfork" "$tmp/run/gmon.out"
}

# More arcs than a table has at its beginning.
many_arcs() {
	run "$tmp/calls" many 9
	counted busy $((512 * 9)) "$tmp/calls" "$tmp/run/gmon.out"
	counted leaf $((171 * 9)) "$tmp/calls" "$tmp/run/gmon.out"
}

cleanup_twice() {
	run "$tmp/calls" twice
	counted leaf 1 "$tmp/calls" "$tmp/run/gmon.out"
}

switched_off() {
	run "$tmp/calls" switched 99
	counted leaf 2 "$tmp/calls" "$tmp/run/gmon.out"
}

# What a thread locks it unlocks, though another begins meanwhile.
own_lock() {
	$plain -pthread -o "$tmp/owner" "$here/owner.c" -L"$lib" -lprofil -Wl,-rpath,"$lib"
	run "$tmp/owner"
}

# 200000 samples, 100 of which are a second.
big_counts() {
	${CC% -pg*} -no-pie -I"$here/../../libwrap/gmon" -o "$tmp/big" "$here/big.c" "$lib/libprofil.a"
	(cd "$tmp/run" && rm -f gmon.out && "$tmp/big" 4)
	gprof -b -p "$tmp/big" "$tmp/run/gmon.out" | grep -E ' 2000\.00 .* work$'
}

# Bound before it runs: lazy binding changes a register itself.
registers() {
	for flag in -mno-fentry -mfentry; do
		$CC $flag -z now -o "$tmp/regs" "$here/regs.c"
		run "$tmp/regs"
		counted variadic 3 "$tmp/regs" "$tmp/run/gmon.out"
	done
}

# Bound before, for ld.so is not stepped through.
forks_amid_calls() {
	for flag in -mno-fentry -mfentry; do
		$CC $flag -z now -o "$tmp/steps" "$here/steps.c"
		run "$tmp/steps"
		counted leaf 2 "$tmp/steps" "$tmp/run/gmon.out"
	done
}

prefix() {
	run env GMON_OUT_PREFIX=name "$tmp/calls" fork 3 5
	test "$(find "$tmp/run" -name 'name.*[0-9]' | wc -l)" = 4
	test ! -e "$tmp/run/gmon.out"
}

no_place() {
	(cd "$tmp/run" && GMON_OUT_PREFIX=/nowhere/name LD_PRELOAD=$lib/libprofil.so \
		"$tmp/calls" threads 1 1 2>"$tmp/err")
	grep -E '^profil: cannot write /nowhere/name\.[0-9]+: No such file or directory; ' "$tmp/err"
	test "$(wc -l <"$tmp/err")" = 1
}

# More places than there is room for: each call is in the file, or told.
no_memory() {
	run env PROFIL_ARCS=4 "$tmp/calls" many 3 2>"$tmp/err"
	grep -E '^profil: [0-9]+ calls are not counted: no memory' "$tmp/err"
	lost=$(sed -n 's/^profil: \([0-9]*\) calls .*/\1/p' "$tmp/err")
	for name in busy leaf many; do
		lost=$((lost + $(calls_of "$name" "$tmp/calls" "$tmp/run/gmon.out")))
	done
	test "$lost" = $(((512 + 171 + 1) * 3))
}

# bare HOW TIMES FLAG...: so many times a number of calls that grow a table more than once
bare() {
	how=$1 times=$2
	shift 2
	$CC -o "$tmp/bare" "$here/bare.c" "$@"
	run "$tmp/bare" "$how" 1024
	counted leaf $((1024 * times)) "$tmp/bare" "$tmp/run/gmon.out"
}

confined() {
	for flag in -mno-fentry -mfentry; do
		bare seccomp 1 $flag
		bare handler 2 $flag
	done
}

other_pointers() {
	for flag in -mno-fentry -mfentry; do
		bare pointer 3 $flag
	done
	bare pointer 3 -fsanitize-coverage=trace-pc -L"$lib" -lprofil_bb -lprofil -Wl,-rpath,"$lib"
}

arcs_not_understood() {
	run env PROFIL_ARCS=many "$tmp/calls" many 3 2>"$tmp/err"
	test "$(cat "$tmp/err")" = 'profil: cannot understand many in PROFIL_ARCS; give a number of KiB, as 65536'
	counted busy $((512 * 3)) "$tmp/calls" "$tmp/run/gmon.out"
}

# No space: neither half a file nor the folder full of them.
full_disk() {
	rm -rf "$tmp/run"
	mkdir "$tmp/run"
	(cd "$tmp/run" && ulimit -f 1 && trap '' XFSZ &&
		LD_PRELOAD=$lib/libprofil.so "$tmp/calls" many 1 2>"$tmp/err")
	grep '^profil: cannot write gmon.out: File too large; ' "$tmp/err"
	test -z "$(ls "$tmp/run")"
}

# The files say nothing of a run that is not theirs.
earlier_file() {
	rm -rf "$tmp/run"
	mkdir "$tmp/run"
	echo old >"$tmp/run/gmon.out"
	ln "$tmp/run/gmon.out" "$tmp/run/held"
	(cd "$tmp/run" && LD_PRELOAD=$lib/libprofil.so "$tmp/calls" threads 1 3)
	test "$(cat "$tmp/run/held")" = old
	counted leaf 3 "$tmp/calls" "$tmp/run/gmon.out"
}

says_no_device() {
	test ! -e /dev/profil || return 0
	run env PROFIL_QUIET=0 "$tmp/calls" threads 1 1 2>"$tmp/err"
	grep '^profil: cannot open /dev/profil: ' "$tmp/err"
	test "$(wc -l <"$tmp/err")" = 1
}

# with_device VARIABLE=VALUE...: one that counts nothing, and is started twice
with_device() {
	${CC% -pg*} -fPIC -shared -I"$here/../../uapi" -o "$tmp/device.so" "$here/device.c"
	run env LD_PRELOAD="$tmp/device.so:$lib/libprofil.so" "$@" \
		"$tmp/calls" switched 9 2>"$tmp/err"
	counted leaf 2 "$tmp/calls" "$tmp/run/gmon.out"
	cat "$tmp/err"
}

# refused ERRNO VARIABLE=VALUE...: with a device that starts nothing
refused() {
	refuse=$1
	shift
	with_device REFUSE="$refuse" "$@"
}

# Numbers as errno has them on all machines.
says_no_profile() {
	for reason in '28:No space left on device; raise max_profiles_user' \
		'12:Cannot allocate memory; raise its limit (ulimit -v)' \
		'11:Resource temporarily unavailable; raise its limit (ulimit -l)' \
		'19:No such device; see ERRORS in profil(4)'; do
		refused "${reason%%:*}" PROFIL_QUIET=0
		grep -F "profil: cannot start a profile with /dev/profil: ${reason#*:}" "$tmp/err"
		test "$(wc -l <"$tmp/err")" = 1
	done
	refused 28 PROFIL_QUIET=1
	test ! -s "$tmp/err"
}

# rate_of FILE: the word in its first record
rate_of() {
	od -A n -t u4 -j 41 -N 4 "$1" | tr -d ' '
}

# asked "RATE SOURCE JITTER" RATE VARIABLE=VALUE...: both STARTs after one QUERY, and
# the rate of the file
asked() {
	start=$1 rate=$2
	shift 2
	with_device PROFIL_QUIET=0 "$@"
	printf 'query\nstart %s\nstart %s\n' "$start" "$start" | diff -u - "$tmp/err"
	test "$(rate_of "$tmp/run/gmon.out")" = "$rate"
}

rates() {
	asked '0 0 0' 250 PROFIL_VERBOSE=0
	asked '50 0 0' 50 PROFIL_RATE=50
	asked '250 0 0' 250 PROFIL_RATE=250
	asked '5000 1 100' 5000 PROFIL_RATE=5000
	asked '250 1 100' 250 PROFIL_SOURCE=timer
	asked '50 1 100' 50 PROFIL_SOURCE=timer PROFIL_RATE=50
	asked '0 0 0' 250 PROFIL_SOURCE=tick
}

# rate_refused LINE VARIABLE=VALUE...
rate_refused() {
	line=$1
	shift
	with_device PROFIL_QUIET=0 "$@"
	printf 'query\nprofil: %s\nstart 0 0 0\nstart 0 0 0\n' "$line" | diff -u - "$tmp/err"
	test "$(rate_of "$tmp/run/gmon.out")" = 250
}

rates_refused() {
	rate_refused "PROFIL_RATE=1000 is above the tick's 250 a second; PROFIL_SOURCE=timer gives up to 10000" \
		PROFIL_RATE=1000 PROFIL_SOURCE=tick
	rate_refused "PROFIL_RATE=20000 is above the timer's 10000 a second; PROFIL_RATE=10000 is the most" \
		PROFIL_RATE=20000
	rate_refused 'cannot understand PROFIL_RATE=5k; type the samples of a second, as in PROFIL_RATE=1000' \
		PROFIL_RATE=5k PROFIL_SOURCE=timer
	rate_refused 'cannot understand PROFIL_SOURCE=clock; type PROFIL_SOURCE=tick or PROFIL_SOURCE=timer' \
		PROFIL_SOURCE=clock
}

# No file has a rate where nothing was started.
no_rate() {
	refused 28 PROFIL_RATE=5000
	test "$(rate_of "$tmp/run/gmon.out")" = 100
}

verbose_rate() {
	with_device PROFIL_VERBOSE=1 PROFIL_RATE=50
	test "$(tail -n 1 "$tmp/err")" = 'profil: of 200 samples 150 are in files, 40 in no object, 10 lost; the rate is 50 a second'
	with_device PROFIL_VERBOSE=1
	grep 'the rate is 250 a second$' "$tmp/err"
}

# says_uncounted STATEMENT: one line of a program without -pg; none unless it is asked for
says_uncounted() {
	echo "int main(void) { $1; }" >"$tmp/plain.c"
	$plain -include unistd.h -o "$tmp/a plain one" "$tmp/plain.c"
	LD_PRELOAD=$lib/libprofil.so "$tmp/a plain one" 2>"$tmp/err"
	test ! -s "$tmp/err"
	(cd "$tmp" && PROFIL_VERBOSE=1 LD_PRELOAD=$lib/libprofil.so './a plain one' 2>"$tmp/err")
}

uncounted() {
	says_uncounted 'return 0'
	echo 'profil: ./a plain one is not counted: it was not compiled with gcc -pg, and it never' \
		'called profil(); the command "profil run -- ./a plain one" counts it' | diff - "$tmp/err"
	says_uncounted 'static unsigned short bin; return profil(&bin, 2, 0, 65536) > 0'
	test ! -s "$tmp/err"
	test ! -e "$tmp/gmon.out"
}

# seconds PROGRAM FILE: in all functions
seconds() {
	gprof -b -p "$@" | awk '$3 ~ /^[0-9.]+$/ { sum += $3 } END { print sum + 0 }'
}

# Some, however fast the machine is: calls alone take their time in the library.
fallback() {
	test ! -e /dev/profil || return 0
	for interval in 1000 0.01; do
		run env PROFIL_QUIET=0 PROFIL_FALLBACK=signal PROFIL_INTERVAL=$interval \
			PROFIL_RATE=5000 PROFIL_SOURCE=clock "$tmp/calls" second 1000 2>"$tmp/err"
		test ! -s "$tmp/err"
		test "$(rate_of "$tmp/run/gmon.out")" = 100
		counted leaf 1000 "$tmp/calls" "$tmp/run/gmon.out"
		seconds "$tmp/calls" "$tmp/run/gmon.out"
		test "$(seconds "$tmp/calls" "$tmp/run/gmon.out" | tr -d .0)"
	done
	run "$tmp/calls" second 1000
	test "$(seconds "$tmp/calls" "$tmp/run/gmon.out")" = 0
}

# Five samples, and the one amid which a file was written.
fallback_amid() {
	test ! -e /dev/profil || return 0
	$CC -o "$tmp/ends" "$here/ends.c"
	$plain -fPIC -shared -o "$tmp/handler.so" "$here/handler.c"
	run env LD_PRELOAD="$lib/libprofil.so:$tmp/handler.so" PROFIL_FALLBACK=signal PROFIL_SIGNAL=USR1 \
		"$tmp/ends" taken 1
	test "$(samples_of "$tmp/run/gmon.out")" = 6
}

# Where the start-up file does not expect any.  Without -g, gprof looks at .text alone.
beyond_etext() {
	test ! -e /dev/profil || return 0
	$CC -g -Wl,--section-start=.second=0x800000 -o "$tmp/beyond" "$here/calls.c"
	nm "$tmp/beyond" | awk '$3 == "second" { late = $1 } $3 == "etext" { end = $1 }
		END { exit !(late > end) }'
	run env PROFIL_FALLBACK=signal "$tmp/beyond" second 10
	test "$(gprof -b -p "$tmp/beyond" "$tmp/run/gmon.out" | awk '$NF == "second" { print $3 * 100 }')" -gt 5
}

check 'a program is taken over by LD_PRELOAD' takeover calls
check 'so is one that is not position independent' takeover nopie -no-pie -fno-pie
check 'and one with -mfentry' takeover fentry -mfentry
check 'a program is linked to the library' linked
check 'a static one too' linked -static
check 'and a static one that is position independent' linked -static-pie
check 'resolvers of ifunc may call mcount' resolver_preloaded
check 'so may those of a program that is linked to the library' resolver_linked
check 'and of a static one' resolver_linked -static
check 'and of a static one that is position independent' resolver_linked -static-pie
check 'and of one with blocks' resolver_linked -fsanitize-coverage=trace-pc -lprofil_bb
check 'and of a static one with blocks' resolver_linked -fsanitize-coverage=trace-pc -static \
	-lprofil_bb -lprofil
check 'no call of four threads is lost' four_threads
check 'nor of three thousand' many_threads
check 'no call of a signal handler is lost' signal_handlers
check 'forked children count from zero, each for itself' children
check 'threads of a child lose none' two_threads_of_a_child
check 'nor do threads of a parent, after a child of vfork()' vfork_children
check 'arcs may be many' many_arcs
check '_mcleanup() may be called twice' cleanup_twice
check 'moncontrol(0) counts nothing' switched_off
check 'and may be called while another thread begins the profile' own_lock
check 'counts may be larger than a bin of the file' big_counts
check 'mcount leaves all registers alone' registers
check 'and a signal handler may fork amid it' forks_amid_calls
check 'GMON_OUT_PREFIX is as in the C library' prefix
check 'a file that cannot be written is told, with the reason' no_place
check 'calls that found no memory are told' no_memory
check 'but for PROFIL_ARCS that says nothing' arcs_not_understood
check 'calls need no system call, nor a thread that had some before' confined
check 'nor the thread pointer of the C library' other_pointers
check 'a full disk leaves no half file' full_disk
check 'a file is replaced, not overwritten' earlier_file
check 'one line says that there is no device' says_no_device
check 'or that it starts no profile, and why' says_no_profile
check 'PROFIL_RATE and PROFIL_SOURCE are what the file says, and chosen once' rates
check 'what cannot be had of them is told, and every tick taken' rates_refused
check 'a file of no samples says 100' no_rate
check 'PROFIL_VERBOSE tells the rate' verbose_rate
check 'and that a program without -pg is not counted' uncounted
check 'PROFIL_FALLBACK=signal has the C library count' fallback
check 'each sample once, though a file is written amid it' fallback_amid
check 'also code that the linker has put beyond etext' beyond_etext
plan
