#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What reading a profile, and finding its names, costs in instructions: 3 of them in a
# nanosecond are a processor of today's.
set -eu
. "$(dirname "$0")/lib.sh"

cd "$tmp"

# instructions [OPTION...] -- ARG...: of the command, with the processes that it starts
instructions() {
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	rm -f counts.*
	valgrind --tool=callgrind "${options[@]}" --callgrind-out-file=counts.%p "$O/plain/profil" "$@" >out 2>warned
	awk '$1 == "summary:" { sum += $2 } END { printf "%.0f\n", sum }' counts.*
}

# A second look for names: 20,000 addresses in a library of 45,000 functions, within 2 s.
names() {
	local start sum
	mkdir -p folder/usr/lib
	awk 'BEGIN {
		print ".section .note.GNU-stack\n.text"
		for (i = 0; i < 45000; i++) {
			name = "a_function_of_a_large_library_" i
			print ".globl " name "\n.type " name ",@function\n" name ": .zero 64,0x90\n.size " name ",64"
		}
	}' >large.s
	gcc -shared -Wl,--build-id=none -o folder/usr/lib/liblarge.so large.s
	start=$(nm folder/usr/lib/liblarge.so | awk '$3 == "a_function_of_a_large_library_0" { print $1 }')
	awk -v start=$((0x$start)) -v OFS='\t' 'BEGIN {
		print "object", "/usr/lib/liblarge.so", "1000", "4000000"
		for (i = 0; i < 20000; i++) print "place", 0, sprintf("%x", start + i * 144), "", "", 0
		for (i = 0; i < 20000; i++) print "sample", i, 0, 1 + i % 7, 0
	}' | compose large.pb.gz
	sum=$(instructions -- report --names folder --tsv large.pb.gz)
	[ "$(grep -c '^function.*a_function_of_a_large_library_' out)" = 20000 ]
	echo "$sum instructions"
	[ "$sum" -gt 10000000 ] && [ "$sum" -le 2000000000 ]
}

# many ADDRESSES: samples of each in 120 slices of time
many() {
	awk -v places="$1" -v OFS='\t' 'BEGIN {
		print "duration", 12000
		print "object", "/usr/lib/libmany.so", "1000", "200000"
		for (i = 0; i < places; i++) print "place", 0, sprintf("%x", 4096 + i * 16), "a_function_of_" i, "/src/many.c", i
		for (i = 0; i < places; i++) for (t = 1; t <= 120; t++) print "sample", i, t * 100, 1 + (i * 7 + t) % 12, (i + t) % 3
	}' | compose many.pb.gz
}

# each_sample ARG...: instructions for one more sample of a profile
each_sample() {
	local few more
	many 200
	few=$(instructions -- "$@" many.pb.gz)
	many 600
	more=$(instructions -- "$@" many.pb.gz)
	echo $(((more - few) / (400 * 120)))
}

# 1.2 million samples, of 10,000 addresses in 120 slices, are read and shown in 3 billion.
samples() {
	local report page
	report=$(each_sample report --tsv)
	page=$(each_sample export -o many.html)
	echo "report $report, page $page"
	[ "$report" -gt 100 ]
	[ "$report" -le 2400 ]
	[ "$page" -gt 100 ]
	[ "$page" -le 2500 ]
}

# objects N: as many objects, each with a function at the same address
objects() {
	awk -v num="$1" -v OFS='\t' 'BEGIN {
		for (i = 0; i < num; i++) print "object", "/usr/lib/lib" i ".so", "1000", "2000"
		for (i = 0; i < num; i++) print "place", i, "1000", "f" i, "", 0
		for (i = 0; i < num; i++) print "sample", i, 0, 1 + i % 7, 0
	}' | compose "objects$1.pb.gz"
}

# grows N ARG...: four times as many objects, whose number is @, take no more than six times as long
grows() {
	local num=$1 few much
	shift
	few=$(instructions -- "${@//@/$num}")
	much=$(instructions -- "${@//@/$((4 * num))}")
	echo "$few $much instructions"
	[ "$much" -gt "$few" ] && [ "$much" -lt $((6 * few)) ]
}

rows() {
	objects 2000
	objects 8000
	grows 2000 annotate 0x1000 objects@.pb.gz
}

programs() {
	local num
	for num in 500 2000; do
		objects "$num"
		awk -v num="$num" -v OFS='\t' 'BEGIN {
			print "command", "program"
			print "object", "/bin/program", "1000", "90000000"
			for (i = 0; i < num; i++) print "place", 0, sprintf("%x", 4096 + i * 16), "f" i, "", 0
			for (i = 0; i < num; i++) print "sample", i, 0, 1 + i % 7, 0
		}' | compose "program$num.pb.gz"
	done
	grows 500 diff objects@.pb.gz program@.pb.gz
}

# runs N: as many runs, and in each a function of its own
runs() {
	awk -v num="$1" -v OFS='\t' 'BEGIN {
		print "object", "/bin/program", "1000", "90000000"
		for (i = 0; i < num; i++) print "place", 0, sprintf("%x", 4096 + i * 16), "f" i, "", 0
		for (i = 0; i < num; i++) { print "run", 10; print "sample", i, 0, 1 + i % 7, 0 }
	}' | compose "runs$1.pb.gz"
}

many_runs() {
	runs 1000
	runs 4000
	grows 1000 diff --tsv runs@.pb.gz runs@.pb.gz
	grep -P '^count\truns_a\t4000$' out
	[ "$(grep -c '^function' out)" = 4000 ]
}

check 'speed: 20,000 addresses in a library of 45,000 functions' names
check 'speed: each sample of 1.2 million' samples
check 'speed: a function of each of many objects' rows
check 'speed: the program of one side, and many objects of the other' programs
check 'speed: functions of many runs' many_runs
plan
