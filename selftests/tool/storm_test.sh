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

# small: watch and the largest of what it starts have 64 MB at most.  These are the one that writes, and
# its readers, which are there one at a time.
small() {
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
	rm -rf spool child
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
	profil report --tsv spool/*.pb.gz >rows
}

full_table() {
	storm >"$PROFIL_FAKE"
	[ "$(awk '$1 == "slot" && !seen[$2 $3 $4]++' "$PROFIL_FAKE" | wc -l)" = 32768 ]
	names >kallsyms
	small
	awk -F '\t' '$1 == "count" && $2 == "in_slots" { print; exit !($3 > 50000) }' rows
}

# Three programs, in each of which 3000 functions have names as long as names can be.
long_names() {
	local i
	: >kallsyms
	for i in 1 2 3; do
		awk -v i=$i 'BEGIN {
			rest = sprintf("%4080s", "")
			gsub(" ", "n", rest)
			for (f = 0; f < 3000; f++)
				printf ".type f%d_%d_%s, @function\nf%d_%d_%s: ret\n.size f%d_%d_%s, 1\n",
					i, f, rest, i, f, rest, i, f, rest
		}' | as -o long.o -
		ld -shared -z noseparate-code -o "long$i" long.o
		echo "object 2$i $tmp/long$i"
	done >"$PROFIL_FAKE"
	echo 'row 0 0 9000 0 -' >>"$PROFIL_FAKE"
	for i in 1 2 3; do
		awk -v object=2$i -v at=$((0x$(readelf -SW "long$i" | awk '/ \.text/ { print $5 }'))) 'BEGIN {
			for (f = 0; f < 3000; f++)
				printf "slot %d %x 0 1 0\n", object, at + f
		}'
	done >>"$PROFIL_FAKE"
	small
	# what has no name has an address, and is there
	awk -F '\t' '$1 == "function" { sum += $2; named += length($8) > 4000 } END {
		print sum, named
		exit !(sum == 9000 && named > 2500 && named < 3500)
	}' rows
}

# A header of a file has a million parts that are not loaded, and others behind them.
many_segments() {
	: >kallsyms
	python3 - "$planted" headers <<-'END'
		import struct, sys
		bits = bytearray(open(sys.argv[1], 'rb').read())
		at, = struct.unpack_from('<Q', bits, 32)
		sections, = struct.unpack_from('<Q', bits, 40)
		num, = struct.unpack_from('<H', bits, 56)
		own = bits[at:at + num * 56]
		bits += bytes(-len(bits) % 8)
		struct.pack_into('<Q', bits, 32, len(bits))
		struct.pack_into('<H', bits, 56, 0xffff)
		struct.pack_into('<I', bits, sections + 44, 1000000 + num)
		open(sys.argv[2], 'wb').write(bits + bytes(1000000 * 56) + own)
	END
	cat >"$PROFIL_FAKE" <<-END
		object 20 $tmp/headers
		row 0 0 9 0 -
		slot 20 $(at "$planted" hot) 0 9 0
	END
	small
	grep -P '^function\t9\t.*\thot\t' rows
	find spool/.names -type f -size +100k >large
	[ ! -s large ]
}

check 'storm: a full table of places, in 64 MB' full_table
check 'storm: names that are very long, in 64 MB' long_names
check 'storm: a file with a million segments' many_segments
plan
