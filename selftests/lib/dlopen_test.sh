#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Shared libraries of gcc -pg, also in programs that are not, and such as come and
# go; without the device.
# Usage: dlopen_test.sh LIBDIR COMPILER...
set -eu

here=$(cd "$(dirname "$0")" && pwd)
lib=$(cd "$1" && pwd)
shift
CC="$* -O2"
# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$here/tap.sh"
# shellcheck source-path=SCRIPTDIR source=gprof.sh
. "$here/gprof.sh"
export PROFIL_QUIET=1
host=$tmp/host

# library FILE FUNCTION FLAG...
library() {
	file=$1 function=$2
	shift 2
	mkdir -p "${file%/*}"
	$CC -pg -fPIC -shared -DWORK="$function" -o "$file" "$here/plug.c" "$@"
}

# files NAME...: those, and no others
files() {
	(cd "$tmp/run" && ls -A) >"$tmp/have"
	printf '%s\n' "$@" | sort | diff -u - "$tmp/have"
}

# Both begin at the first call, whoever makes it.
linked() {
	$CC -DLINKED -o "$tmp/linked" "$here/host.c" -L"$tmp/a" -la -Wl,-rpath,"$tmp/a"
	run "$tmp/linked" 11
	files gmon.out gmon.out.liba.so
	counted in_a 11 "$tmp/a/liba.so" "$tmp/run/gmon.out.liba.so"
}

# As a library that the program has, it is relocated and begins before libprofil.
linked_early() {
	library "$tmp/a/libearly.so" in_early -DEARLY=5 -DRESOLVED
	$CC -DLINKED -o "$tmp/linked" "$here/host.c" -L"$tmp/a" -learly -Wl,-rpath,"$tmp/a"
	run "$tmp/linked" 11
	counted in_early 16 "$tmp/a/libearly.so" "$tmp/run/gmon.out.libearly.so"
}

opened() {
	for program in "$host" "$tmp/host-pg"; do
		run "$program" "$tmp/a/liba.so" 12
		counted in_a 12 "$tmp/a/liba.so" "$tmp/run/gmon.out.liba.so"
	done
}

closed() {
	run "$host" "$tmp/a/liba.so" 13 close
	counted in_a 13 "$tmp/a/liba.so" "$tmp/run/gmon.out.liba.so"
}

# They have the same size, and so the same place, when libprofil has its memory.
same_place() {
	run "$host" "$tmp/a/early.so" close "$tmp/a/liba.so" 14 close "$tmp/a/libb.so" 15 close "$tmp/a/liba.so" 16 2>"$tmp/places"
	test "$(sed 1d "$tmp/places" | sort -u | wc -l)" = 1
	files gmon.out gmon.out.early.so gmon.out.liba.so gmon.out.libb.so
	counted in_a 30 "$tmp/a/liba.so" "$tmp/run/gmon.out.liba.so"
	counted in_b 15 "$tmp/a/libb.so" "$tmp/run/gmon.out.libb.so"
}

