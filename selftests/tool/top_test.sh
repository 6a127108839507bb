#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# profil top: tables where there is no terminal, the screen where there is one, and its end.
set -eu
. "$(dirname "$0")/top_lib.sh"

# The table of lib.sh, in which counts grow.
grown() {
	table
	echo 'grow 1 1 30 5'
	echo 'grow 0 1 10 0'
	echo 'grow 4 2 7 1'
}
grown >"$PROFIL_FAKE"

arguments() {
	says 125 profil top
	grep -F 'one of these has to be given: a PROGRAM, -p PID, or -a' err
	says 125 profil top -p 1 true
	says 125 profil top -s 0 true
	says 125 profil top -n 0 true
	says 125 profil top -u --kernel true
	says 125 profil top -o - true
	says 125 profil top -o "$tmp" sh -c 'touch begun'
	[ ! -e begun ]
	says 127 profil top -n 1 nofile
	grep -E '^profil: nofile cannot be executed: ' err
	PROFIL_FAKE_ERROR=1 says 125 profil top -p $$
	says 0 profil top --help
}

# What differs from run to run is cut away.  On a busy machine names may come too late.
tables() {
	for _ in 1 2 3 4 5 6 7 8; do
		says 143 profil top -s 0.1 -n 3 -- sleep 1000
		grep -F '[planted]' out || break
	done
	sed -E 's/, [0-9]+ % running//' out >shown
	diff -u - shown <<-'END'
		sleep 1000: 0.80 s of CPU, 200 samples at 250 Hz
		     now     all     user      sys  function            object
		  50.8 %  50.8 %   0.36 s   0.04 s  hot                 planted
		  30.5 %  30.5 %   0.16 s   0.08 s  cold                planted
		  10.2 %  10.2 %   0.06 s   0.02 s  ns::box<int>::turn  planted
		   5.1 %   5.1 %   0.03 s   0.01 s  [anonymous]         [anonymous]
		   2.0 %   2.0 %   0.02 s        -  main                planted
		   1.5 %   1.5 %   0.01 s   0.00 s  [vdso]              [vdso]

		sleep 1000: 0.98 s of CPU, 245 samples at 250 Hz
		     now     all     user      sys  function            object
		  77.8 %  39.3 %   0.28 s   0.10 s  cold                planted
		  22.2 %  45.5 %   0.40 s   0.04 s  hot                 planted
		       -   8.3 %   0.06 s   0.02 s  ns::box<int>::turn  planted
		       -   4.1 %   0.03 s   0.01 s  [anonymous]         [anonymous]
		       -   1.7 %   0.02 s        -  main                planted
		       -   1.2 %   0.01 s   0.00 s  [vdso]              [vdso]

		sleep 1000: 1.19 s of CPU, 298 samples at 250 Hz
		     now     all     user      sys  function            object
		  66.0 %  44.1 %   0.40 s   0.12 s  cold                planted
		  18.9 %  40.7 %   0.44 s   0.04 s  hot                 planted
		  15.1 %   6.1 %   0.06 s   0.01 s  [anonymous]         [anonymous]
		       -   6.8 %   0.06 s   0.02 s  ns::box<int>::turn  planted
		       -   1.4 %   0.02 s        -  main                planted
		       -   1.0 %   0.01 s   0.00 s  [vdso]              [vdso]
	END
	# the end is that of run
	grep -E '^sleep 1000: [0-9.]+ s of CPU in [0-9.]+ s ' err
	grep -E '^  ticks    298 of 4 ms = 1\.19 s: 295 counted, 2 in exec, 1 lost; the kernel charged' err
	grep -E '^  written  profil.pb.gz, 1 kB ' err
	says 0 profil report
	grep -E '^ +44\.1 % .* cold ' out
	says 143 profil top -s 0.1 -n 1 --rows=2 -q -- sleep 1000
	[ "$(wc -l <out)" = 4 ]
	[ ! -s err ]
}

