#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# profil watch after a storm of forks, in the 64 MB that its service may have.  Of 100,000 places
# the table that it asks for has 32,768; the others are counted together.
set -eu
# shellcheck source-path=SCRIPTDIR source=watch_lib.sh
. "$(dirname "$0")/watch_lib.sh"

# Of 2000 names of programs in 40 objects; places are anywhere, and those of the kernel have names.
storm() {
	local i hot
	hot=$((0x$(at "$planted" hot)))
	mkdir objects
	for i in $(seq 40); do
		cp "$planted" "objects/$i"
		echo "object $((i + 9)) $tmp/objects/$i"
	done
	awk -v hot=$hot 'BEGIN {
		print "row 0 0 1 0 -"
		for (i = 1; i <= 2000; i++)
			print "row", 1000 + i % 97, i, 100, 10, "storm" i
		for (i = 0; i < 32768; i++)
			if (i % 10)
				printf "slot %d %x %d %d 0\n", 10 + i % 40, hot + i * 16, 1 + i % 2000, 1 + i % 3
			else
				printf "slot 5 %x %d 0 1\n", 0xffffffff81000000 + i * 32, 1 + i % 2000
	}'
}

# As many names as a kernel has
names() {
	awk 'BEGIN { for (i = 0; i < 200000; i++) printf "%x t function_of_the_kernel_%d\n", 0xffffffff81000000 + i * 64, i }'
}

# hwm STATUS: in kB, the most that a process had
hwm() {
	awk '$1 == "VmHWM:" { print $2 }' "$1"
}

# The one that waits, and the largest of those that it started: the one that writes, and its readers, which
# are there one at a time.
memory() {
	storm >"$PROFIL_FAKE"
	[ "$(awk '$1 == "slot" && !seen[$2 $3 $4]++' "$PROFIL_FAKE" | wc -l)" = 32768 ]
	names >kallsyms
	cat >waits.py <<-'END'
		import os, signal, sys
		child = os.fork()
		if not child:
		    os.execv(sys.argv[1], sys.argv[1:])
		signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGTERM))
		open('child', 'w').write(str(child))
		_, status, usage = os.wait4(child, 0)
		open('kB', 'w').write(str(usage.ru_maxrss))
		sys.exit(os.waitstatus_to_exitcode(status))
	END
	# shellcheck disable=SC2016 # for sh
	start sh -c 'mount --bind kallsyms /proc/kallsyms; exec python3 -S -E waits.py "$@"' sh "$O/plain/profil-fake" \
		watch -o spool --every 1h
	until_is test -s child
	# shellcheck disable=SC2016
	until_is sh -c 'find "/proc/$(cat child)/fd" -lname "anon_inode:*signalfd*" | grep -q .'
	cp "/proc/$(cat child)/status" status
	stop 0
	echo "$(hwm status) kB and $(cat kB) kB"
	[ $(($(hwm status) + $(cat kB))) -lt $((64 << 10)) ]
	profil report --tsv spool/*.pb.gz | awk -F '\t' '$1 == "count" && $2 == "in_slots" { print; exit !($3 > 50000) }'
}

check 'storm: a full table of places, in 64 MB' memory
plan
