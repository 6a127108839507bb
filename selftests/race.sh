#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Shows that the tests see races: with the module whose race windows are
# widened they pass, with each of its mutants they fail.
#
#   race.sh			all of selftests/mutants
#   race.sh NAME…		these
#
# The line "Test:" of a mutant names the program that must fail.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
kernel=${KERNEL:-6.12}
number=0 failed=0

# report STATUS WHAT LOG
report() {
	number=$((number + 1))
	if [ "$1" = 0 ]; then
		echo "ok $number race: $2"
	else
		failed=$((failed + 1))
		echo "not ok $number race: $2"
		sed 's/^/# /' "$3"
	fi
}

# suite OPTION... PROGRAM: its status, its output in $log
suite() {
	"$top/selftests/vm/suite.sh" "$kernel" "$@" >"$log" 2>&1
}

mutants=("$@")
[ $# -gt 0 ] || mapfile -t mutants < <(cd "$top/selftests/mutants" && printf '%s\n' *.patch | sed 's/\.patch$//')
log=$(mktemp)
trap 'rm -f "$log"' EXIT

programs=$(for mutant in "${mutants[@]}"; do
	sed -n 's/^Test: //p' "$top/selftests/mutants/$mutant.patch"
done | sort -u)
for program in $programs; do
	rc=0
	suite --test-module "$program" || rc=$?
	report "$rc" "$program passes with wide windows" "$log"
done
for mutant in "${mutants[@]}"; do
	program=$(sed -n 's/^Test: //p' "$top/selftests/mutants/$mutant.patch")
	rc=0
	suite --mutant "$mutant" "$program" || rc=$?
	# A test must say so: a lost VM or a broken build proves nothing.
	if [ "$rc" = 1 ] && grep -q '^# not ok' "$log"; then
		rc=0
	else
		rc=1
	fi
	report "$rc" "$program fails with the mutant $mutant" "$log"
done
echo "$((number - failed)) passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
