#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Basic blocks, without the device: counts that are gcov's, in files that gprof
# reads.
# Usage: bb_test.sh LIBDIR COMPILER...
set -eu

here=$(cd "$(dirname "$0")" && pwd)
lib=$(cd "$1" && pwd)
shift
CC="$* -O0 -g -pthread"
gcov=gcov-$("$@" -dumpversion)
# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$here/tap.sh"
export PROFIL_QUIET=1 LD_LIBRARY_PATH="$lib"

# built NAME FLAG...: blocks.c, into $tmp/NAME; the linker is told one folder alone
built() {
	program=$tmp/$1
	shift
	# shellcheck disable=SC2086 # words
	env -u LD_LIBRARY_PATH $CC -fsanitize-coverage=trace-pc "$@" -o "$program" \
		"$here/blocks.c" -L"$lib" -lprofil_bb
}

# run PROGRAM ARGUMENT...: in a new folder
run() {
	rm -rf "$tmp/run"
	mkdir "$tmp/run"
	(cd "$tmp/run" && "$@")
}

# line_of TEXT [FILE]: which line says so
line_of() {
	grep -nF "/* $1 */" "$here/${2:-blocks.c}" | cut -d: -f1
}

# counts LINE PROGRAM FILE...: of the blocks of a line
counts() {
	line=$1
	shift
	gprof -b -l -C "$@" | sed -nE "s/^[^ ]*\\.c:$line: .* ([0-9]+) executions\$/\\1/p"
}

# reached TEXT N PROGRAM FILE...: the block of that line, so often
reached() {
	line=$(line_of "$1") want=$2
	shift 2
	test "$(counts "$line" "$@")" = "$want"
}

