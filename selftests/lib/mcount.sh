# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
# What a call of gcc -pg costs, with callgrind, for the tests and the benchmark: with a
# library before the C library, or with none, which is '' here.  $here is this
# folder, and $tmp one for what comes of it.

export PROFIL_QUIET=1
# glibc's timer would end valgrind itself
trap '' PROF

# mcount_build COMPILER...
mcount_build() {
	"$@" -O2 -pg -pthread -o "$tmp/calls" "$here/calls.c"
}

# mcount_run LIBRARY TOOL...
mcount_run() {
	library=$1
	shift
	(cd "$tmp" && LD_PRELOAD=$library valgrind -q "$@")
}

# mcount_within LIBRARY THREADS CALLS: of leaf()'s call of mcount, with what that calls:
# CALLS INSTRUCTIONS
mcount_within() {
	rm -f "$tmp"/callgrind.out*
	mcount_run "$1" --tool=callgrind --separate-threads=yes \
		--callgrind-out-file="$tmp/callgrind.out" "$tmp/calls" together "$2" "$3"
	cat "$tmp"/callgrind.out-* | awk '
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
		}
		END { print calls + 0, all + 0 }'
}

# mcount_cost LIBRARY THREADS: instructions of a call that has been before
mcount_cost() {
	for calls in 5000 10000; do
		mcount_within "$1" "$2" $calls
	done | awk '
		{ calls = $1 - calls; all = $2 - all }
		END { if (calls) print all / calls }'
}
