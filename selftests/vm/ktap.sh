#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
#   ktap.sh KERNEL N FILE	judge the output of N programs, as suite-guest
#				prints it: how many tests passed, failed, were
#				skipped; what failed, on stderr
#
# A skip that the file skips does not allow is a failure; so is a program that
# did not do what it planned.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

kernel=$1
awk -v kernel="$kernel" -v wanted="$2" -v skips="$VM/skips" '
function fail(what) {
	failed++
	print "# failed: " what >"/dev/stderr"
}
function glob(pattern) {
	gsub(/[.+^$(){}|\\]/, "\\\\&", pattern)
	gsub(/\*/, ".*", pattern)
	return "^" pattern "$"
}
function runs_on(pattern,  i) {
	for (i = 1; i <= words; i++)
		if (word[i] ~ pattern)
			return 1
	return kernel ~ pattern
}
function may_skip(test,  i) {
	for (i = 1; i <= allowed; i++)
		if (test ~ name[i] && runs_on(on[i]))
			return 1
	return 0
}
BEGIN {
	while ((getline <skips) > 0)
		if ($0 !~ /^#/ && NF >= 3) {
			on[++allowed] = glob($1)
			name[allowed] = glob($2)
		}
}
/^# boot: / { words = split($0, word) }
/^# selftests: / { program = $4; plan = 0; seen = 0; bad = 0; running = 1 }
/^# 1\.\.[0-9]+/ { plan = substr($2, 4) + 0 }
/^# (not )?ok [0-9]+/ {
	seen++
	test = $0
	sub(/^# (not )?ok [0-9]+ *(- )?/, "", test)
	skip = test ~ /# SKIP/
	sub(/ *#.*/, "", test)
	test = program ":" test
	if ($2 == "not") {
		bad++
		fail(test)
	} else if (!skip)
		passed++
	else if (may_skip(test))
		skipped++
	else {
		bad++
		fail(test " (skipped, and not listed in " skips ")")
	}
}
/^(not )?ok [0-9]+ selftests: / {
	running = 0
	programs++
	if (!plan || seen != plan)
		fail(program ": planned " plan " tests and did " seen + 0)
	else if ($1 == "not" && !bad)
		fail(program ": its tests passed, but it ended with " $NF)
}
END {
	if (running)
		fail(program ": it did not end")
	if (programs < wanted)
		fail(wanted - programs " programs did not run")
	printf "%d %d %d\n", passed, failed, skipped
}' "$3"
