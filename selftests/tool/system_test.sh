#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# profil run -a: what is made of a session of the whole machine.
set -eu
. "$(dirname "$0")/lib.sh"
. "$here/system_lib.sh"

cd "$tmp"
machine >"$PROFIL_FAKE"

# count KEY
count() {
	profil report --tsv "${2:-profil.pb.gz}" | awk -F '\t' -v key="$1" '$1 == "count" && $2 == key { print $3 }'
}

# exact: each tick is in one class, and in the table if it is in a slot
exact() {
	local classes=0 class
	for class in not_due in_slots exec full idle kthreads interrupts; do
		[ "$(count $class)" -le "$(count ticks)" ]
		classes=$((classes + $(count $class)))
	done
	[ "$(count ticks)" = $classes ]
	[ "$(profil report --tsv | awk '$1 == "function" { sum += $2 } END { print sum }')" = \
		$(($(count in_slots) + $(count placed))) ]
}

whole_machine() {
	says 0 planted_groups profil run -q -a -- true
	exact
	[ "$(count ticks) $(count in_slots) $(count idle) $(count kthreads) $(count interrupts)" = \
		'1000 742 200 50 7' ]
}

# The program is no member: there are none.
no_member() {
	PROFIL_FAKE_ERROR=22 says 3 planted_groups profil run -q -a -- sh -c 'echo here; exit 3'
	grep -Fx here out
	says 127 planted_groups profil run -q -a -- nofile
}

# Without a program it is counted until somebody ends that.
until_interrupted() {
	local job
	rm -f profil.pb.gz pid
	planted_groups profil run -a >out 2>err &
	job=$!
	until [ -s pid ] && grep -qs '^SigBlk:.*14a07$' "/proc/$(cat pid)/status"; do :; done
	kill -INT "$(cat pid)"
	wait $job
	cat err
	grep -E '^the whole machine: ' err
	exact
	says 0 planted_groups profil run -q -a -d 0.1
	exact
}

options() {
	local given
	for given in '-p 1' -u --per-process '-F 100' '-w -d 0.1'; do
		# shellcheck disable=SC2086 # words
		says 125 profil run -a $given
		grep -E '^profil run: -a |^profil run: .*leave out' err
	done
	says 125 profil run -a -r 3
	says 125 profil run -r 3 -p 1
	says 125 profil run
	grep -F 'a PROGRAM, -p PID, or -a' err
}

# It is for who made it alone.
file() {
	rm -f profil.pb.gz
	(umask 022; says 0 planted_groups profil run -q -a -- sh -c 'umask >mask')
	[ "$(stat -c %a profil.pb.gz)" = 600 ]
	grep -x 0022 mask
	(umask 022; table >plain; PROFIL_FAKE=plain profil run -q -o plain.gz -- true)
	[ "$(stat -c %a plain.gz)" = 644 ]
}

# What other programs make of a file.
labels() {
	says 0 planted_groups profil run -q -a -- true
	go tool pprof -tags profil.pb.gz >tags 2>err
	sed -E -n '/unit:/,/^$/{s/.*\): //p}' tags | diff -u - <(printf '%s\n' nginx.service \
		docker-4d2fe8c1b0a7.scope cron.service '[ended group 999999999]' '[others]')
	sed -E -n '/container:/,/^$/{s/.*\): //p}' tags | diff -u - <(echo 4d2fe8c1b0a7)
	sed -E -n '/program:/,/^$/{s/.*\): //p}' tags | diff -u - <(printf '%s\n' nginx planted sh \
		short-lived '[other programs]' '[others]')
	go tool pprof -top -tagfocus=unit=nginx.service profil.pb.gz >focus 2>err
	grep -E '1796ms, 60.51% of 2968ms total' focus
	grep -E ' 1600ms .* hot$' focus
	grep -F '[elsewhere in planted]' focus
	none grep cold focus
}

