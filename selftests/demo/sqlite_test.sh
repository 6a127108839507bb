#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The SQLite demonstration in a deterministic VM of one CPU: the time counted by
# ticks against the time by getrusage, and the functions against callgrind's.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
demo=$top/build/demo
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$here/../lib/tap.sh"

# At 2^4 ns to an instruction these rows take about 22 s of the VM's CPU time.
rows=40000
shift=4

# SQLite asks for random bytes, and a kernel so young would make them meanwhile.
command="head -c 1 /dev/random >/dev/null; exec ./sqlite $rows check/sqlite.profil"

# Callgrind counts instructions, so a smaller amount of the same work will do.
callgrind_rows=10000

# The kernel would test its ciphers for a minute of the VM's time, beside us.
runs() {
	mkdir -p "$demo/check"
	rm -f "$demo/check/sqlite.profil"
	"$top/selftests/vm/run.sh" --kernel 6.12 --cpus 1 --icount $shift --timeout 1200 \
		--append cryptomgr.notests \
		--dir "$demo:rw" -- sh -c "$command" >"$tmp/vm"
	"$demo/report" --tsv "$demo/check/sqlite.profil" >"$tmp/tsv"
}

same_answers() {
	"$demo/sqlite" $rows >"$tmp/host"
	diff "$tmp/host" "$tmp/vm"
}

# counts EXPRESSION: awk, with count["name"] of what --tsv gives
counts() {
	awk -F '\t' '
		$1 == "count" { count[$2] = $3 }
		$1 == "function" { functions += $2 }
		END {
			counted = (count["in_range"] + count["outside"]) * count["period_ns"]
			used = count["user_ns"] + count["system_ns"]
			printf "%d ticks, %d in range, %d outside, %d lost, ", count["ticks"],
				count["in_range"], count["outside"], count["lost"]
			printf "%.2f s counted, %.2f s by getrusage\n", counted / 1e9, used / 1e9
			exit !(used && ('"$1"'))
		}' "$tmp/tsv"
}

# Both lists of five, as addresses: one function can have several names.
top_functions() {
	valgrind --tool=callgrind --callgrind-out-file="$tmp/callgrind" \
		"$demo/sqlite" $callgrind_rows >"$tmp/valgrind" 2>&1
	callgrind_annotate "$tmp/callgrind" | sed -n 's/^ *[0-9,]* *([ 0-9.]*%) *[^ ]*:\([^ :]*\) \[.*/\1/p' |
		sed "s/'.*//" | head -n 5 >"$tmp/theirs"
	awk -F '\t' '$1 == "function" { print $3 }' "$tmp/tsv" | head -n 5 >"$tmp/ours"
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

# labels: of the lines below the table, without their numbers
labels() {
	sed -n '/ticks of its threads/,/wall/p' | sed -E 's/^ *//; s/[0-9.]+/N/g'
}

# What README.md shows is what the report says today, of functions that there are.
as_in_the_readme() {
	"$demo/report" "$demo/check/sqlite.profil" | labels >"$tmp/ours"
	labels <"$top/README.md" >"$tmp/shown"
	diff "$tmp/shown" "$tmp/ours"
	awk '$2 ~ /%$/ { print $3 }' "$top/README.md" >"$tmp/named"
	test -s "$tmp/named"
	awk -F '\t' 'NR == FNR { if ($1 == "function") there[$3]; next }
		!($0 in there) { print $0 " has no samples"; bad = 1 } END { exit bad }' "$tmp/tsv" "$tmp/named"
}

check "runs in a deterministic VM" runs
check "gives the same answers as on the host" same_answers
check "at least 2000 samples" counts 'count["in_range"] + count["outside"] >= 2000'
check "every sample in range is in the report" counts 'functions == count["in_range"]'
check "ticks x period is user + system time, within 5 %" \
	counts 'counted > 0.95 * used && counted < 1.05 * used'
check "nothing is lost" counts 'count["lost"] == 0 && count["pending"] == 0'
check "three of the top five are in callgrind's top five" top_functions
check "README.md shows what is there" as_in_the_readme
plan
