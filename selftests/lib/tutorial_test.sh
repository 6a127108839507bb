#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Documentation/gprof.rst: each command in it, and what it prints but for times.
# Usage: [UPDATE=1] tutorial_test.sh LIBDIR COMPILER...
# With UPDATE the text is given what the commands print now; where the device is,
# with times.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
documents=$here/../../Documentation
text=$documents/gprof.rst
lib=$(cd "$1" && pwd)
shift
CC="$*"
# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$here/tap.sh"
export PROFIL_QUIET=1 LC_ALL=C LD_LIBRARY_PATH="$lib" LIBRARY_PATH="$lib"

mkdir "$tmp/run"
cp "$documents/examples/gprof.c" "$tmp/run"

# Into N.command and N.want, for each line that begins with a dollar.
awk -v tmp="$tmp/" '
	sub(/^    \$ /, "") { n++; said = 1; print >(tmp n ".command"); printf "" >(tmp n ".want"); next }
	/^[^ ]/ { said = 0 }
	said && /^    / { print substr($0, 5) >(tmp n ".want") }
	END { print n >(tmp "number") }' "$text"

gcc() {
	# shellcheck disable=SC2086 # words
	command $CC "$@"
}

# What differs from run to run: times, and what is there because of them.
masked() {
	sed -E 's/[0-9]+\.[0-9]+/T/g; s/\[[0-9]+\]/[]/g; s/[[:space:]]+/ /g; s/^ //; s/ $//
		/^$|^no time|^Each sample|\/call|^T T T [a-z_]+$/d' "$1" | sort
}

replayed() {
	n=$1
	cat "$tmp/$n.command"
	(cd "$tmp/run" && eval "$(cat "$tmp/$n.command")") >"$tmp/said$n" 2>"$tmp/err"
	tr -d '\f' <"$tmp/said$n" | sed 's/[[:space:]]*$//' >"$tmp/$n.have"
	cat "$tmp/err"
	test ! -s "$tmp/err"
	masked "$tmp/$n.want" >"$tmp/want"
	masked "$tmp/$n.have" >"$tmp/have"
	diff -u "$tmp/want" "$tmp/have"
}

update() {
	awk -v tmp="$tmp/" '
		/^    \$ / {
			print
			out = tmp (++n) ".have"
			for (gap = ""; (getline line <out) > 0; gap = line == "" ? gap "\n" : "")
				if (line != "")
					print gap "    " line
			skip = 1
			next
		}
		/^[^ ]/ { if (skip) print ""; skip = 0 }
		!skip' "$text" >"$tmp/text"
	cp "$tmp/text" "$text"
}

for number in $(seq "$(cat "$tmp/number")"); do
	check "command $number of the tutorial says what is there" replayed "$number"
done
if [ "${UPDATE:-0}" = 1 ]; then
	update
fi
plan
