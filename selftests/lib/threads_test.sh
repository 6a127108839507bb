#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What a call of gcc -pg costs is the same whatever number of threads there is: so
# many instructions, and no memory that another thread writes.  And what it costs to
# open one library more.
# Usage: threads_test.sh LIBDIR COMPILER...
set -eu

here=$(cd "$(dirname "$0")" && pwd)
lib=$(cd "$1" && pwd)
shift
# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$here/tap.sh"
# shellcheck source-path=SCRIPTDIR source=mcount.sh
. "$here/mcount.sh"

same_instructions() {
	one=$(mcount_cost "$lib/libprofil.so" 1)
	test "$one" -gt 0
	for threads in 2 4 8; do
		more=$(mcount_cost "$lib/libprofil.so" $threads)
		echo "instructions of a call: $one with 1 thread, $more with $threads"
		test "$more" = "$one"
	done
}

# On the way of a call that has been before.
two_thirds_of_glibc() {
	theirs=$(mcount_cost '' 1)
	ours=$(mcount_cost "$lib/libprofil.so" 1)
	echo "instructions of a call: $theirs by the C library, $ours by this one"
	test "$ours" -gt 0
	test $((3 * ours)) -le $((2 * theirs))
}

# modified LIBRARY THREADS CALLS: of the lines of memory, of 64 bytes each, how many
# are modified as often as that or more, and how often the first of these is
modified() {
	mcount_run "$1" --tool=lackey --trace-mem=yes --log-file="$tmp/trace" \
		"$tmp/calls" together "$2" "$3"
	awk '/^ M / { print substr($2, 1, index($2, ",") - 1) }' "$tmp/trace" | sort | uniq -c |
		awk -v calls="$3" '
			{ digit = index("0123456789abcdef", substr($2, length($2) - 1, 1)) - 1
			  lines[substr($2, 1, length($2) - 2) int(digit / 4)] += $1 }
			END { for (line in lines) if (lines[line] >= calls) print lines[line] }' |
		sort -rn | awk '{ most = most ? most : $1 } END { print NR, most + 0 }'
}

# As many lines as threads, and each by the calls of one, and some before.  The C library's runtime,
# of which it is known that all write the same, shows that this would be seen.
own_memory() {
	modified '' 4 1000
	test "$(modified '' 4 1000 | cut -d ' ' -f 2)" -gt 3900
	modified "$lib/libprofil.so" 4 1000
	modified "$lib/libprofil.so" 4 1000 | awk '{ exit !($1 == 4 && $2 < 1100) }'
}

# opened LIBRARIES PRELOADED: instructions of a program that opens so many
opened() {
	# shellcheck disable=SC2046 # our own names, without spaces
	(cd "$tmp" && LD_PRELOAD=$2 valgrind --tool=callgrind --callgrind-out-file="$tmp/opened" \
		"$tmp/host" $(seq -f "$tmp/of%g.so" "$1") 2>&1 >/dev/null) | awk '/Collected/ { print $NF }'
}

# ours LIBRARIES: of these, what this library needs beyond the C library
ours() {
	echo $(($(opened "$1" "$tmp/device.so:$lib/libprofil.so") - $(opened "$1" '')))
}

# Four times as many are in proportion; a search of all for each would be 16 times.
in_proportion() {
	for number in $(seq 400); do
		cp "$tmp/plug.so" "$tmp/of$number.so"
	done
	few=$(ours 100)
	many=$(ours 400)
	echo "instructions of this library: $few for 100 libraries, $many for 400"
	test "$few" -gt 0
	test "$many" -lt $((8 * few))
}

mcount_build "$@"
"$@" -O2 -pg -fPIC -shared -DWORK=work -o "$tmp/plug.so" "$here/plug.c"
"$@" -O2 -pthread -o "$tmp/host" "$here/host.c"
"$@" -O2 -fPIC -shared -I"$here/../../uapi" -o "$tmp/device.so" "$here/device.c"
check 'a call costs as many instructions with eight threads as with one' same_instructions
check "and at most two thirds of the C library's" two_thirds_of_glibc
check 'threads count in memory that no other one writes' own_memory
check 'to open libraries costs in proportion to their number' in_proportion
plan
