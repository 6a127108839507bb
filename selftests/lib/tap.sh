# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# The Test Anything Protocol for shell tests: check NAME COMMAND..., at the end
# plan.  $tmp is a folder that goes away with the test, $tap_note is added to
# each name.

tap_count=0
tap_note=
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# One result; what the command said is shown if it failed.
check() {
	tap_count=$((tap_count + 1))
	tap_name=$1$tap_note
	shift
	# Not as the condition of an if: there the shell forgets its -e.
	set +e
	(set -e; "$@") >"$tmp/said" 2>&1
	tap_status=$?
	set -e
	if [ $tap_status = 0 ]; then
		echo "ok $tap_count - $tap_name"
	else
		echo "not ok $tap_count - $tap_name"
		sed 's/^/# /' "$tmp/said"
	fi
}

plan() {
	echo "1..$tap_count"
}
