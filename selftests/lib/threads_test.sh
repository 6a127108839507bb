#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What a call of gcc -pg costs is the same whatever number of threads there is: so
# many instructions, and no memory that another thread writes.
# Usage: threads_test.sh LIBDIR COMPILER...
set -eu

here=$(cd "$(dirname "$0")" && pwd)
lib=$(cd "$1" && pwd)
shift
CC="$* -O2 -pg -pthread"
# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$here/tap.sh"
export PROFIL_QUIET=1
# glibc's timer would end valgrind itself
trap '' PROF

# under LIBRARY TOOL...: with or without the library before the C library
under() {
	library=$1
	shift
	(cd "$tmp" && LD_PRELOAD=$library valgrind -q "$@")
}

# within LIBRARY THREADS CALLS: of each, the instructions of leaf()'s call of mcount, as
# NUMBER OF CALLS; by mcount itself, and with what that calls
within() {
	rm -f "$tmp"/callgrind.out*
	under "$1" --tool=callgrind --separate-threads=yes \
		--callgrind-out-file="$tmp/callgrind.out" "$tmp/calls" together "$2" "$3"
	for file in "$tmp"/callgrind.out-*; do
		awk '
			/^c?fn=/ {
				id = $1
				sub(/^c?fn=/, "", id)
				if (NF > 1)
					names[id] = $2
			}
			/^fn=/ { name = names[id] }
			/^cfn=/ { called = names[id] }
			/^calls=/ {
				inside = name == "leaf" && called ~ /mcount/
				calls += inside ? substr($1, 7) : 0
				getline
				all += inside ? $2 : 0
				next
			}
			/^[0-9+*-]/ && name ~ /mcount/ { own += $2 }
			END { print calls + 0, own + 0, all + 0 }' "$file"
	done | awk '{ calls += $1; own += $2; all += $3 } END { print calls, own, all }'
}

# cost LIBRARY THREADS: of a call that has been before, by mcount and with what it calls
cost() {
	for calls in 5000 10000; do
		within "$1" "$2" $calls
	done | awk '
		{ calls = $1 - calls; own = $2 - own; all = $3 - all }
		END { if (calls) print own / calls, all / calls }'
}

same_instructions() {
	one=$(cost "$lib/libprofil.so" 1 | cut -d ' ' -f 1)
	test "$one" -gt 0
	for threads in 2 4 8; do
		more=$(cost "$lib/libprofil.so" $threads | cut -d ' ' -f 1)
		echo "instructions of a call: $one with 1 thread, $more with $threads"
		test "$more" = "$one"
	done
}

# modified LIBRARY THREADS CALLS: of the lines of memory, of 64 bytes each, how many
# are modified as often as that or more, and how often the first of these is
modified() {
	under "$1" --tool=lackey --trace-mem=yes --log-file="$tmp/trace" \
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

$CC -o "$tmp/calls" "$here/calls.c"
check 'a call costs as many instructions with eight threads as with one' same_instructions
check 'threads count in memory that no other one writes' own_memory
# For who wants to compare: THREADS=1 and so on, with the C library's runtime.
for threads in ${THREADS:-}; do
	theirs=$(cost '' "$threads")
	echo "# $threads threads: $(cost "$lib/libprofil.so" "$threads"), the C library's: $theirs"
done
plan
