#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# In the VM, as root, in the folder of the tests: the command with the module, mostly as
# an ordinary user.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$here/../lib/tap.sh"
PATH=$PWD:$PATH
export LC_ALL=C.UTF-8
unset DEBUGINFOD_URLS
chmod 777 "$tmp"
cd "$tmp"

user() {
	setpriv --reuid=1000 --regid=1000 --clear-groups "$@"
}

# says STATUS COMMAND...: as in lib.sh
says() {
	local wanted=$1 status=0
	"${@:2}" >out 2>err || status=$?
	cat out err
	[ $status = "$wanted" ] || { echo "status $status instead of $wanted"; return 1; }
}

none() {
	! "$@"
}

# count KEY
count() {
	awk -F '\t' -v key="$1" '$1 == "count" && $2 == key { print $3 }' tsv
}

# profiled OBJECT FUNCTION: what was written to file is whole, and nearly all in it there
profiled() {
	user profil report --tsv file >tsv
	[ "$(count ticks)" = $(($(count in_slots) + $(count exec) + $(count full) + $(count not_due))) ]
	[ "$(count in_slots)" = "$(awk '$1 == "function" { sum += $2 } END { print sum }' tsv)" ]
	awk -F '\t' -v object="$1" -v name="$2" '
		$1 == "function" { sum += $2 }
		$1 == "function" && $9 ~ object "$" && $8 == name { found += $2 }
		END { print found + 0 " of " sum + 0; exit !(found > 30 && found > 0.85 * sum) }' tsv
}

