#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What gmon.out(5) says: of gprof, by files made by hand; of what writes them, by
# their bytes.
# Usage: format_test.sh LIBDIR COMPILER...
set -eu

here=$(cd "$(dirname "$0")" && pwd)
lib=$(cd "$1" && pwd)
shift
CC="$*"
# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$here/tap.sh"
export PROFIL_QUIET=1 LC_ALL=C

# le BYTES VALUE...: each in so many bytes, the lowest first
le() {
	bytes=$1
	shift
	for value; do
		n=$bytes
		while [ "$n" -gt 0 ]; do
			# shellcheck disable=SC2059 # the format is the byte
			printf "\\$(printf %03o $((value & 255)))"
			value=$((value >> 8)) n=$((n - 1))
		done
	done
}

header() {
	printf gmon
	le 4 "${1:-1}" 0 0 0
}

# histogram LOW HIGH BIN...: at rate $rate, in $unit
rate=100 unit=seconds
histogram() {
	le 1 0
	le 8 "$1" "$2"
	shift 2
	le 4 $# $rate
	printf %s $unit
	le 1 0 0 0 0 0 0 0 0
	printf %.1s $unit
	le 2 "$@"
}

# arc FROM SELF COUNT
arc() {
	le 1 1
	le 8 "$1" "$2"
	le 4 "$3"
}

