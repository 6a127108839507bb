#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# That the short form of the benchmark fails on a regression: compares each baseline
# with itself, doctored.  And that the documents say what is kept.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$here/../lib/tap.sh"

row() {
	echo "\"$1\": { \"value\": $2, \"of\": 1 }"
}

# passes BEFORE NOW
passes() {
	row ftrace.sample "$1" >"$tmp/before"
	row ftrace.sample "$2" >"$tmp/now"
	awk -v parts=ftrace -f "$here/compare.awk" "$tmp/before" "$tmp/now"
}

fails() {
	! passes "$@"
}

# The short form's rows, of all there are.
compared() {
	parts=$(sed -n "s/^COSTS='\(.*\)'$/\1/p" "$here/bench.sh")
	awk -v parts="$parts" -f "$here/compare.awk" "$@" >"$tmp/rows" || return
	grep -q 'ok [0-9]* - bench: ftrace.sample ' "$tmp/rows"
	! grep 'fork\.' "$tmp/rows"
}

# only ROW BASELINE: $tmp/now differs there, and that and nothing else is said
only() {
	compared "$2" "$tmp/now" && return 1
	cat "$tmp/rows"
	test "$(grep -c '^not ok' "$tmp/rows")" = 1
	grep "^not ok .* $1 " "$tmp/rows"
}

dearer() {
	awk '/"ftrace.sample"/ { $3 = $3 + 30 "," } { print }' "$1" >"$tmp/now"
	only ftrace.sample "$1"
}

gone() {
	grep -v '"ftrace.sample"' "$1" >"$tmp/now"
	only ftrace.sample "$1"
}

fewer() {
	sed '/"ftrace.sample"/ s/"of": [0-9]*/"of": 7/' "$1" >"$tmp/now"
	only ftrace.sample "$1"
	grep '^not ok .* of few cases)$' "$tmp/rows"
}

strange() {
	sed '/"ftrace.sample"/ { p; s/sample/planted/ }' "$1" >"$tmp/now"
	only ftrace.planted "$1"
}

nothing() {
	grep -v '"value"' "$1" >"$tmp/now"
	! compared "$tmp/now" "$tmp/now"
}

# says DOCUMENT FOLDER RESULTS.json…
says() {
	document=$here/../../Documentation/$1
	folder=$2
	shift 2
	awk -f "$here/doc.awk" "$folder/targets" "$folder/doc.rst" "$@" | diff "$document" -
}

check 'performance.rst says what is kept' says performance.rst "$here" "$here"/baseline/*.json
check 'scale.rst says what is kept' says scale.rst "$here/scale" "$here"/scale/*.json
check '11 % and more than 25 are a regression' fails 1000 1110
check '26 and more than 10 % are one' fails 100 126
check '9 % are none' passes 1000 1090
check '20 are none' passes 100 120
check 'nor is what costs less' passes 1000 500
for file in "$here"/baseline/*.json; do
	tap_note=", ${file##*/}"
	check 'what is as before passes' compared "$file" "$file"
	check 'a row that is dearer fails' dearer "$file"
	check 'a row of fewer cases fails' fewer "$file"
	check 'a row that is gone fails' gone "$file"
	check 'a row that was not there fails' strange "$file"
	check 'no row at all fails' nothing "$file"
done
plan