# Who reads the tables goes away: that is its end.
reader_gone() {
	status=0
	{ profil top -s 0.05 -q -- sleep 1000 || echo $? >status; } | head -n 1
	[ "$(cat status)" = 143 ]
}

# A process that was there before is not harmed; one that ends is the end.
processes() {
	local pid
	echo 'stays 1' >>"$PROFIL_FAKE"
	sleep 1000 &
	pid=$!
	says 0 profil top -s 0.05 -n 2 -q -p $pid
	grep -Ex "process $pid: .*" out
	grep -E '^State:.*sleeping' /proc/$pid/status
	kill $pid
	grown >"$PROFIL_FAKE"
	says 7 profil top -s 1000 -q -- sh -c 'exit 7'
	[ ! -s out ]
}

# The tables have standard output for themselves.
output_of_program() {
	# shellcheck disable=SC2016 # for sh
	says 143 profil top -s 0.3 -n 1 -q -- sh -c 'echo out $((3 * 7)); echo err $((3 * 7)) >&2; exec sleep 1000'
	none grep -x 'out 21' out
	grep -x 'err 21' err
	# shellcheck disable=SC2016
	echo input | { says 5 profil top -q -- sh -c 'read word && [ "$word" = input ] && exit 5'; }
}

# What nobody has seen is said.
failing_program() {
	begin 80 24 'script -qec "profil top -q -- sh -c \"echo lost >&2; exit 3\"" lines >nothing'
	until_is [ -s status ]
	grep -F 'profil: sh ended with status 3, and what it printed was not shown; profil top … 2>FILE keeps its errors' lines
	none grep -x lost lines
}

screen() {
	begin 120 30 'profil top -s 0.1 -- sleep 1000'
	until_is shows '^  66\.0 % +[0-9.]+ % +[0-9.]+ s +[0-9.]+ s  cold +planted$'
	shows '^sleep 1000: [0-9.]+ s of CPU, [0-9]+ % running, [0-9]+ samples at 250 Hz$'
	shows '^     now     all     user      sys  function +object$'
	shows '^q end   f function  o object .* h help$'
	shows '  ns::box<int>::turn +planted$'
	mux send-keys o
	until_is shows "^  84\.9 % .* $planted\$"
	mux send-keys p
	until_is shows '^ 100\.0 % .* 4242  planted$'
	none shows hot
	mux send-keys f
	until_is shows ' hot +planted$'
	mux send-keys h
	until_is shows '^space  freeze, or go on$'
	none shows hot
	mux send-keys x
	until_is shows ' hot +planted$'
	mux send-keys q
	ended 143
	mux capture-pane -p -S - -J | grep -E '^sleep 1000: [0-9.]+ s of CPU in ' || grep -E '^sleep 1000: [0-9.]+ s of CPU in ' err
	profil report | grep ' cold '
}

sizes() {
	begin 120 30 'profil top -s 0.1 -- sleep 1000'
	until_is shows ' cold +planted$'
	mux resize-window -x 40 -y 12
	until_is shows '^  66\.0 % +[0-9.]+ %  cold$'
	shows '^sleep 1000: [0-9]+ % running, [0-9]+ samples$'
	shows '^q end  f o p by  a annotate  h help$'
	mux resize-window -x 20 -y 4
	until_is shows '^q end  h help$'
	mux resize-window -x 1 -y 1
	sleep 0.3
	mux resize-window -x 80 -y 24
	until_is shows '^  66\.0 % .* cold +planted$'
	mux send-keys q
	ended 143
}

# The row that was chosen is marked, wherever it is.
chosen() {
	begin 80 8 'profil top -s 0.1 -- sleep 1000'
	# rows have found their places by then
	until_is more_than 1000
	mux send-keys Down Down
	until_is marked hot
	none marked cold
	mux send-keys s
	until_is shows '^most of all first$'
	marked hot
	# there are six rows, and room for five
	none shows vdso
	mux send-keys End
	until_is marked '\[vdso\]'
	mux send-keys Home
	until_is none marked '\[vdso\]'
	none shows vdso
	mux send-keys q
	ended 143
}

