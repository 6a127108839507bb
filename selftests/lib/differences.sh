#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the C library's own profil() and sprofil() make of semantics_test, on this
# machine: one line for each test, with how often it fails, and what is seen then.
#
#   differences.sh [RUNS]		run them, 3 times if not said otherwise
#   differences.sh --check [RUNS]	and compare with Documentation/differences.rst
#
# The document lists the tests that fail, always or sometimes.  No part of make
# check: a C library that was mended is no fault of ours.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"

document=$TOP/Documentation/differences.rst
check=''
if [ "${1:-}" = --check ]; then
	check=1
	shift
fi
runs=${1:-3}
[[ $runs =~ ^[1-9][0-9]*$ ]] || die "what is $1? see the top of $0"

out=$BUILD/differences
program=$out/semantics_glibc
harness=$("$VM/kernels.sh" source)/tools/testing/selftests
mkdir -p "$out"
"${CC:-gcc}" -O2 -Wall -Wextra -static -pthread -D_GNU_SOURCE -DGLIBC -isystem "$harness" -isystem "$TOP/uapi" \
	-o "$program" "$TOP/selftests/kernel/semantics_test.c"
rm -f "$out"/run.*
for ((run = 1; run <= runs; run++)); do
	say "run $run of $runs"
	(cd "$out" && ulimit -c 0 && "$program" >"run.$run" 2>&1) || true
done

# A test's own lines are between RUN and its result.
awk -v runs="$runs" -v document="${check:+$document}" '
BEGIN {
	name[6] = "SIGABRT"; name[11] = "SIGSEGV"; name[14] = "SIGALRM"; name[27] = "SIGPROF"
}
/^# +RUN / { seen = ""; next }
/double free|Assertion/ { seen = "SIGABRT: " $0; next }
/Test terminated unexpectedly by signal/ { seen = name[$NF] ? name[$NF] : "signal " $NF; next }
/:Expected / && !seen { seen = $0; sub(/.*:Expected /, "expected ", seen); next }
/^(not )?ok [0-9]+ semantics\./ {
	test = $0
	sub(/.*semantics\./, "", test)
	if (!(test in count)) {
		order[++tests] = test
		count[test] = 0
	}
	done[test]++
	if ($1 == "not") {
		count[test]++
		if (!(test in what))
			what[test] = seen
	}
}
END {
	while (document && (getline <document) > 0)
		if ($2 == "always" || $2 == "sometimes")
			listed[$1] = $2
	for (i = 1; i <= tests; i++) {
		test = order[i]
		result = "sometimes"
		if (!count[test])
			result = "never"
		else if (count[test] == runs)
			result = "always"
		expected = (test in listed) ? listed[test] : "never"
		printf "%-42s %-10s %s\n", test, result, substr(what[test], 1, 120)
		if (document && expected != "sometimes" && expected != result) {
			print test ": it fails " result ", and the list says " expected >"/dev/stderr"
			wrong++
		}
		delete listed[test]
	}
	for (test in listed) {
		print test ": it is in the list, and there is no such test" >"/dev/stderr"
		wrong++
	}
	exit(!tests || wrong)
}' "$out"/run.* || {
	[ ! "$check" ] || die "$document is not what was seen: all of it is in $out"
	die "the program did not run: see $out"
}
