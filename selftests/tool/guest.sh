#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The command with the module, mostly as an ordinary user: whom it follows.
set -eu
. "$(dirname "$0")/guest_lib.sh"

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
	run -- sh -c '"$1" 10 & until read name </proc/$!/comm && [ $name = gone ]; do :; done; rm "$1"; echo other >"$1"; wait' sh "$tmp/gone"
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
	local pid profil
	setpriv --reuid=1000 --regid=1000 --clear-groups burn 1000000 &
	pid=$!
	reached $pid burn
	says 0 user profil run -q -d 0.5 -o file -p $pid
	profiled burn burn_here
	grep -E '^State:.R' /proc/$pid/status
	grep -Ex 'TracerPid:.0' /proc/$pid/status
	kill $pid
	wait $pid || :
	# one that ends by itself; its children too
	setpriv --reuid=1000 --regid=1000 --clear-groups sh -c 'read word; burn 3' <&3 &
	pid=$!
	reached $pid sh waiting $pid pipe_read
	setpriv --reuid=1000 --regid=1000 --clear-groups profil run -q -o file -p $pid &
	profil=$!
	reached $profil profil waiting $profil poll
	echo go >&3
	wait $profil
	profiled burn burn_here
}

not_attached() {
	local pid
	cat <&3 >/dev/null &
	pid=$!
	reached $pid cat waiting $pid pipe_read
	says 125 user profil run -p $pid
	grep -Ex "profil: process $pid cannot be counted: you may not trace it; .*" err
	says 0 profil run -q -d 0.1 -o file -p $pid
	kill $pid
	wait $pid || :
	# nobody has it any more
	says 125 user profil run -p $pid
	grep -Ex "profil: process $pid cannot be counted: there is no such process; .*" err
}

# What makes the namespaces has 25 ticks on 6.1.
container() {
	says 0 switched profil run -q -o file -- unshare -Urmp --fork --mount-proc burn 10
	profiled burn burn_here
	charged 3
}

# The interpreter, not what it interprets.
python() {
	run -- /usr/bin/python3 -c '
from itertools import repeat
def assign():
    for word in repeat(None, 5000000): a = b = c = d = word
assign()'
	hottest _PyEval_EvalFrameDefault
	charged 1
}

# Static, with threads and stacks of its own, and signals that preempt them.
go_program() {
	run -- go-static
	profiled go-static main.spin
	charged 1
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

# same_system: functions of the kernel have all the time that processes had there
same_system() {
	user profil report --by process --tsv file >processes
	[ "$(awk -F '\t' '$1 == "function" { sum += $5 } END { print sum }' tsv)" = \
		"$(awk -F '\t' '$1 == "process" { sum += $5 } END { print sum }' processes)" ]
	[ "$(count full)$(count exec)" = 00 ]
}

# The function that fills memory has another name on each kernel and machine.
filling='(__arch_)?clear_user.*|__clear_user|rep_stos.*|read_zero|iov_iter_zero|(__)?memset.*'

kernel_functions() {
	says 0 profil run --kernel -o file -- burn 5 zero
	hottest "$filling"
	awk -F '\t' '$1 == "function" { exit $9 != "[kernel]" }' tsv
	charged 1
	same_system
	# what is no code of a program is no time of its functions
	[ "$(awk -F '\t' '$1 == "function" && $9 !~ /^\[/ { sum += $5 } END { print sum + 0 }' tsv)" = 0 ]
	# a module's
	says 0 profil run --kernel -F 1000 -o file -- burn 5 module
	added_up
	same_system
	[ "$(awk -F '\t' '$1 == "function" && $9 == "[profil]" && $8 ~ /^profil_/ { sum += $2 } END { print sum + 0 }' tsv)" -gt 30 ]
	user profil report --by address --tsv file >addresses
	grep '^address' addresses
	none grep -i ffffffff addresses
}

kernel_attached() {
	local pid
	burn 1000000 zero &
	pid=$!
	reached $pid burn
	says 0 profil run -q --kernel --per-process -d 0.5 -o file -p $pid
	kill $pid
	wait $pid || :
	hottest "$filling"
	user profil report --by process --tsv file | grep -P "\tburn\t\t$pid\$"
}

kernel_not_allowed() {
	rm -f begun
	says 125 user profil run --kernel -o file -- touch begun
	[ ! -e begun ]
	[ "$(wc -l <err)" = 1 ]
	grep -F 'profil: where the kernel is cannot be counted: --kernel needs CAP_PERFMON; sudo profil run --kernel ' err
	# the other way that it says
	cp "$(command -v profil)" granted
	setcap cap_perfmon,cap_syslog+ep granted
	says 0 user ./granted run -q --kernel -o file -- burn 5 zero
	hottest "$filling"
	says 0 user ./granted run -q --kernel -o file -- grep -E '^Cap(Prm|Eff)' /proc/self/status
	none grep [1-9a-f] <(sed 's/.*://' out)
}

kernel_hidden() {
	local before
	before=$(cat /proc/sys/kernel/kptr_restrict)
	echo 2 >/proc/sys/kernel/kptr_restrict
	says 0 profil run --kernel -o file -- burn 5 zero
	echo "$before" >/proc/sys/kernel/kptr_restrict
	grep -E '^  names    .*: the kernel hides its functions$' err
	hottest '\[kernel\]'
	same_system
	# as it says
	# shellcheck disable=SC2091 # a command
	$(sed -n 's/.*sudo \(sysctl kernel.kptr_restrict=1\);.*/\1/p' err)
	says 0 profil run -q --kernel -o file -- burn 5 zero
	echo "$before" >/proc/sys/kernel/kptr_restrict
	hottest "$filling"
	# who may count, and not see names
	says 0 setpriv --reuid=1000 --regid=1000 --clear-groups --inh-caps=+perfmon --ambient-caps=+perfmon \
		profil run --kernel -o file -- burn 5 zero
	grep -E '^  names    .*: the kernel hides its functions$' err
}

# hottest_shown NAME: the last of three tables has this first, with its samples
hottest_shown() {
	[ "$(grep -c '% running' out)" = 3 ]
	awk -v name="$1" 'BEGIN { RS = "" } { table = $0 } END {
		split(table, lines, "\n")
		print table
		exit !(lines[3] ~ "^ +[0-9.]+ % +[0-9.]+ % .* " name " ")
	}' out
}