by_gcov() {
	mkdir "$tmp/gcov"
	(cd "$tmp/gcov" && $CC --coverage -o blocks "$here/blocks.c" && ./blocks lines &&
		$gcov -t ./*.gcda >lines)
	test "$(grep -c : "$tmp/gcov/lines")" -gt 100
}

# The source as gprof shows it, each line a line.
annotated() {
	gprof -b -l -A -x -z "$@" | awk '/^\*\*\* File .*\/blocks.c:$/ { inside = 1; next }
		/^Top / { inside = 0 } inside'
}

# Each line in a function but labels, which are no code: its blocks have its count;
# and where none begins, gprof shows the one before.  Prints how many lines.
same_as_gcov() {
	gprof -b -l -C "$@" >"$tmp/blocks.list"
	annotated "$@" >"$tmp/annotated"
	awk '
	FILENAME ~ /blocks.list$/ { split($1, at, ":"); of[at[2]] = of[at[2]] " " $(NF - 1) }
	FILENAME ~ /annotated$/ { shown[FNR] = $2 == "->" ? ($1 == "#####" ? 0 : $1) : "nothing" }
	FILENAME ~ /gcov.lines$/ && !/^ *-:/ {
		split($0, part, ":")
		line = part[2] + 0
		want = part[1] ~ /#/ ? 0 : part[1] + 0
		if ($0 !~ /:\t/ || /:$/)
			next
		num = split(line in of ? of[line] : shown[line], counts, " ")
		for (i = 1; i <= num; i++)
			if (counts[i] != want && ++bad)
				print "gcov says " want ", gprof " counts[i] ": " $0
		lines++
	}
	END { print lines + 0; exit bad > 0 }' "$tmp/blocks.list" "$tmp/annotated" "$tmp/gcov/lines"
}

equal() {
	built blocks
	run "$tmp/blocks" lines
	test "$(same_as_gcov "$tmp/blocks" "$tmp/run/gmon.out" | tee /dev/stderr)" -ge 60
}

# The calls have another form.
no_plt() {
	built noplt -fno-plt
	run "$tmp/noplt" lines
	same_as_gcov "$tmp/noplt" "$tmp/run/gmon.out"
}

never() {
	annotated "$tmp/blocks" "$tmp/run/gmon.out" >"$tmp/annotated"
	grep -E '^ +##### -> \s+sum = -sum;' "$tmp/annotated"
	grep -E '^ +##### -> \s+k = -n;' "$tmp/annotated"
	grep -E '^ +999 -> \s+sum \+= collatz' "$tmp/annotated"
}

first_and_last() {
	reached 'before all' 1 "$tmp/blocks" "$tmp/run/gmon.out"
	reached 'after all' 1 "$tmp/blocks" "$tmp/run/gmon.out"
}

# One file has all: the histogram, calls and blocks.
with_pg() {
	built pg -pg
	run "$tmp/pg" threads 1 77
	reached 'the turn' 77 "$tmp/pg" "$tmp/run/gmon.out"
	gprof -b -p "$tmp/pg" "$tmp/run/gmon.out" | awk '$NF == "turn" && $4 == 77' | grep .
	gprof -i "$tmp/pg" "$tmp/run/gmon.out" | grep -w '1 histogram record'
}

four_threads() {
	run "$tmp/blocks" threads 4 5000000
	reached 'the turn' 20000000 "$tmp/blocks" "$tmp/run/gmon.out"
}

signal_handlers() {
	num=$(run "$tmp/blocks" signals 2000)
	reached 'the turn' "$num" "$tmp/blocks" "$tmp/run/gmon.out"
}

forks_amid_blocks() {
	$CC -fsanitize-coverage=trace-pc -z now -o "$tmp/steps" "$here/steps.c" -L"$lib" -lprofil_bb
	run "$tmp/steps"
	test "$(counts "$(line_of 'a step' steps.c)" "$tmp/steps" "$tmp/run/gmon.out")" = 2
}

# In as many files as there is time for, each block is in one of them.
anew() {
	rounds=$(run env PROFIL_INTERVAL=0.01 PROFIL_RESET=1 "$tmp/blocks" anew 2 20000000)
	reached 'the turn' $((40000000 * rounds)) "$tmp/blocks" "$tmp"/run/gmon.out*
}

children() {
	run "$tmp/blocks" fork 5 13
	test "$(find "$tmp/run" -name 'gmon.out*' | wc -l)" = 6
	for file in "$tmp"/run/gmon.out*; do
		reached 'the turn' 13 "$tmp/blocks" "$file"
	done
}

static_too() {
	for pg in '' -pg; do
		# shellcheck disable=SC2086 # or no flag
		$CC -fsanitize-coverage=trace-pc -static $pg -o "$tmp/static" "$here/blocks.c" \
			-L"$lib" -lprofil_bb -lprofil
		run "$tmp/static" threads 2 50
		reached 'the turn' 100 "$tmp/static" "$tmp/run/gmon.out"
		test -n "$pg" || reached 'after all' 1 "$tmp/static" "$tmp/run/gmon.out"
	done
}

# Its own file, which the program has reached no block of.
shared_library() {
	$CC -fsanitize-coverage=trace-pc -fPIC -shared -Wl,-soname,libpart.so \
		-Dmain=part -o "$tmp/libpart.so" "$here/blocks.c" -L"$lib" -lprofil_bb
	echo 'int part(int, char **); int main(int argc, char **argv) { return part(argc, argv); }' |
		$CC -o "$tmp/user" -x c - -L"$tmp" -lpart -Wl,-rpath,"$tmp"
	run "$tmp/user" threads 1 31
	reached 'the turn' 31 "$tmp/libpart.so" "$tmp/run/gmon.out.libpart.so"
}

# After the C library, then, which has functions of the same names.
opened_later() {
	printf '%s\n' '#include <dlfcn.h>' 'int main(int argc, char **argv) {' \
		'int (*part)(int, char **) = dlsym(dlopen("libpart.so", RTLD_NOW), "part");' \
		'return part(argc, argv); }' | $CC -o "$tmp/opener" -x c - -Wl,-rpath,"$tmp"
	run "$tmp/opener" threads 1 37
	reached 'the turn' 37 "$tmp/libpart.so" "$tmp/run/gmon.out.libpart.so"
}

# plug NAME FLAG...: a library of plug.c
plug() {
	name=$1
	shift
	$CC -fsanitize-coverage=trace-pc -fPIC -shared -DWORK="in_$name" "$@" \
		-o "$tmp/$name.so" "$here/plug.c" -L"$lib" -lprofil_bb
}

# at_one_page ARGUMENT...: host with those
at_one_page() {
	run "$tmp/host" "$@" 2>"$tmp/places"
	test "$(sed 's/...$//' "$tmp/places" | sort -u | wc -l)" = 1
}

# turns CALLS N NAME: blocks of that library
turns() {
	set -- "$1" "$2" "$tmp/$3.so" "$tmp/run/gmon.out.$3.so"
	test "$(counts "$(line_of 'all turns' plug.c)" "$3" "$4")" = "$1"
	test "$(counts "$(line_of 'a turn' plug.c)" "$3" "$4")" = "$2"
}

same_place() {
	plug a
	plug b
	$CC -fsanitize-coverage=trace-pc -o "$tmp/host" "$here/host.c" -L"$lib" -lprofil_bb
	at_one_page "$tmp/a.so" 1000 close "$tmp/b.so" 2000
	turns 1 1000 a
	turns 1 2000 b
	at_one_page "$tmp/a.so" 1000 close "$tmp/b.so" 2000 close "$tmp/a.so" 500
	turns 2 1500 a
	turns 1 2000 b
}

# In a program that has nothing of it, the first one that is closed does not end the profile.
goes_on_when_closed() {
	plug a
	$CC -pg -fPIC -shared -DWORK=in_pg -o "$tmp/pg.so" "$here/plug.c"
	$CC -o "$tmp/plain" "$here/host.c"
	run env LD_PRELOAD="$lib/libprofil.so" "$tmp/plain" "$tmp/a.so" 1000 close "$tmp/pg.so" 13
	turns 1 1000 a
	gprof -b -p "$tmp/pg.so" "$tmp/run/gmon.out.pg.so" | awk '$NF == "in_pg" && $4 == 13' | grep .
}

# Though blocks are found in code, and its code is not what is there.
same_place_other_code() {
	plug early -DEARLY=5
	at_one_page "$tmp/a.so" 1000 close
	cp "$tmp/run/gmon.out.a.so" "$tmp/alone"
	at_one_page "$tmp/a.so" 1000 close "$tmp/early.so" 2000
	cmp "$tmp/run/gmon.out.a.so" "$tmp/alone"
	turns 2 2005 early
}

# Though the program names no function of libprofil.
before_libc() {
	printf '%s\n' '#define _GNU_SOURCE' '#include <dlfcn.h>' '#include <stdio.h>' \
		'int main(void) { Dl_info info; dladdr(dlsym(RTLD_DEFAULT, "profil"), &info);' \
		'return puts(info.dli_fname) < 0; }' |
		$CC -fsanitize-coverage=trace-pc -Wl,--as-needed -o "$tmp/whose" -x c - -L"$lib" \
			-lprofil_bb
	run "$tmp/whose" | grep -F libprofil.so
}

guards() {
	$CC -o "$tmp/guard" "$here/guard.c" -L"$lib" -lprofil_bb
	run "$tmp/guard"
	test "$(counts "$(line_of once guard.c)" "$tmp/guard" "$tmp/run/gmon.out")" = 1
	test "$(counts "$(line_of often guard.c)" "$tmp/guard" "$tmp/run/gmon.out")" = 1234
	test -z "$(counts "$(line_of never guard.c)" "$tmp/guard" "$tmp/run/gmon.out")"
}

# Where it can be had.  A function's first block is at its brace.
clang_itself() {
	for kind in trace-pc trace-pc-guard; do
		clang -O0 -g -pthread -fsanitize-coverage=bb,no-prune,$kind -c -o "$tmp/clang.o" \
			"$here/blocks.c"
		$CC -o "$tmp/clang" "$tmp/clang.o" -L"$lib" -lprofil_bb
		run "$tmp/clang" threads 3 71
		reached 'a call' 213 "$tmp/clang" "$tmp/run/gmon.out"
	done
}

# Where the linker leaves out what it thinks is not needed, and where it does not.
linked() {
	for way in as-needed no-as-needed; do
		built "$way" -pg "-Wl,--$way"
		run "$tmp/$way" threads 1 7
		reached 'the turn' 7 "$tmp/$way" "$tmp/run/gmon.out"
		built "$way" "-Wl,--$way"
		run "$tmp/$way" threads 1 9
		reached 'the turn' 9 "$tmp/$way" "$tmp/run/gmon.out"
	done
}

check 'gcov counts the lines of a program' by_gcov
check 'gprof shows the same counts, line by line' equal
check 'and the blocks that were never reached' never
check 'constructors and destructors count' first_and_last
check 'with -fno-plt all is the same' no_plt
check 'with -pg samples, calls and blocks are in one file' with_pg
check 'no block of four threads is lost' four_threads
check 'no block of a signal handler is lost' signal_handlers
check 'forked children count from zero, each for itself' children
check 'a signal handler may fork amid a count' forks_amid_blocks
check 'counts begin anew with each file, and none is lost' anew
check 'a static program has its blocks' static_too
check 'a shared library has its blocks in a file of its own' shared_library
check 'also one that is opened later' opened_later
check 'of libraries that come to the same place each has its blocks' same_place
check 'and none of code that came later' same_place_other_code
check 'when one is closed, others go on' goes_on_when_closed
check 'libprofil comes before the C library' before_libc
check "clang's guards count" guards
! command -v clang >/dev/null || check 'and those of clang itself' clang_itself
check 'it is enough to link libprofil_bb' linked
plan
