#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# record.so, as "make demo PROG=..." uses it: threads, fork, exec, _exit.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
demo=$top/build/demo
out=$demo/record
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$here/../lib/tap.sh"

# The kernel would test its ciphers for a minute of the VM's time, beside us.
runs() {
	rm -rf "$out"
	mkdir -p "$out"
	"$top/selftests/vm/run.sh" --kernel 6.12 --cpus 1 --icount 4 --timeout 1200 \
		--append cryptomgr.notests \
		--root9p --dir "$demo:rw" -- \
		env PROFIL_RECORD="$out" LD_PRELOAD="$demo/record.so" ./spin >"$tmp/vm"
	grep -Fx spun "$tmp/vm"
}

# The process itself, its child that ends by _exit(), the one that execs, and
# what that one becomes; nothing of the exec that failed.
one_file_each() {
	ls "$out"
	test "$(grep -lFx 'command ./spin' "$out"/*.profil | wc -l)" = 3
	test "$(grep -lFx 'command ./spin again' "$out"/*.profil | wc -l)" = 1
	test "$(find "$out" -name '*.tmp' | wc -l)" = 0
}

# Also in children: what they report is theirs alone, not their parent's.
exact() {
	for file in "$out"/*.profil; do
		"$demo/report" --tsv "$file" | awk -F '\t' -v file="$file" '
			$1 == "count" { count[$2] = $3 }
			$1 == "function" { functions += $2 }
			END {
				counted = count["ticks"] * count["tick_ns"] / 1e9
				used = (count["user_ns"] + count["system_ns"]) / 1e9
				printf "%s: %d samples, %d in range, %.3f s counted, %.3f s used\n",
					file, functions, count["in_range"], counted, used
				exit functions + 0 != count["in_range"] ||
					counted > 1.1 * used + 0.02 || counted < 0.9 * used - 0.02
			}'
	done
}

# In each program that spins, spin() has nearly all samples.
found() {
	n=0
	for file in "$out"/*.profil; do
		"$demo/report" --tsv "$file" | awk -F '\t' '
			$1 == "function" { sum += $2 }
			$1 == "function" && $3 == "spin" { spin += $2 }
			END { print spin + 0 " of " sum + 0; exit !(spin > 30 && spin > 0.9 * sum) }' && n=$((n + 1))
	done
	test $n = 4
}

check "a program with threads and children runs" runs
check "each program leaves one file" one_file_each
check "all counts add up, in children too" exact
check "each file names the function that worked" found
plan
