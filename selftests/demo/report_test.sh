#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The report on files that are right, cut off, or meant to break it.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
demo=$here/../../build/demo
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$here/../lib/tap.sh"

address_of() {
	nm "$demo/spin" | awk -v name="$1" '$3 == name { sub(/^0+/, "", $1); print $1 }'
}

# profile COUNTS...: 7 samples of spin(), 5 of main(), 2 of no function
profile() {
	cat <<-END
		profil-record 1
		command ./spin
		pid 42
		rate 100
		tick_ns 4000000
		wall_ns 2000000000
		user_ns 100000000
		system_ns 40000000
		ticks 40
		not_due 25
		in_range 14
		outside 1
		object $demo/spin
		$(address_of spin) 7
		$(address_of main) 5
		1 2
		end 14
	END
}

names_functions() {
	profile >"$tmp/a"
	"$demo/report" "$tmp/a" >"$tmp/text"
	sed -n 2p "$tmp/text" | grep -E '^ +7 +46\.7%  spin$'
	sed -n 3p "$tmp/text" | grep -E '^ +5 +33\.3%  main$'
	grep -E '^ +2 +13\.3%  \(no symbol\)$' "$tmp/text"
	grep -E '^ +25  not due' "$tmp/text"
	grep -F '0.16s  ticks x 4 ms' "$tmp/text"
	grep -F '0.15s  (in range + outside) x 10 ms' "$tmp/text"
	grep -F '0.14s  getrusage: 0.10 user + 0.04 system' "$tmp/text"
	grep -F '2.00s  wall' "$tmp/text"
}

adds_up() {
	profile >"$tmp/a"
	"$demo/report" --tsv "$tmp/a" "$tmp/a" "$tmp/a" >"$tmp/tsv"
	grep -F "function	21	spin	$demo/spin" "$tmp/tsv"
	grep -Fx 'count	ticks	120' "$tmp/tsv"
	grep -Fx 'count	processes	3' "$tmp/tsv"
}

# The names are gone, but not where the functions begin.
stripped_object() {
	strip -o "$tmp/stripped" "$demo/spin"
	profile | sed "s,^object .*,object $tmp/stripped," >"$tmp/a"
	"$demo/report" "$tmp/a" | grep -E "^ +7 +46\.7%  \(function at 0x$(address_of spin)\)$"
}

# All rows of the table are shares of the same; what is none of them has a row.
everything() {
	profile | sed 's/^ticks .*/ticks 43/; s/^outside .*/&\nlost 2\nlost_exit 2\nsaturated 1/' >"$tmp/a"
	"$demo/report" "$tmp/a" >"$tmp/text"
	cat "$tmp/text"
	grep -E '^ +1 +5\.6%  \(outside, in code loaded later\)$' "$tmp/text"
	grep -E '^ +3 +16\.7%  \(not counted, see below\)$' "$tmp/text"
	awk '$2 ~ /%$/ { n += $1; share += $2 } END { exit n != 18 || share < 99.7 || share > 100.3 }' "$tmp/text"
}

# 40 ticks of 4 ms, and 0.14 or 0.15 s of CPU time
differences() {
	profile >"$tmp/a"
	"$demo/report" "$tmp/a" | grep -E '^ +0\.02s  apart: a tick charges'
	profile | sed 's/^user_ns .*/user_ns 110000000/' >"$tmp/a"
	"$demo/report" "$tmp/a" >"$tmp/text"
	grep -F '0.15s  getrusage' "$tmp/text"
	if grep apart "$tmp/text"; then false; fi
}

missing_object() {
	profile | sed 's,^object .*,object /nonexistent/x,' >"$tmp/a"
	"$demo/report" "$tmp/a" | grep -E '^ +14 +93\.3%  \(no symbol\)$'
}

# A pipe would wait for ever, a device might do anything.
special_object() {
	mkfifo "$tmp/fifo"
	profile | sed "s,^object .*,object $tmp/fifo," >"$tmp/a"
	timeout 600 "$demo/report" "$tmp/a" | grep -F '(no symbol)'
	status=0
	timeout 600 "$demo/report" "$tmp/fifo" 2>"$tmp/err" || status=$?
	test $status = 1
	grep -F 'is not an ordinary file' "$tmp/err"
}

