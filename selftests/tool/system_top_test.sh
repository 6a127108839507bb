#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# profil top -a: the whole machine, while it runs.
set -eu
. "$(dirname "$0")/top_lib.sh"
. "$here/system_lib.sh"

{
	machine
	# of nginx
	echo 'grow 0 1 30 5'
} >"$PROFIL_FAKE"

# last_table: of the output, with its head
last_table() {
	awk 'BEGIN { RS = "" } { table = $0 } END { print table }' out
}

tables() {
	says 0 planted_groups profil top -a -s 0.1 -n 3 --by unit
	last_table >last
	head -n 1 last | grep -E '^the whole machine: 3.[0-9]+ s of CPU, [0-9]+ % of [0-9]+ CPUs, 8[0-9]+ samples at 250 Hz$'
	sed -n 2p last | grep -Fx '     now     all     user      sys  unit'
	sed -n 3p last | grep -E '^ 100.0 % .* nginx.service$'
	grep -E '^ +- +[0-9.]+ % +0.80 s +0.08 s  docker-4d2fe8c1b0a7.scope$' last
	grep -E '^ +- +[0-9.]+ % .* \[ended group 999999999\]$' last
	grep -E '^ +- +[0-9.]+ % .* \[others\]$' last
	# its end is that of run
	grep -E '^the whole machine: [0-9.]+ CPUs for [0-9.]+ s$' err
	grep -E '^  idle ' err
	profil report --by unit | grep -F nginx.service
}

# Time that has no place, as that of kernel threads and interrupts, is the machine's as well.
head_of_all() {
	machine >still
	PROFIL_FAKE=still says 0 planted_groups profil top -a -s 0.1 -n 1
	grep -E '^the whole machine: 3\.20 s of CPU, [0-9]+ % of [0-9]+ CPUs?, 800 samples at 250 Hz$' out
	[ "$(awk '$1 == "slot" { sum += $5 + $6 } END { print sum }' still)" -lt 800 ]
}

# by WHAT NAME: it is first
by() {
	says 0 planted_groups profil top -a -s 0.1 -n 2 -q --by "$1"
	last_table | sed -n 3p | grep -E " $2\$"
}

kinds() {
	by container '\[no container\]'
	by program nginx
	by process nginx
	by object '.*/planted'
	by function 'hot +planted'
	last_table | grep -F '[elsewhere in planted]'
	says 125 profil top --by unit true
	grep -F -- '--by unit needs -a' err
	says 125 profil top -a --by line
	says 125 profil top -a -p 1
	says 125 profil top -a -F 10
	says 125 profil top -a -w -n 1 -s 0.1
	grep -F -- '-a counts until PROGRAM ends, whatever it leaves behind: leave out -w' err
}

# The program ends it, and is no member.
program() {
	PROFIL_FAKE_ERROR=22 says 3 planted_groups profil top -a -q -s 1000 -- sh -c 'exit 3'
	says 143 planted_groups profil top -a -s 0.1 -n 2 -- sleep 1000
	grep -E '^the whole machine, sl.*0: ' out
	grep -F 'written' err
}

screen() {
	cat >begin.sh <<-END
		PATH=$PATH
		here=$here tmp=$tmp
		. "$here/lib.sh" >/dev/null
		tmp=$tmp PROFIL_FAKE=$tmp/table
		. "$here/system_lib.sh"
		planted_groups profil top -a -s 0.1
		echo \$? >status
		exec sleep 1000
	END
	mux new-session -d -x 100 -y 20 "bash begin.sh"
	until_is shows '^  *[0-9.]+ % .* hot +planted$'
	until_is shows '^the whole machine: .* % of [0-9]+ CPUs'
	until_is shows '^q end   f function  o object  p program  u unit  c container '
	mux send-keys u
	until_is shows '^ 100.0 % .* nginx.service$'
	until_is shows ' docker-4d2fe8c1b0a7.scope$'
	mux send-keys c
	until_is shows ' 4d2fe8c1b0a7$'
	mux send-keys p
	until_is shows '^ 100.0 % .* nginx$'
	mux send-keys h
	until_is shows '^u c    by unit, container$'
	mux send-keys x w
	until_is shows '^written: profil.pb.gz, '
	profil report --tsv >tsv
	awk -F '\t' '$1 == "count" { n[$2] = $3 } END {
		exit n["ticks"] != n["in_slots"] + n["exec"] + n["full"] + n["idle"] + n["kthreads"] + n["interrupts"] }' tsv
	mux send-keys q
	until [ -s status ]; do sleep 0.05; done
	[ "$(cat status)" = 0 ]
}

check 'system top: tables' tables
check 'system top: its head has all' head_of_all
check 'system top: by what' kinds
check 'system top: a program' program
check 'system top: the screen' screen
plan
