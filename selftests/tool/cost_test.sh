#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What an interval of profil watch takes on a machine with 300 busy programs, and what profil
# run takes of a sample: instructions, which do not depend on what else runs.
set -eu
# shellcheck source-path=SCRIPTDIR source=watch_lib.sh
. "$(dirname "$0")/watch_lib.sh"

# 300 programs, each in a row and at 20 places, and 500 places of the kernel.
busy() {
	local i j hot
	hot=$((0x$(at "$planted" hot)))
	mkdir objects
	for i in $(seq 300); do
		cp "$planted" "objects/$i"
		echo "object $((i + 9)) $tmp/objects/$i"
	done
	echo 'row 0 0 1 0 -'
	for i in $(seq 300); do
		echo "row 1 $i 200 10 program$i"
		for j in $(seq 20); do
			printf 'slot %d %x %d 10 0\n' $((i + 9)) $((hot + j)) "$i"
		done
	done
	awk '$2 == "t" && $1 !~ /^0*$/ && n++ < 5000 && n % 10 == 0 { print "slot 4", $1, 1, 0, 1 }' \
		/proc/kallsyms
}

# instructions: of all processes: the one that waits, the one that writes, and what reads files
instructions() {
	sed -n 's/.*Collected : //p' valgrind.* | awk '{ sum += $1 } END { printf "%d\n", sum }'
}

# named NUMBER: so many programs are known
named() {
	[ "$(all spool/.names | wc -l)" -ge "$1" ]
}

cheap() {
	busy >"$PROFIL_FAKE"
	grep -c '^slot' "$PROFIL_FAKE"
	# from here on each program's names are known
	start "$O/plain/profil-fake" watch -o spool --every 1s
	until_is named 300
	stop 0
	start valgrind --tool=callgrind --callgrind-out-file=/dev/null --trace-children=yes \
		--log-file='valgrind.%p' "$O/plain/profil-fake" watch -o spool --every 1h
	until_is catches
	stop 0
	sed -n 's/.*Collected : /collected /p' valgrind.*
	# less than 100 ms at two and a half billions a second
	[ "$(instructions)" -gt 10000000 ] && [ "$(instructions)" -lt 250000000 ]
}

# 5,000 samples, as 20 s of a program have them: nearly each at a place of its own.
sampled() {
	local i begin
	begin=$((0x$(at "$O/plain/profil-fake" command_run)))
	echo "object 10 $O/plain/profil-fake"
	echo 'process 0 0 0 0 0 others'
	echo 'process 4242 0 1 5000 0 program'
	for i in $(seq 5000); do
		printf 'slot 10 %x 1 1 0\n' $((begin + i * 4099 % 65536))
	done
}

# What is done for each of them when the program has ended.  Another process, which takes less,
# reads the file.
short() {
	local collected
	sampled >"$PROFIL_FAKE"
	valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect=gather \
		--toggle-collect=store_write --log-file='valgrind.%p' \
		"$O/plain/profil-fake" run -q -o samples.pb.gz -- true
	collected=$(sed -n 's/.*Collected : //p' valgrind.* | sort -n | tail -n 1)
	rm valgrind.*
	echo "$collected instructions"
	[ "$collected" -gt $((5000 * 1000)) ] && [ "$collected" -lt $((5000 * 24000)) ]
}

check 'cost: a sample of a program that has ended' short
check 'cost: an interval with 300 busy programs' cheap
plan
