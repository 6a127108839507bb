# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Whom nobody can count, and how much at once, for guest.sh.

# Whom nobody can count: the tool says why.  It has ended, or it is the kernel's.
attached_to_none() {
	local dead pid
	# shellcheck disable=SC2016 # for perl; a shell may look at its child
	setpriv --reuid=1000 --regid=1000 --clear-groups \
		perl -e '$dead = fork // die; exit unless $dead; print "$dead\n"; close STDOUT; <STDIN>' <&3 >dead &
	pid=$!
	reached $pid perl waiting $pid pipe_read
	dead=$(cat dead)
	until grep -q '^State:.Z' "/proc/$dead/status"; do :; done
	says 125 user profil run -p "$dead"
	grep -Ex "profil: process $dead cannot be counted: it has ended, .*" err
	says 125 profil run -p "$dead"
	grep -Ex "profil: process $dead cannot be counted: it has ended, .*" err
	kill $pid
	wait $pid || :
	says 125 profil run -p 2
	grep -Ex "profil: process 2 cannot be counted: it is a thread of the kernel's, .*" err
}

# It does nothing but execute.
attached_amid_exec() {
	local pid
	setpriv --reuid=1000 --regid=1000 --clear-groups burn 1000000 exec &
	pid=$!
	reached $pid exe
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		says 0 user profil run -q -d 0.01 -o file -p $pid
	done
	kill $pid
	wait $pid || :
}

# begun PID FILE: waits until the process has made it
begun() {
	until [ -e "$2" ]; do
		grep -q '^State:.[^Z]' "/proc/$1/status"
	done
}

limit_of_process() {
	says 0 profil run -q profil run -q profil run -q profil run -q true
	says 125 profil run -q profil run -q profil run -q profil run -q profil run -q true
	grep -Ex 'profil: true cannot be counted: four sessions count it already, or .*; end another profil run' err
}

# As many sessions as a user may have, and then as many places.
limits_of_user() {
	local i profils=()
	for i in {1..16}; do
		# shellcheck disable=SC2016
		profil run -q -o /dev/null -- sh -c 'touch "$1"; exec cat' sh "begun.$i" <&3 >/dev/null &
		profils+=($!)
		begun $! "begun.$i"
	done
	says 125 profil run -q true
	grep -Ex 'profil: no session could be made: your user has as many as max_sessions_user allows; .*' err
	[ "$(wc -l <err)" = 1 ]
	# another user has his own
	says 0 user profil run -q -o file true
	kill "${profils[@]:1}"
	wait "${profils[@]:1}" || :
	echo 70000 >/sys/module/profil/parameters/max_slots_user
	says 125 profil run -q true
	grep -Ex 'profil: no session could be made: those of your user have as many places as max_slots_user allows; .*' err
	says 0 profil run -q --slots=1024 true
	echo 2097152 >/sys/module/profil/parameters/max_slots_user
	kill "${profils[0]}"
	wait "${profils[0]}" || :
	says 0 profil run -q true
}

check 'vm: attached to what has ended' attached_to_none
check 'vm: attached amid exec' attached_amid_exec
check 'vm: the limit of a process' limit_of_process
check 'vm: the limits of a user' limits_of_user