samples() {
	mux capture-pane -p | sed -nE 's/.* ([0-9]+) samples.*/\1/p'
}

more_than() {
	[ "$(samples)" -gt "$1" ]
}

less_than() {
	[ "$(samples)" -lt "$1" ]
}

freeze_and_zero() {
	begin 80 24 'profil top -s 0.1 -- sleep 1000'
	until_is more_than 1000
	mux send-keys Space
	until_is shows '^frozen; space goes on, h help$'
	mux capture-pane -p >one
	sleep 0.5
	mux capture-pane -p | diff one -
	mux send-keys Space
	until_is more_than "$(sed -nE 's/.* ([0-9]+) samples.*/\1/p' one)"
	mux send-keys z
	until_is less_than 500
	# what has no samples since then is no row
	none shows turn
	mux send-keys q
	ended 143
	# the profile has all
	profil report --tsv >tsv
	[ "$(awk '$1 == "function" { sum += $2 } END { print sum }' tsv)" -gt 1000 ]
	profil report | grep ' ns::box<int>::turn '
}

written() {
	begin 80 24 'echo earlier >profil.pb.gz; profil top -s 0.1 -- sleep 1000'
	until_is shows ' cold +planted$'
	mux send-keys w
	until_is shows '^written: profil.pb.gz, 1 kB$'
	grep -x earlier profil.pb.gz.old
	profil report --tsv >tsv
	awk -F '\t' '$1 == "count" { n[$2] = $3 } END { exit n["ticks"] != n["in_slots"] + n["exec"] + n["full"] }' tsv
	grep -P '\tcold\t' tsv
	mux send-keys q
	ended 143
	# of all that it has written itself, the last is there
	grep -x earlier profil.pb.gz.old
	[ "$(profil report --tsv | md5sum)" != "$(md5sum <tsv)" ]
	begin 80 24 'profil top -s 0.1 -o /dev/full -- sleep 1000'
	until_is shows ' cold +planted$'
	mux send-keys w
	until_is shows '^profil: the profile cannot be written to /dev/full: No space left on device'
	mux send-keys q
	ended 143
}

# Whatever ends it: the terminal is as it was.
signals() {
	local signal target
	echo 'stays 1' >>"$PROFIL_FAKE"
	sleep 1000 &
	target=$!
	for signal in TERM HUP INT; do
		begin 80 24 "sh -c 'echo \$\$ >pid; exec profil top -s 0.1 -o file -p $target'"
		until_is shows ' cold +planted$'
		kill -$signal "$(cat pid)"
		ended 0
		[ -s file ]
		rm file
	done
	begin 80 24 "sh -c 'echo \$\$ >pid; exec profil top -s 0.1 -o file -p $target'"
	until_is shows ' cold +planted$'
	kill -SEGV "$(cat pid)"
	ended 139
	[ ! -e file ]
	kill $target
	grown >"$PROFIL_FAKE"
	begin 80 24 'profil top -s 0.1 -- sleep 1000'
	until_is shows ' cold +planted$'
	mux send-keys C-c
	ended 130
}

# q asks a program to end; q again leaves it running.
left_running() {
	rm -f ready
	begin 80 24 "profil top -s 0.1 -- bash -c 'trap \"\" TERM; echo \$\$ >ready; exec sleep 1000'"
	until_is [ -s ready ]
	until_is shows ' cold +planted$'
	mux send-keys q
	until_is shows '^SIGTERM was sent; q leaves it running$'
	mux send-keys q
	ended 130
	kill -9 "$(cat ready)"
}