looked_at() {
	local pid
	setpriv --reuid=1000 --regid=1000 --clear-groups burn 1000000 &
	pid=$!
	reached $pid burn
	says 0 user profil top -s 0.3 -n 3 -o file -p $pid
	hottest_shown burn_here
	grep -Ex "process $pid: [0-9.]+ s of CPU in .*" err
	profiled burn burn_here
	# it goes on
	grep -E '^State:.R' /proc/$pid/status
	kill $pid
	wait $pid || :
}

looked_at_program() {
	says 143 user profil top -s 0.3 -n 3 -o file -- burn 1000000
	hottest_shown burn_here
	grep -E '^burn 1000000: [0-9.]+ s of CPU in .*' err
	grep -E '^  ticks .*, 0 lost; the kernel charged' err
	profiled burn burn_here
	charged 1
	# on a screen, which is left at the end
	TERM=xterm says 143 user script -qec 'profil top -s 0.3 -n 2 -q -o file -- burn 1000000' /dev/null
	grep -F burn_here out
	tr '\033' '@' <out | grep -F '@[?1049h'
	tr '\033' '@' <out | grep -F '@[?1049l'
	profiled burn burn_here
}

# Who profiles is killed: the program goes on, the module can go.
profiler_killed() {
	setpriv --reuid=1000 --regid=1000 --clear-groups profil run -q -o file -- \
		sh -c 'touch begun; read word; burn 2; touch survived' <&3 &
	until [ -e begun ]; do
		grep -q '^State:.[^Z]' "/proc/$!/status"
	done
	kill -9 $!
	wait $! || :
	echo go >&3
	until [ -e survived ]; do :; done
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
check 'vm: python3' python
check 'vm: a static program in Go' go_program
check 'vm: user mode only' user_only
check 'vm: a rate' rated
check 'vm: a full table' full
check 'vm: nothing is in the program' nothing_inside
check 'vm: functions of the kernel' kernel_functions
check 'vm: functions of the kernel, attached' kernel_attached
check 'vm: functions of the kernel, who may have them' kernel_not_allowed
check 'vm: functions of the kernel, hidden' kernel_hidden
check 'vm: the profiler is killed' profiler_killed
check 'vm: top: a process' looked_at
check 'vm: top: a program' looked_at_program
check 'vm: check' checks
. "$here/guest_time.sh"
. "$here/guest_limits.sh"
. "$here/guest_room.sh"
plan
