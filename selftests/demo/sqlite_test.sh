#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The SQLite demonstration: ticks against what the kernel charged, functions against
# callgrind's, and README.md against what is printed.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
demo=$top/build/demo
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$here/../lib/tap.sh"

# About 11 s of the VM's CPU time.
rows=40000
# Callgrind counts instructions, so a smaller amount of the same work will do.
callgrind_rows=10000

runs() {
	ROWS=$rows "$here/demo.sh" >"$tmp/shown" 2>"$tmp/said" || { cat "$tmp/shown" "$tmp/said"; return 1; }
	"$top/build/tool/profil" report --tsv "$demo/profil.pb.gz" >"$tmp/tsv"
}

same_answers() {
	"$demo/sqlite" $rows >"$tmp/host"
	grep -xFf "$tmp/host" "$tmp/shown" | diff "$tmp/host" -
}

# counts EXPRESSION: awk, with count["name"] of what --tsv gives
counts() {
	awk -F '\t' '
		$1 == "count" { count[$2] = $3 }
		$1 == "function" { functions += $2 }
		END {
			ticked = count["ticks"] * count["period_ns"]
			charged = count["charged_user_ns"] + count["charged_system_ns"]
			printf "%d ticks, %d in slots, %d in functions, %.2f s ticked, %.2f s charged\n",
				count["ticks"], count["in_slots"], functions, ticked / 1e9, charged / 1e9
			exit !(charged && ('"$1"'))
		}' "$tmp/tsv"
}

# Both lists of five, as addresses: one function can have several names.
top_functions() {
	valgrind --tool=callgrind --callgrind-out-file="$tmp/callgrind" \
		"$demo/sqlite" $callgrind_rows >"$tmp/valgrind" 2>&1
	callgrind_annotate "$tmp/callgrind" | sed -n 's/^ *[0-9,]* *([ 0-9.]*%) *[^ ]*:\([^ :]*\) \[.*/\1/p' |
		sed "s/'.*//" | head -n 5 >"$tmp/theirs"
	awk -F '\t' '$1 == "function" { print $8 }' "$tmp/tsv" | head -n 5 >"$tmp/ours"
	echo "callgrind: $(tr '\n' ' ' <"$tmp/theirs")"
	echo "profil: $(tr '\n' ' ' <"$tmp/ours")"
	nm "$demo/sqlite" | awk '
		FILENAME == "-" { address[$3] = $1; next }
		!($1 in address) { print $1 " is not a function of the program"; exit 1 }
		FILENAME ~ /theirs$/ { theirs[address[$1]] = 1; next }
		address[$1] in theirs { common++ }
		END { print common + 0 " in common"; exit common < 3 }
	' - "$tmp/theirs" "$tmp/ours"
}

# functions FILE: that its table has
functions() {
	awk '$2 == "%" && $5 == "%" { print $(NF - 1) }' "$1"
}

# labels FILE: the lines of a run's end without the functions, their numbers, and the widths
# of columns
labels() {
	awk '/^\.\/sqlite/ { on = 1 } on && $5 != "%" && $1 != "…" { print } /^  written/ { exit }' "$1" |
		sed -E '/^ +objects /s/,.*//; s/[0-9]+(\.[0-9]+)?/N/g; s/ +/ /g'
}

# What README.md shows is what is printed today, of functions that there are.
as_in_the_readme() {
	labels "$tmp/shown" >"$tmp/ours"
	labels "$top/README.md" | diff - "$tmp/ours"
	[ "$(wc -l <"$tmp/ours")" -ge 7 ]
	functions "$top/README.md" >"$tmp/named"
	[ "$(wc -l <"$tmp/named")" -ge 5 ]
	awk -F '\t' 'NR == FNR { if ($1 == "function") there[$8]; next }
		!($0 in there) { print $0 " has no samples"; bad = 1 } END { exit bad }' "$tmp/tsv" "$tmp/named"
}

check "make demo shows a profile" runs
check "the answers are those of the host" same_answers
check "at least 2000 samples" counts 'count["in_slots"] >= 2000'
check "every sample is in the report" counts 'functions == count["in_slots"]'
check "each tick is accounted for" \
	counts 'count["ticks"] == count["in_slots"] + count["exec"] + count["full"] && !count["full"]'
check "ticks x period is what the kernel charged, within 5 %" \
	counts 'ticked > 0.95 * charged && ticked < 1.05 * charged'
check "three of the top five are in callgrind's top five" top_functions
check "README.md shows what is printed" as_in_the_readme
plan