# The screen has no control character of a name, and no line more than there is.
hostile() {
	objcopy --redefine-sym "hot=$(printf 'evil\033[2J\007\n\302\233m\342\200\256gnp\314\201\344\272\272')" \
		--redefine-sym "cold=$(printf 'l%.0s' $(seq 5000))" "$planted" evil
	grown | sed "s,^object .*,object 10 $tmp/evil," >evil.table
	# shellcheck disable=SC2016
	PROFIL_FAKE=evil.table begin 120 24 'profil top -s 0.1 -- sh -c "exec sleep 1000" "$(printf "\033[2J\nx")"'
	until_is shows ' evil\\x1b\[2J\\x07\\x0a\\xc2\\x9bm\\xe2\\x80\\xaegnp'
	shows ' lll+…l+ +evil$'
	shows '^sh -c exec sleep 1000 \\x1b\[2J\\x0ax: '
	mux resize-window -x 30 -y 12
	until_is shows '^[ 0-9.%-]+ evil.*…'
	[ "$(mux capture-pane -p | grep -c .)" = 9 ]
	mux send-keys q
	ended 143
}

# TERM=vt100, no colour, no UTF-8; and what is no screen at all.
plain_terminals() {
	begin 80 24 'TERM=vt100 NO_COLOR=1 LC_ALL=C profil top -s 0.1 -- sh -c "exec sleep 1000" é'
	until_is shows '^  66\.0 % .* cold +planted$'
	shows '^sh -c exec sleep 1000 \?: '
	mux send-keys q
	ended 143
	TERM=xterm script -qec 'profil top -s 0.1 -n 3 -q -- sleep 1000' /dev/null </dev/null >out || [ $? = 143 ]
	grep -aF "${esc}[?1049l" out
	none grep -aE "$esc\[[0-9;]*(3|4)[0-7](;[0-9]*)*m" out
	begin 80 24 'TERM=dumb profil top -s 0.1 -n 2 -q -- sleep 1000'
	ended 143
	shows '^  77\.8 % .* cold +planted$'
	TERM=dumb script -qec 'profil top -s 0.1 -n 2 -q -- sleep 1000' /dev/null </dev/null >out || [ $? = 143 ]
	grep -aF cold out
	none grep -aF "$esc" out
}

# A day of intervals: PROGRAM is watched without sleeping, and its clock is moved.
day() {
	{
		echo "object 10 $planted"
		echo 'process 0 0 0 0 0 others'
		echo 'process 4242 0 1 0 0 planted'
		for ((i = 0; i < 16; i++)); do
			printf 'slot 10 %x 0 0 0\n' $((0x$(at "$planted" hot) + i))
		done
		for ((i = 0; i < 16; i++)); do
			echo "grow $i $((i * 50)) $((i + 1)) 1"
		done
	} >day.table
	export PROFIL_FAKE=day.table MEMORY=memory
	sleep 1000 &
	INTERVALS=86400 profil-day top -n 86400 --rows=4 -q -o day.pb.gz -p $! >out
	same_memory
	[ "$(grep -c '% running' out)" = 86400 ]
	profil report day.pb.gz
	# on a screen, of two hours and a half
	INTERVALS=9000 TERM=xterm script -qec "profil-day top -n 9000 -q -o day.pb.gz -p $!" /dev/null </dev/null >out
	same_memory
	kill $!
}

# What it needed after a tenth of the day is what it needed after all of it.
same_memory() {
	cat memory
	awk '{ kb[NR] = $1 } END { exit NR != 2 || kb[2] > kb[1] + 512 }' memory
	rm memory
}

check 'top: arguments' arguments
check 'top: tables' tables
check 'top: nobody reads the tables' reader_gone
check 'top: processes' processes
check 'top: what the program prints' output_of_program
check 'top: a program that fails' failing_program
check 'top: the screen' screen
check 'top: sizes of the screen' sizes
check 'top: a row is chosen' chosen
check 'top: freeze, and count from zero' freeze_and_zero
check 'top: write the profile' written
check 'top: signals' signals
check 'top: the program is left running' left_running
check 'top: hostile names' hostile
check 'top: terminals that can do little' plain_terminals
check 'top: a day' day
plan