# refused MESSAGE: what comes in is refused with these words, and no crash
refused() {
	status=0
	cat >"$tmp/bad"
	timeout 600 "$demo/report" "$tmp/bad" >"$tmp/out" 2>"$tmp/err" || status=$?
	cat "$tmp/err"
	test "$status" = 1
	test ! -s "$tmp/out"
	grep -F "$1" "$tmp/err"
}

bad_input() {
	refused 'begins otherwise' </dev/null
	refused 'begins otherwise' <<<'profil-record 2'
	profile | sed 's/ 7$/ 8/' | refused 'do not add up'
	profile | sed 's/^pid .*/unheard of/' | refused 'an unknown word'
	profile | sed 's/^pid .*/pid/' | refused 'without a value'
	profile | sed 's/^ticks .*/ticks -1/' | refused 'a number is expected'
	profile | sed 's/^ticks .*/ticks 18446744073709551616/' | refused 'beyond 64 bits'
	profile | sed 's/^1 2$/g 2/' | refused 'a number is expected'
	profile | sed 's/^1 2$/1 0/' | refused 'without samples'
	profile | sed 's/^1 2$/1 18446744073709551615/' | refused 'the sum is beyond 64 bits'
	profile | sed 's/^rate .*/rate 5000000000/' | refused 'out of range'
	profile | sed 's/^tick_ns .*/tick_ns 0/' | refused 'out of range'
	profile | sed '/^tick_ns/d' | refused 'tick_ns is missing'
	profile | sed '$a more 1' | refused 'more after the end'
	profile | sed "3s/.*/command $(printf '%05000d' 0)/" | refused 'too long'
	profile | tr 4 '\000' | refused 'or not text'
}

# No file that is cut anywhere passes for a whole one.
cut_off() {
	profile >"$tmp/a"
	for size in $(seq 0 $(($(stat -c %s "$tmp/a") - 1))); do
		if head -c "$size" "$tmp/a" >"$tmp/b" && "$demo/report" "$tmp/b" 2>/dev/null; then
			echo "accepted with $size bytes"
			return 1
		fi
	done
}

# Any byte changed: accepted or refused, but never killed by a signal.
mangled() {
	profile >"$tmp/a"
	RANDOM=7
	for _ in $(seq 300); do
		cp "$tmp/a" "$tmp/b"
		printf '%b' "\\x$(printf %02x $((RANDOM % 256)))" |
			dd of="$tmp/b" bs=1 seek=$((RANDOM % $(stat -c %s "$tmp/a"))) conv=notrunc status=none
		status=0
		timeout 600 "$demo/report" "$tmp/b" >/dev/null 2>&1 || status=$?
		if [ "$status" -gt 1 ]; then
			cat "$tmp/b"
			return 1
		fi
	done
}

no_escapes() {
	profile | sed 's/^command.*/command \x1b[2J/' >"$tmp/a"
	"$demo/report" "$tmp/a" | grep -F 'of ?[2J'
}

usage() {
	status=0
	"$demo/report" 2>"$tmp/err" || status=$?
	test $status = 2
	status=0
	"$demo/report" /nonexistent 2>"$tmp/err" || status=$?
	test $status = 1
	grep -F 'cannot open /nonexistent' "$tmp/err"
}

check "names functions and prints the accounting" names_functions
check "all is a row of the table, and a share of all" everything
check "clocks that do not agree are said" differences
check "adds up several files" adds_up
check "a stripped object has its functions by address" stripped_object
check "an object that is gone leaves samples without names" missing_object
check "pipes are not opened" special_object
check "sixteen kinds of bad input are told apart" bad_input
check "a file that is cut off anywhere is refused" cut_off
check "no changed byte makes it crash" mangled
check "no control characters reach the terminal" no_escapes
check "wrong use is said" usage
plan