# charged PROCESSES: ticks are what the kernel charged, but for two of each process and 5 %:
# what often waits for a file of the host's may miss them
charged() {
	local off
	off=$(($(count ticks) * $(count period_ns) - $(count charged_user_ns) - $(count charged_system_ns)))
	echo "ticks are $off ns more than charged"
	[ ${off#-} -le $((2 * $1 * $(count period_ns) + $(count charged_user_ns) / 20)) ]
}

run() {
	says 0 user profil run -q -o file "$@"
}

static_program() {
	run -- burn-static 5
	profiled burn-static burn_here
	charged 1
}

ordinary_program() {
	run -- burn 5
	profiled burn burn_here
	charged 1
}

no_environment() {
	run -- env -i "$(command -v burn)" 5
	profiled burn burn_here
}

threads() {
	run -- burn 2 threads
	profiled burn burn_here
	charged 4
}

# It is not waited for without -w, and counted until then.
daemon() {
	run -w -- burn 5 daemon
	profiled burn burn_here
	[ "$(user profil report --by process --tsv file | awk -F '\t' '$1 == "process" && $8 == "burn" { sum += $2 } END { print sum }')" -gt 90 ]
}

killed() {
	# shellcheck disable=SC2016
	says 137 user profil run -q -o file -- sh -c 'burn 5; kill -9 $$'
	profiled burn burn_here
}

many() {
	# shellcheck disable=SC2016
	run -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do burn 1; burn-static 1; done'
	user profil report --tsv file >tsv
	charged 31
	user profil report --by process --tsv file >processes
	[ "$(awk -F '\t' '$1 == "process" { sum += $2 } END { print sum }' processes)" = "$(count ticks)" ]
	grep -P '\tothers\t' processes
	run --per-process -- sh -c 'burn 1; burn 2; exit'
	user profil report --by process --tsv file | grep -cP '^process\t.*\tburn\t' | grep -Fx 2
}

made_at_run_time() {
	run -- burn 5 jit
	profiled '\[anonymous\]' 'made at run time'
}

# The file is gone, and another has its name.
replaced() {
	cp "$(command -v burn)" "$tmp/gone"
	# shellcheck disable=SC2016
	run -- sh -c '"$1" 5 & sleep 0.1; rm "$1"; echo other >"$1"; wait' sh "$tmp/gone"
	profiled 'gone.*' burn_here
}

# Set-user-ID amid what goes on being counted.
set_user_id() {
	cp "$(command -v burn-static)" "$tmp/root-burn"
	chmod 4755 "$tmp/root-burn"
	# shellcheck disable=SC2016
	says 0 user profil run -o file -- sh -c '"$1" 3; burn 5' sh "$tmp/root-burn"
	grep -F 'remark   processes that executed what you may not trace (set-user-ID, unreadable): 1' err
	profiled burn burn_here
	none grep root-burn tsv
	# root may
	says 0 profil run -q -o /dev/null -- "$tmp/root-burn" 1
}

unreadable() {
	cp "$(command -v burn-static)" "$tmp/unreadable"
	chmod 711 "$tmp/unreadable"
	says 0 user profil run -o file -- "$tmp/unreadable" 3
	grep -F 'remark   processes that executed what you may not trace' err
}

attached() {
	local pid
	setpriv --reuid=1000 --regid=1000 --clear-groups burn 50 &
	pid=$!
	sleep 0.2
	says 0 user profil run -q -d 0.5 -o file -p $pid
	profiled burn burn_here
	grep -E '^State:.R' /proc/$pid/status
	grep -Ex 'TracerPid:.0' /proc/$pid/status
	kill $pid
	wait $pid || :
	# one that ends by itself; its children too
	setpriv --reuid=1000 --regid=1000 --clear-groups sh -c 'sleep 0.5; burn 3' &
	pid=$!
	says 0 user profil run -q -o file -p $pid
	profiled burn burn_here
}

not_attached() {
	sleep 10000 &
	says 125 user profil run -p $!
	grep -Ex "profil: process $! cannot be counted: you may not trace it; .*" err
	says 0 profil run -q -d 0.1 -o file -p $!
	kill $!
	says 125 user profil run -p 99999
	grep -Ex 'profil: process 99999 cannot be counted: there is no such process; .*' err
}

# In a chroot, which this is, users cannot make namespaces of users.
container() {
	says 0 profil run -q -o contained -- unshare -mpiun --fork --mount-proc "$(command -v burn)" 5
	cp contained file
	profiled burn burn_here
}

user_only() {
	run -u -- burn 5
	profiled burn burn_here
	[ "$(awk '$1 == "function" { sum += $5 } END { print sum }' tsv)" = 0 ]
}

rated() {
	run -F 50 -- burn 20
	profiled burn burn_here || :
	[ "$(count in_slots)" -ge 60 ]
	[ "$(count in_slots)" -le 140 ]
	[ "$(count period_ns)" = 20000000 ]
}

# A table for too few places.
full() {
	says 0 user profil run --slots=1024 -o file -- python3 -c 'import json
for i in range(300): json.loads(json.dumps([{str(j): [j / 7, None, "x" * j]} for j in range(50)]))'
	user profil report --tsv file >tsv
	[ "$(count ticks)" = $(($(count in_slots) + $(count exec) + $(count full))) ]
}

# The program sees nothing of it.
nothing_inside() {
	# shellcheck disable=SC2012
	user ls -l /proc/self/fd | sed 's/.*[0-9] //' >alone
	user profil run -q -o file -- ls -l /proc/self/fd | sed 's/.*[0-9] //' >inside
	[ "$(wc -l <alone)" = "$(wc -l <inside)" ]
	none grep -E 'profil|anon_inode' inside
	user profil run -q -o file -- cat /proc/self/maps >inside
	none grep -E 'profil' inside
	user profil run -q -o file -- grep -E 'TracerPid|Sig(Blk|Ign)' /proc/self/status >inside
	user grep -E 'TracerPid|Sig(Blk|Ign)' /proc/self/status | diff - inside
}

# Who profiles is killed: the program goes on, the module can go.
profiler_killed() {
	setpriv --reuid=1000 --regid=1000 --clear-groups profil run -q -o file -- \
		sh -c 'touch begun; burn 2; touch survived' &
	until [ -e begun ]; do
		sleep 0.1
	done
	kill -9 $!
	wait $! || :
	[ ! -e survived ]
	for _ in $(seq 100); do
		[ ! -e survived ] || return 0
		sleep 0.1
	done
	return 1
}

checks() {
	says 0 user profil check
	grep -E '^test .* ok$' out
	none grep FAIL out
}

check 'vm: an ordinary program' ordinary_program
check 'vm: a static program' static_program
check 'vm: no environment' no_environment
check 'vm: four threads' threads
check 'vm: a daemon that closes all' daemon
check 'vm: killed by SIGKILL' killed
check 'vm: thirty short programs' many
check 'vm: code made at run time' made_at_run_time
check 'vm: a file that is gone' replaced
check 'vm: set-user-ID' set_user_id
check 'vm: not readable' unreadable
check 'vm: attached' attached
check 'vm: not attached' not_attached
check 'vm: a container' container
check 'vm: user mode only' user_only
check 'vm: a rate' rated
check 'vm: a full table' full
check 'vm: nothing is in the program' nothing_inside
check 'vm: the profiler is killed' profiler_killed
check 'vm: check' checks
plan
