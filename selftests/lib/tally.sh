#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Runs TAP programs one after the other, shows their results as one list, and
# ends with "N passed, N failed, N skipped".  A program that dies, or gives
# fewer results than its plan says, or none, is a failure.
# Usage: tally.sh COMMAND... (each one argument, split at spaces)
set -eu

for command; do
	status=0
	# shellcheck disable=SC2086 # a command and its arguments
	$command || status=$?
	echo "tally-end $status ${command##*/}"
done | awk '
	function result(passed, text) {
		printf "%sok %d - %s\n", passed ? "" : "not ", ++n, text
		fflush()
		count[passed ? "passed" : "failed"]++
	}
	/^(not )?ok / {
		seen++
		if (/^ok .*, with 32 bits # SKIP/) {
			count["skipped"]++
			print $0
			next
		}
		text = $0
		sub(/^(not )?ok [0-9]* *-? */, "", text)
		result(!/^not/ && !/# SKIP/, text)
		next
	}
	/^1\.\.[0-9]+$/ { plan = substr($0, 4); next }
	/^tally-end / {
		if (!seen || plan != seen)
			result(0, $3 ": planned " plan + 0 ", gave " seen + 0 " results")
		else if ($2 != 0)
			result(0, $3 ": ended with status " $2)
		seen = plan = 0
		next
	}
	{ print; fflush() }
	END {
		printf "1..%d\n", n + count["skipped"]
		printf "%d passed, %d failed, %d skipped\n",
			count["passed"], count["failed"], count["skipped"]
		exit count["failed"] > 0 || !count["passed"]
	}
'
