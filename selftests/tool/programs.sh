#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The command with the module, as an ordinary user: programs that nobody here wrote.  The
# hottest function is the one that they were given work for.
set -eu
profiles=$PWD/profiles
. "$(dirname "$0")/guest_lib.sh"

# For pprof, which is not here.
keep() {
	cp file "$profiles/$1.pb.gz"
}

# Text that compilers take long for, the same each time.
functions() {
	awk -v first="$1" 'BEGIN {
		for (i = first; i < first + 8; i++) {
			print "int f" i "(int *a, int n) { int s = 0;"
			for (line = 0; line < 12; line++)
				print "for (int i = 0; i < n; i++) { a[i] += a[n - i - 1] * " line + i "; s ^= a[i] >> " line "; }"
			print "return s; }"
		}
	}'
}

build() {
	mkdir -m 777 build
	cd build
	for file in 1 2 3 4; do
		functions ${file}000 >$file.c
	done
	# shellcheck disable=SC2016 # for make
	printf 'all: 1.o 2.o 3.o 4.o\n\t$(LD) -r -o all $^\n%%.o: %%.c\n\tgcc -O2 -c -o $@ $<\n' >Makefile
	run -- make -j2
	[ -s all ]
	keep make
	added_up
	# make, its shells, and of each file gcc, cc1 and as; ld
	charged 20
	[ "$(count full)" = 0 ]
	user profil report --by object --tsv file | awk -F '\t' '
		$1 == "object" { sum += $2 }
		$1 == "object" && $8 ~ "/cc1$" { found = $2 }
		END { print found + 0 " of " sum + 0; exit !(found > 0.8 * sum) }'
	# each of the four is told apart
	user profil report --by process --tsv file >processes
	[ "$(awk -F '\t' '$1 == "process" { sum += $2 } END { print sum }' processes)" = "$(count ticks)" ]
	[ "$(awk -F '\t' '$1 == "process" && $8 == "cc1"' processes | wc -l)" = 4 ]
}

# A server that computes for a client, and is told to end.
redis() {
	local profil status=0
	printf '%s\n' 'port 0' "unixsocket $tmp/redis" 'save ""' >settings
	setpriv --reuid=1000 --regid=1000 --clear-groups profil run -q -o file -- redis-server settings >log &
	profil=$!
	until [ -S redis ] && [ "$(redis-cli -s redis ping)" = PONG ]; do
		[ -e /proc/$profil ]
	done
	redis-cli -s redis eval 'local n = 0 for i = 1, 4000000 do n = n + i end return n' 0 |
		grep -Fx '8000002000000'
	kill $profil
	wait $profil || status=$?
	cat log
	[ $status = 0 ]
	grep -F 'is now ready to exit' log
	keep redis
	# What it reads while it starts is in step with the tick on some days, and not on others:
	# what the kernel charged is no measure of it.
	hottest luaV_execute
}

# Compiled while it runs, in memory of no file.
javascript() {
	cat >spin.js <<-'END'
		function spin(n) {
			let x = 0;
			for (let i = 0; i < n; i++)
				x = (x * 31 + i) | 0;
			return x;
		}
		for (let i = 0; i < 60; i++)
			spin(2000000);
	END
	run -- node --perf-basic-prof spin.js
	keep node
	hottest 'JS:[*^~+]?spin .*'
	charged 1
	[ "$(user profil report --by object --tsv file | awk -F '\t' '$1 == "object" { print $8; exit }')" = '[anonymous]' ]
}

check 'programs: make -j2 with gcc' build
check 'programs: redis, which is sent SIGTERM' redis
check 'programs: node, with a map of what it compiles' javascript
plan