# blocks [ADDRESS COUNT]...
blocks() {
	le 1 2
	le 4 $(($# / 2))
	le 8 "$@"
}

# At no fixed place, as most programs are, and with lines.
program=$tmp/format
$CC -O1 -g -pie -fPIE -o "$program" "$here/format.c"
# symbol NAME: its address in the file
symbol() {
	nm "$program" | sed -n "s/ T $1\$//p"
}

a=$((0x$(symbol a))) b=$((0x$(symbol b))) c=$((0x$(symbol c))) d=$((0x$(symbol d)))
end=$((0x$(symbol end)))
file=$tmp/gmon

# Each of 32 bytes, of which each function has two.
empty() {
	histogram $a $end 0 0 0 0 0 0 0 0
}

# time_of FUNCTION FILE...
time_of() {
	name=$1
	shift
	gprof -b -p "$program" "$@" | awk -v name="$name" '$NF == name { print $3 }'
}

# calls_of FUNCTION FILE...
calls_of() {
	name=$1
	shift
	gprof -b -p "$program" "$@" | awk -v name="$name" '$NF == name { print $4 }'
}

# refused WORDS: gprof does not read $file, with these words
refused() {
	gprof -b -p "$program" "$file" >"$tmp/out" 2>"$tmp/err" && return 1
	grep -F "$1" "$tmp/err"
}

one_histogram() {
	{ header; histogram $a $end 100 0 0 300 0 0 0 65535; } >"$file"
	test "$(time_of a "$file")" = 1.00
	test "$(time_of b "$file")" = 3.00
	test "$(time_of d "$file")" = 655.35
}

same_range_adds() {
	{ header; for _ in 1 2 3; do histogram $a $end 50000 0 0 0 0 0 0 7; done; } >"$file"
	test "$(time_of a "$file")" = 1500.00
	test "$(time_of d "$file")" = 0.21
}

# Of one scale: 32 bytes a bin in each.
two_ranges() {
	{ header; histogram $a $b 100 100; histogram $c $d 300 0; } >"$file"
	test "$(time_of a "$file") $(time_of c "$file")" = '2.00 3.00'
}

overlap() {
	{ header; histogram $a $c 0 0 0 0; histogram $b $d 0 0 0 0; } >"$file"
	refused 'overlapping histogram records'
}

scales() {
	{ header; histogram $a $b 0 0; histogram $c $d 0 0 0; } >"$file"
	refused 'different scales in histogram records'
}

rates() {
	{ header; histogram $a $b 100 0; rate=1000 && histogram $c $d 100 0; } >"$file"
	rate=100
	test "$(time_of a "$file") $(time_of c "$file")" = '1.00 1.00'
}

units() {
	{ header; empty; unit=volumes && empty; } >"$file"
	unit=seconds
	refused 'dimension unit changed between histogram records'
	{ header; rate=1 && unit=volumes && empty; } >"$file"
	rate=100 unit=seconds
	gprof -b -p "$program" "$file" | grep 'Each sample counts as 1 volumes'
}

no_rate() {
	{ header; rate=0 && histogram $a $b 1 0; } >"$file"
	rate=100
	gprof -b -p "$program" "$file" | grep 'Each sample counts as inf seconds'
}

# Half of a sample to each of two that share its bin.
shared_bin() {
	{ header; histogram $((a + 32)) $((c + 32)) 100 100; } >"$file"
	test "$(time_of a "$file") $(time_of b "$file") $(time_of c "$file")" = '0.50 1.00 0.50'
}

# Of one byte, the even ones are lost and the odd ones count twice.
small_bins() {
	{ header; histogram $a $((a + 16)) 10 10 10 10 10 10 10 10; } >"$file"
	test "$(time_of a "$file")" = 0.80
	{ header; histogram $a $((a + 8)) 10 20 30 40 50 60 70 80; } >"$file"
	test "$(time_of a "$file")" = 4.00
}

arcs_add() {
	{ header; empty; arc $b $a 4294967295; arc $b $a 5; arc $((b + 9)) $a 2; } >"$file"
	test "$(calls_of a "$file")" = 4294967302
}

any_order() {
	{ header; arc $b $a 3; blocks $a 1; empty; arc $c $a 4; histogram $a $end 9 0 0 0 0 0 0 0; } >"$file"
	test "$(calls_of a "$file" 2>/dev/null) $(time_of a "$file" 2>/dev/null)" = '7 0.09'
}

from_nowhere() {
	{ header; empty; arc $((0x7f0000000000)) $a 9; arc 1 $a 9; arc $b $a 2; } >"$file"
	test "$(calls_of a "$file")" = 2
}

arcs_alone() {
	{ header; arc $b $a 3; } >"$file"
	refused "is missing histogram"
}

half_a_file() {
	{ header; empty; } | head -c 70 >"$file"
	refused 'unexpected EOF after reading'
	{ header; empty; arc $b $a 3; } >"$tmp/whole"
	head -c $(($(wc -c <"$tmp/whole") - 2)) "$tmp/whole" >"$file"
	refused 'unexpected end of file'
	header | head -c 19 >"$file"
	refused 'file too short to be a gmon file'
}

unknown() {
	{ header; empty; le 1 3; } >"$file"
	refused 'found bad tag 3'
	{ header 2; empty; } >"$file"
	refused 'unsupported version 2'
}

several_files() {
	{ header; histogram $a $b 100 0; arc $b $a 3; } >"$file"
	test "$(time_of a "$file" "$file") $(calls_of a "$file" "$file")" = '2.00 6'
}

# gprof -s: what does not fit into 16 bits is lost.
sums_are_short() {
	{ header; histogram $a $b 35000 0; } >"$file"
	test "$(time_of a "$file" "$file")" = 700.00
	(cd "$tmp" && gprof -s "$program" "$file" "$file" >/dev/null)
	test "$(time_of a "$tmp/gmon.sum")" = 44.64
}

# block_counts: of $file, in the order of addresses
block_counts() {
	gprof -b -l -C "$program" "$file" | sed -nE 's/.* ([0-9]+) executions$/\1/p' | xargs
}

some_blocks() {
	{ header; empty; blocks $a 5 $b 6000000000; blocks $a 2; blocks; } >"$file"
	test "$(block_counts)" = '7 6000000000'
	gprof -b -p "$program" "$file" 2>&1 >/dev/null | grep 'ignoring basic-block exec counts'
	gprof -i "$program" "$file" | grep '3 basic-block count records'
}

# Eleven in one line, each of 1 byte.
# shellcheck disable=SC2046 # numbers
ten_blocks() {
	{ header; empty; blocks $(for n in 0 1 2 3 4 5 6 7 8 9 10; do echo $((b + n)) 1; done); } >"$file"
	test "$(gprof -b -l -C "$program" "$file" | grep -c ' 1 executions')" = 10
}

# fields OFFSET BYTES FILE: one number of each
number_at() {
	od -A n -t "u$2" -j "$1" -N "$2" "$3" | tr -d ' '
}

# written PROGRAM: the file there is of version 1, in seconds, of the code of the
# program as that is in its file, and as long as it says
head_of() {
	test "$(head -c 20 gmon.out | od -A n -t x1 | tr -d ' \n')" = \
		676d6f6e01000000000000000000000000000000
	test "$(number_at 20 1 gmon.out)" = 0
	test "$(number_at 21 8 gmon.out)" -le $((0x$(nm "$1" | sed -n 's/ T main$//p')))
	test "$(number_at 29 8 gmon.out)" -ge $((0x$(nm "$1" | sed -n 's/ T etext$//p')))
	test "$(number_at 29 8 gmon.out)" -lt $((0x$(nm "$1" | sed -n 's/ T etext$//p') + 32))
	test "$(dd if=gmon.out bs=1 skip=45 count=16 2>/dev/null | tr '\0' 0)" = seconds00000000s
	bins=$(number_at 37 4 gmon.out) bytes=$(($(number_at 29 8 gmon.out) - $(number_at 21 8 gmon.out)))
	rest=$(($(wc -c <gmon.out) - 61 - 2 * bins))
	test $((rest > 0 && rest % 21)) = 0
	test "$(number_at $((61 + 2 * bins)) 1 gmon.out)" = 1
}

calls() {
	$CC -O2 -pg -pthread -o "$tmp/calls" "$here/calls.c"
	rm -rf "$tmp/run"
	mkdir "$tmp/run"
	cd "$tmp/run"
}

by_libprofil() {
	calls
	LD_PRELOAD=$lib/libprofil.so "$tmp/calls" threads 1 5
	head_of "$tmp/calls"
	test "$bytes" = $((2 * bins))
	test $(($(number_at 21 8 gmon.out) % 16 + $(number_at 29 8 gmon.out) % 16)) = 0
}

by_libc() {
	calls
	"$tmp/calls" threads 1 5
	head_of "$tmp/calls"
	test "$(number_at 41 4 gmon.out)" = 100
	test $((2 * bins)) = $(((bytes / 2 + 7) / 8 * 8))
}

check 'a bin is of the function that is there' one_histogram
check 'histograms of one range add up' same_range_adds
check 'those of two ranges stand side by side' two_ranges
check 'ranges must not overlap' overlap
check 'nor bins have another size' scales
check 'the first rate is that of all' rates
check 'the unit must be one, and may be any' units
check 'a rate of 0 is no rate' no_rate
check 'a bin of two functions is divided' shared_bin
check 'bins of one byte are miscounted, of two are not' small_bins
check 'arcs add up, beyond 32 bits' arcs_add
check 'records may be in any order' any_order
check 'an arc from nowhere is dropped, with its calls' from_nowhere
check 'arcs need a histogram' arcs_alone
check 'half a file is refused' half_a_file
check 'unknown records and versions are refused' unknown
check 'several files add up' several_files
check 'gmon.sum has bins of 16 bits' sums_are_short
check 'blocks have 64 bits, add up, and need -l' some_blocks
check 'the eleventh block of a line is dropped' ten_blocks
check 'libprofil writes what the page says' by_libprofil
check 'and so does the C library' by_libc
plan