# again N FILE: opens it N times, each time with one call and a look at the memory
again() {
	num=$1 file=$2
	set --
	while [ $# -lt $((num * 4)) ]; do
		set -- "$file" 1 size close "$@"
	done
	run "$host" "$@" 2>"$tmp/places" >"$tmp/sizes"
	test "$(sort -u "$tmp/places" | wc -l)" = 1
	files gmon.out "gmon.out.${file##*/}"
}

# Its calls are written once, however often it came.
back() {
	again 2 "$tmp/a/liba.so"
	cp "$tmp/run/gmon.out.liba.so" "$tmp/twice"
	again 300 "$tmp/a/liba.so"
	counted in_a 300 "$tmp/a/liba.so" "$tmp/run/gmon.out.liba.so"
	test "$(wc -c <"$tmp/run/gmon.out.liba.so")" = "$(wc -c <"$tmp/twice")"
	test "$(sed 1,9d "$tmp/sizes" | sort -u | wc -l)" = 1
}

# So many that memory for them would fit where the library was.
back_with_many() {
	{
		echo 'static __attribute__((noinline)) void leaf(void) { __asm__ volatile(""); }'
		echo 'void plug(long num) { while (num--) {'
		yes 'leaf();' | head -n 3000
		echo '} } char space[1 << 20];'
	} >"$tmp/many.c"
	$CC -pg -fPIC -shared -o "$tmp/a/many.so" "$tmp/many.c"
	again 20 "$tmp/a/many.so"
	counted leaf 60000 "$tmp/a/many.so" "$tmp/run/gmon.out.many.so"
}

# Before a constructor calls anything.
same_place_early() {
	run "$host" "$tmp/a/liba.so" close "$tmp/a/early.so" 1 close "$tmp/a/later.so" 2
	counted in_early 6 "$tmp/a/early.so" "$tmp/run/gmon.out.early.so"
	counted in_later 7 "$tmp/a/later.so" "$tmp/run/gmon.out.later.so"
}

same_name() {
	run "$host" "$tmp/a/liba.so" 17 "$tmp/c/liba.so" 18
	files gmon.out gmon.out.liba.so gmon.out.liba.so-2
	counted in_a 17 "$tmp/a/liba.so" "$tmp/run/gmon.out.liba.so"
	counted in_c 18 "$tmp/c/liba.so" "$tmp/run/gmon.out.liba.so-2"
}

# What was closed before is the parent's.
child() {
	run "$host" "$tmp/a/liba.so" 19 close "$tmp/a/libb.so" 1 fork 20
	test "$(find "$tmp/run" -name 'gmon.out.*[0-9].lib*' | wc -l)" = 1
	counted in_a 19 "$tmp/a/liba.so" "$tmp/run/gmon.out.liba.so"
	counted in_b 20 "$tmp/a/libb.so" "$tmp"/run/gmon.out.*[0-9].libb.so
}

# paths N: of so many libraries that differ in their names alone
paths() {
	seq -f "$tmp/a/of%g.so" "$1" >"$tmp/paths"
	# shellcheck disable=SC2016 # expanded there
	xargs -n 500 sh -c 'tee "$@" <"$0" >/dev/null' "$tmp/a/liba.so" <"$tmp/paths"
	cat "$tmp/paths"
}

many_names() {
	# shellcheck disable=SC2046 # our own names, without spaces
	run "$host" $(paths 4100 | sed 's/$/ close/; $s/ / 1 /')
	counted in_a 1 "$tmp/a/liba.so" "$tmp/run/gmon.out.of4100.so"
}

# with_regions N WORD...: the device takes no more of them than that
with_regions() {
	regions=$1
	shift
	$CC -fPIC -shared -I"$here/../../uapi" -o "$tmp/device.so" "$here/device.c"
	run env PROFIL_QUIET=0 REGIONS="$regions" LD_PRELOAD="$tmp/device.so:$lib/libprofil.so" \
		"$host" "$@" >"$tmp/told" 2>&1
	grep '^query' "$tmp/told"
	grep -vE '^(0x|query|start .)' "$tmp/told" >"$tmp/err" || :
}

# What is closed is no region of a profile, and what is too much is said, once.
many_regions() {
	# shellcheck disable=SC2046
	with_regions 20 $(paths 30 | sed 's/$/ close/')
	test ! -s "$tmp/err"
	# shellcheck disable=SC2046
	with_regions 20 $(paths 30)
	cat "$tmp/err"
	grep -E '^profil: only 20 of the program and its 2[0-9] libraries are counted: ' "$tmp/err"
	test "$(wc -l <"$tmp/err")" = 1
}

# Of the loader's locks one is not renewed in a child: it may be held for ever.
not_kept() {
	for program in "$host" "$tmp/host-pg"; do
		run timeout 20 "$program" "$tmp/a/liba.so" 1 hold fork 34
		counted in_a 34 "$tmp/a/liba.so" "$tmp"/run/gmon.out.*[0-9].liba.so
		run timeout 20 "$program" "$tmp/a/liba.so" 1 inside 35
		counted in_a 35 "$tmp/a/liba.so" "$tmp"/run/gmon.out.*[0-9].liba.so
	done
	run timeout 20 "$host" hold fork
	run timeout 20 "$host" inside
	run timeout 20 env PROFIL_INTERVAL=0.01 "$tmp/host-pg" "$tmp/a/liba.so" hold fork 36 dump
	counted in_a 36 "$tmp/a/liba.so" "$tmp"/run/gmon.out.*[0-9].liba.so
}

# Whenever memory is unmapped, a child has something else at its place.
forked_amid() {
	$CC -fPIC -shared -o "$tmp/forks.so" "$here/forks.c"
	for rest in '1 dump 1 dump' '1 close' "$(paths 20 | xargs) 1"; do
		# shellcheck disable=SC2086 # words
		run env FORK=unmap PROFIL_RESET=1 LD_PRELOAD="$tmp/forks.so:$lib/libprofil.so" \
			"$tmp/host-pg" "$tmp/a/many.so" $rest
	done
}

# Whatever it may do later: what it may read was asked when its parent opened that.
not_of_its_parent() {
	$CC -fPIC -shared -o "$tmp/forks.so" "$here/forks.c"
	for words in 'wait' "fork $tmp/a/liba.so 1 close"; do
		# shellcheck disable=SC2086 # words
		run env FORK=open PROFIL_INTERVAL=0.01 LD_PRELOAD="$tmp/forks.so:$lib/libprofil.so" \
			timeout 20 "$tmp/host-pg" $words
	done
}

# Also as the first of the program; its calls are of no other child.
opened_in_child() {
	for program in "$host" "$tmp/host-pg"; do
		run "$program" fork "$tmp/a/liba.so" 37 close "$tmp/a/libb.so" 38
		counted in_a 37 "$tmp/a/liba.so" "$tmp"/run/gmon.out*.liba.so
		counted in_b 38 "$tmp/a/libb.so" "$tmp"/run/gmon.out*.libb.so
	done
	ln -sf liba.so "$tmp/a/link.so"
	run "$host" "$tmp/a/link.so" 1 fork dump 39
	counted in_a 39 "$tmp/a/liba.so" "$tmp"/run/gmon.out.*[0-9].link.so
}

# The first library is not taken for the program: it would be closed, and counts no more; and
# what the program says of paths would be nobody's.
program_not_known() {
	# where no other is before it
	library "$tmp/a/low.so" in_low -Wl,-Ttext-segment=0x10000000
	run "$tmp/host-pg" anon "$tmp/a/low.so" 1 fork "$tmp/a/low.so" 20 "$tmp/a/low.so" 17
	counted in_low 37 "$tmp/a/low.so" "$tmp"/run/gmon.out.*[0-9].low.so
	$CC -o "$tmp/run-host" "$here/host.c" -Wl,--enable-new-dtags,-rpath,"$tmp/a"
	run "$tmp/run-host" anon fork liba.so 22
}

# No lock keeps it there, and not all that has the form of one was loaded.
not_there() {
	$CC -fPIC -shared -DWORK=in_far -o "$tmp/a/far.so" "$here/plug.c" \
		-Wl,--section-start=.dynamic=0x2000000
	$CC -fPIC -shared -DWORK=in_far -o "$tmp/a/torn.so" "$here/plug.c" \
		-Wl,--section-start=.dynstr=0x800000
	for words in "flat $tmp/a/far.so fork" "$tmp/a/torn.so fork hide"; do
		# shellcheck disable=SC2086 # words
		run "$host" $words
		test -z "$(ls -A "$tmp/run")"
		# shellcheck disable=SC2086
		run "$host" $words "$tmp/a/libb.so" 23
		counted in_b 23 "$tmp/a/libb.so" "$tmp"/run/gmon.out*.libb.so
	done
	run env LD_LIBRARY_PATH="$tmp/a" "$host" flat "$tmp/a/far.so" fork libb.so 24
	counted in_b 24 "$tmp/a/libb.so" "$tmp"/run/gmon.out*.libb.so
}

# Where nothing is known, and a child does not become worse by it.
not_read() {
	$CC -fPIC -shared -o "$tmp/fails.so" "$here/fails.c"
	$CC -o "$tmp/run-host" "$here/host.c" -Wl,--enable-new-dtags,-rpath,"$tmp/a"
	run env READV=1 LD_PRELOAD="$tmp/fails.so:$lib/libprofil.so" "$tmp/run-host" fork liba.so 25 close
	run env READV=1 LD_PRELOAD="$tmp/fails.so:$lib/libprofil.so" \
		"$tmp/host-pg" "$tmp/a/liba.so" 1 fork "$tmp/a/liba.so" 26
	counted in_a 26 "$tmp/a/liba.so" "$tmp"/run/gmon.out.*[0-9].liba.so
}

# Of what it opened itself it knows that it is there.
deepbind_in_child() {
	library "$tmp/a/deep.so" in_deep
	run "$host" fork deep "$tmp/a/deep.so" 40
	counted in_deep 40 "$tmp/a/deep.so" "$tmp"/run/gmon.out*.deep.so
}

constructor() {
	run "$host" "$tmp/a/early.so" 21
	counted in_early 26 "$tmp/a/early.so" "$tmp/run/gmon.out.early.so"
}

# What is between .dynsym and .dynstr may not be there: patchelf moves one of them.
apart() {
	library "$tmp/a/apart.so" in_apart -Wl,--section-start=.dynstr=0x800000
	run "$host" "$tmp/a/apart.so" 31
	counted in_apart 31 "$tmp/a/apart.so" "$tmp/run/gmon.out.apart.so"
}

strings_first() {
	library "$tmp/a/first.so" in_first -Wl,--section-start=.dynsym=0x800000 \
		-Wl,--section-start=.dynstr=0x1000
	run "$host" "$tmp/a/first.so" 32
	counted in_first 32 "$tmp/a/first.so" "$tmp/run/gmon.out.first.so"
}

# Its hash table is empty, and does not tell how many symbols it needs.
exports_nothing() {
	library "$tmp/a/hidden.so" in_hidden -DEARLY=33 -fvisibility=hidden -Wl,--hash-style=gnu
	run "$host" "$tmp/a/hidden.so"
	counted in_hidden 33 "$tmp/a/hidden.so" "$tmp/run/gmon.out.hidden.so"
}

# Where the caller of dlopen() has its libraries.
runpath() {
	for flag in --enable-new-dtags --disable-new-dtags; do
		$CC -o "$tmp/run-host" "$here/host.c" -Wl,$flag,-rpath,"$tmp/a"
		run "$tmp/run-host" liba.so 22
		counted in_a 22 "$tmp/a/liba.so" "$tmp/run/gmon.out.liba.so"
	done
}

# shellcheck disable=SC2016 # for the linker
origin() {
	run "$host" '$ORIGIN/a/liba.so' 23 close
	counted in_a 23 "$tmp/a/liba.so" "$tmp/run/gmon.out.liba.so"
}

# Its own libraries come first then, and among them the C library.
deepbind() {
	for flag in -z,lazy -z,now,-z,relro; do
		library "$tmp/a/deep.so" in_deep -Wl,$flag
		run "$host" deep "$tmp/a/deep.so" 40
		counted in_deep 40 "$tmp/a/deep.so" "$tmp/run/gmon.out.deep.so"
		$CC -fPIC -shared -DWORK=in_starts -DPROFIL -o "$tmp/a/starts.so" "$here/plug.c" -Wl,$flag
		$CC -fPIC -shared -I"$here/../../uapi" -o "$tmp/device.so" "$here/device.c"
		run env LD_PRELOAD="$tmp/device.so:$lib/libprofil.so" \
			"$host" deep "$tmp/a/starts.so" 41 2>"$tmp/err"
		grep '^start 100 0 0$' "$tmp/err"
	done
}

# While another thread loads, which has one lock of the loader and asks for the other.
deepbind_beside() {
	library "$tmp/a/deep.so" in_deep
	# shellcheck disable=SC2046 # our own names, without spaces
	run timeout 20 "$host" beside "$tmp/a/libb.so" deep $(yes "$tmp/a/deep.so 1" | head -n 300)
	counted in_deep 300 "$tmp/a/deep.so" "$tmp/run/gmon.out.deep.so"
}

# At once: a signal does not look for what is there.
noticed() {
	for file in "$tmp/a/liba.so" liba.so; do
		run env LD_LIBRARY_PATH="$tmp/a" PROFIL_EXIT=TERM "$host" "$file" 24 term ||
			test $? = 143
		counted in_a 24 "$tmp/a/liba.so" "$tmp/run/gmon.out.liba.so"
	done
}

# Calls are the C library's there, which the program had before; but it is not
# unmapped with a library that brings it, for it is needed until the end.
brings_it() {
	library "$tmp/a/brings.so" in_brings -L"$lib" -lprofil -Wl,-rpath,"$lib"
	rm -rf "$tmp/run"
	mkdir "$tmp/run"
	(cd "$tmp/run" && PROFIL_INTERVAL=0.01 "$host" "$tmp/a/brings.so" 1 close "$tmp/a/liba.so" 100000000)
	files gmon.out
}

nothing_of_pg() {
	$CC -fPIC -shared -DWORK=in_plain -o "$tmp/a/plain.so" "$here/plug.c"
	run "$host" "$tmp/a/plain.so" 27 close
	test -z "$(ls -A "$tmp/run")"
}

# started FUNCTION [THREADS]: by hand, without the start-up file of gcc -pg
started() {
	$CC -pg -DSTART="$1" -c -o "$tmp/byhand.o" "$here/byhand.c"
	$CC -pthread -o "$tmp/byhand" "$tmp/byhand.o"
	run "$tmp/byhand" 29 30 "${2:-1}"
}

# Addresses as in the program's file; the number follows the file's first 21 bytes.
by_hand_where() {
	for start in __monstartup monstartup; do
		started $start
		low=$(nm "$tmp/byhand" | awk '$3 == "leaf" { print $1 }')
		high=$(printf '%016x' $((0x$low + 64)))
		test "$(od -A n -t x8 -j 21 -N 16 "$tmp/run/gmon.out")" = " $low $high"
	done
}

by_hand_when() {
	started monstartup
	counted leaf 30 "$tmp/byhand" "$tmp/run/gmon.out"
}

# The others wait until it has begun.
by_hand_together() {
	for start in __monstartup monstartup; do
		test "$(started $start 4)" = 1
	done
	counted leaf 120 "$tmp/byhand" "$tmp/run/gmon.out"
}

dump_of_closed() {
	run env PROFIL_EXIT=_exit,TERM PROFIL_INTERVAL=0.01 "$host" "$tmp/a/liba.so" 28 close
	counted in_a 28 "$tmp/a/liba.so" "$tmp/run/gmon.out.liba.so"
}

# Of a library that is found by the thread of the interval alone: dlopen() was jumped to.
# The device takes no second START.
interval_reads_nothing() {
	$CC -fPIC -shared -o "$tmp/reads.so" "$here/reads.c"
	$CC -fPIC -shared -I"$here/../../uapi" -o "$tmp/device.so" "$here/device.c"
	$CC -pg -o "$tmp/run-host" "$here/host.c" -Wl,-rpath,"$tmp/a"
	run env PROFIL_INTERVAL=0.01 REFUSE=28 LD_PRELOAD="$tmp/reads.so:$tmp/device.so:$lib/libprofil.so" \
		timeout 20 "$tmp/run-host" liba.so 1 wait 2>"$tmp/err"
	cat "$tmp/err"
	test -z "$(grep reads "$tmp/err")"
}

# With a thread in dl_iterate_phdr() for as long as it takes: for the lock of that a child
# of this program would wait for ever.
interval_waits_for_no_lock() {
	run timeout 20 env PROFIL_INTERVAL=0.01 "$tmp/host-pg" hold wait term || test $? = 143
}

# The kernel and the C library have other names for it; the object is one, and nothing else
# is taken for one that has come or gone.
interval_by_kernel() {
	$CC -fPIC -shared -I"$here/../../uapi" -o "$tmp/device.so" "$here/device.c"
	$CC -pg -pthread -o "$tmp/run-host" "$here/host.c" -Wl,-rpath,"$tmp/a"
	ln -sf liba.so "$tmp/a/linka.so"
	for name in linka.so "$tmp/a/linka.so"; do
		run env PROFIL_INTERVAL=0.01 LD_PRELOAD="$tmp/device.so:$lib/libprofil.so" \
			timeout 20 "$tmp/run-host" wait "$name" 20 wait 22 dump wait 2>"$tmp/err"
		cat "$tmp/err"
		test "$(grep -c '^start ' "$tmp/err")" = 2
		test "$(find "$tmp/run" -type f | wc -l)" = 2
		counted in_a 42 "$tmp/a/liba.so" "$tmp"/run/gmon.out.li*a.so
	done
}

dump_leaves_errno() {
	test "$(run "$tmp/host-pg" "$tmp/a/liba.so" 31 dump)" = '0 77'
	files gmon.out gmon.out.liba.so
}

# The program's own file cannot be written; the library's can, after it.
dump_says_why() {
	test "$(run sh -c 'mkdir gmon.out; exec "$@"' sh "$tmp/host-pg" "$tmp/a/liba.so" 32 dump)" = \
		'-1 Is a directory'
	counted in_a 32 "$tmp/a/liba.so" "$tmp/run/gmon.out.liba.so"
}

library "$tmp/a/liba.so" in_a
library "$tmp/a/libb.so" in_b
library "$tmp/c/liba.so" in_c
library "$tmp/a/early.so" in_early -DEARLY=5
library "$tmp/a/later.so" in_later -DEARLY=5
$CC -pthread -o "$host" "$here/host.c"
$CC -pthread -pg -o "$tmp/host-pg" "$here/host.c" -lm
check 'a library of gcc -pg is counted in a program that is not' linked
check 'with its constructor, and in spite of resolvers' linked_early
check 'so is one that is opened' opened
check 'and one that is closed' closed
check 'of libraries that come to the same place each has its calls' same_place
check 'from its constructor on' same_place_early
check 'one that comes again and again needs no more memory, and one file' back
check 'also if it has many calls' back_with_many
check 'libraries of the same name have files of their own' same_name
check 'a child has nothing of what was closed before' child
check 'libraries may be many, one after the other' many_names
check 'more than a profile has regions are said, and others counted' many_regions
check 'a child ends, whoever was in dl_iterate_phdr() when it was made' not_kept
check 'and has its own memory, amid whatever it was made' forked_amid
check 'and nothing of the memory of its parent' not_of_its_parent
check 'libraries that a child opens and closes are noticed' opened_in_child
check 'also if the program is none of them' program_not_known
check 'or if what one has cannot be read' not_there
check 'or nothing can be' not_read
check 'or RTLD_DEEPBIND would pass this library by' deepbind_in_child
check 'calls of a constructor are counted' constructor
check 'a library is noticed whose strings are far from its symbols' apart
check 'or before them' strings_first
check 'or which exports nothing' exports_nothing
check 'dlopen() still searches where its caller says' runpath
check 'and knows its caller by ORIGIN' origin
check 'RTLD_DEEPBIND does not pass this library by' deepbind
check 'nor does it wait for a thread that loads another one' deepbind_beside
check 'a library is noticed when dlopen() returns' noticed
check 'a library brings libprofil, and leaves it there' brings_it
check 'a program without any of it writes nothing' nothing_of_pg
check 'a program that begins a profile by hand says of what' by_hand_where
check 'and counts from there on' by_hand_when
check 'once, whatever number of threads begin it' by_hand_together
check 'the interval tells of what is closed' dump_of_closed
check 'and reads nothing of the environment for it' interval_reads_nothing
check 'its thread waits for no lock of the loader' interval_waits_for_no_lock
check 'and knows a library by the place, whoever names it' interval_by_kernel
check 'profil_dump() leaves errno as it was' dump_leaves_errno
check 'or has the reason of the first file that failed' dump_says_why
plan