# With places in the kernel, those of its threads and interrupts are in the table, too.
kernel() {
	{
		machine
		printf 'slot 5 %s %s 0 %s\n' ffffffff81001000 1 32 ffffffff81002000 5 50 \
			ffffffff81003000 2 24 ffffffffffffffff 2 20
	} >kernel
	# system ticks in slots of files are 68; one in exec; 50 and 7 of the classes
	PROFIL_FAKE=kernel says 0 planted_groups profil run -q -a --kernel -- true
	exact
	[ "$(count placed) $(count kthreads) $(count interrupts)" = '57 50 7' ]
	profil report --tsv | grep -P '\t\[elsewhere in kernel\]\t\[kernel\]'
	# some of them found no room
	{
		machine
		echo 'slot 5 ffffffff81001000 1 0 102'
		echo 'full_kernel 24'
	} >kernel
	PROFIL_FAKE=kernel says 0 planted_groups profil run -q -a --kernel -- true
	exact
	{
		machine
		echo 'slot 5 ffffffff81001000 1 0 10'
		echo 'full_kernel 116'
	} >kernel
	PROFIL_FAKE=kernel says 0 planted_groups profil run -q -a --kernel -- true
	exact
}

# Code made at run time has names where one process alone has made it.
made_at_run_time() {
	local pid other
	says 0 planted_groups profil run -q -a -- true
	sleep 1000 &
	pid=$!
	until [ "$(cat /proc/$pid/comm)" = sleep ]; do :; done
	echo "7f0000000000 2000 jit::made" >"/tmp/perf-$pid.map"
	machine | sed "s/ 4244 60 10 sh/ $pid 60 10 sleep/" >jit
	echo $pid >cgroup/system.slice/cron.service/cgroup.procs
	PROFIL_FAKE=jit says 0 planted_groups profil run -q -a -- true
	profil report --tsv | grep -P '\tjit::made\t\[anonymous\]'
	# another one of that name
	sleep 1000 &
	other=$!
	until [ "$(cat /proc/$other/comm)" = sleep ]; do :; done
	echo $other >>cgroup/system.slice/cron.service/cgroup.procs
	PROFIL_FAKE=jit says 0 planted_groups profil run -q -a -- true
	profil report --tsv >table
	none grep jit::made table
	kill $other
	wait $other || :
	PROFIL_FAKE=jit says 0 planted_groups profil run -q -a -- true
	profil report --tsv | grep -P '\tjit::made\t'
	# it is not there any more
	echo 1 >cgroup/system.slice/cron.service/cgroup.procs
	PROFIL_FAKE=jit says 0 planted_groups profil run -q -a -- true
	profil report --tsv >table
	none grep jit::made table
	kill $pid
	rm "/tmp/perf-$pid.map"
}

# What is written is read, whatever names there are.
odd_names() {
	groups 'a b/c' 'back\x20slash.service'
	machine >odd
	cat >>odd <<-END
		row $(group 'a b/c') 5000 3 2 two words
		row $(group 'back\x20slash.service') 5001 2 0 x
		slot 10 $(at "$planted" main) 7 3 2
		slot 10 $(at "$planted" main) 8 2 0
	END
	PROFIL_FAKE=odd says 0 planted_groups profil run -q -a -- true
	go tool pprof -tags profil.pb.gz 2>err | grep -F ': a b/c'
	go tool pprof -tags profil.pb.gz 2>err | grep -F ': back\x20slash.service'
	go tool pprof -comments profil.pb.gz 2>err | grep -F ' unit a\x20b/c container - program two words'
	go tool pprof -comments profil.pb.gz 2>err | grep -F ' unit back\x5cx20slash.service container - program x'
}

check 'system: the whole machine' whole_machine
check 'system: no member' no_member
check 'system: until it is interrupted' until_interrupted
check 'system: options' options
check 'system: the file' file
check 'system: labels' labels
check 'system: places in the kernel' kernel
check 'system: code made at run time' made_at_run_time
check 'system: odd names' odd_names
plan
