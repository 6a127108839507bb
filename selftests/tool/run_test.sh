#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# profil run: whom it runs, what it says at the end, and its exit status.
set -eu
. "$(dirname "$0")/lib.sh"

cd "$tmp"
table >"$PROFIL_FAKE"

# one_line PATTERN: all that was said is one line that matches
one_line() {
	[ "$(wc -l <err)" = 1 ]
	grep -E "^profil: $1" err
}

status_of_program() {
	says 0 profil run -q true
	says 42 profil run -q -- sh -c 'exit 42'
	# shellcheck disable=SC2016
	says 137 profil run -q -- sh -c 'kill -9 $$'
	[ -s profil.pb.gz ]
	# shellcheck disable=SC2016
	says 143 profil run -q -- sh -c 'kill -15 $$'
}

status_of_profil() {
	says 127 profil run nofile
	one_line 'nofile cannot be executed: No such file or directory; '
	says 126 profil run /etc/passwd
	one_line '/etc/passwd cannot be executed: Permission denied; '
	says 126 profil run -- "$tmp"
	one_line "$tmp cannot be executed: Permission denied; "
	PROFIL_FAKE_ERROR=28 says 125 profil run true
	one_line 'true cannot be counted: four sessions count it already, '
	PROFIL_FAKE=nofile says 125 profil run true
	says 125 profil run
	says 125 profil run -p 1 true
	says 125 profil run -F 0 true
	says 125 profil run -F 12x true
	says 125 profil run -d -1 true
	says 125 profil run --nothing true
	says 125 profil nothing
	says 0 profil run --help
	says 0 profil --version
	grep -x 'profil [0-9.]*' out
}

attach_errors() {
	says 125 profil run -p 2147483647
	one_line 'process 2147483647 cannot be counted: there is no such process; '
	sleep 10 &
	PROFIL_FAKE_ERROR=1 says 125 profil run -p $!
	one_line "process $! cannot be counted: you may not trace it; .*sudo, .*sudo sysctl kernel.yama.ptrace_scope=0$"
	says 0 profil run -q -p $!
	grep -E '^State:.*sleeping' /proc/$!/status
	grep -Ex 'TracerPid:.0' /proc/$!/status
	kill $!
}

# state_is PID LETTER
state_is() {
	until grep -q "^State:.$2" "/proc/$1/status"; do :; done
}

# It has ended; or its first thread has; or it is the kernel's.
attach_to_none() {
	local dead pid
	# shellcheck disable=SC2016 # for perl
	perl -e '$dead = fork // die; exit unless $dead; $| = 1; print "$dead\n"; sleep 1000' >dead &
	pid=$!
	until [ -s dead ]; do :; done
	dead=$(cat dead)
	state_is "$dead" Z
	PROFIL_FAKE_ERROR=1 says 125 profil run -p "$dead"
	one_line "process $dead cannot be counted: it has ended, "
	PROFIL_FAKE_ERROR=3 says 125 profil run -p "$dead"
	one_line "process $dead cannot be counted: it has ended, "
	kill $pid
	python3 -c 'import ctypes, os, threading, time
threading.Thread(target=time.sleep, args=(1000,)).start()
ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[os.uname().machine], 0)' &
	pid=$!
	state_is $pid Z
	PROFIL_FAKE_ERROR=1 says 125 profil run -p $pid
	one_line "process $pid cannot be counted: its first thread has ended; "
	kill $pid
	if [ "$(cat /proc/2/comm)" = kthreadd ]; then
		PROFIL_FAKE_ERROR=3 says 125 profil run -p 2
		one_line "process 2 cannot be counted: it is a thread of the kernel's"
		grep -F '; sudo profil run -a --kernel counts those' err
	fi
}

# Who executes a program meanwhile is tried again, and not for ever.
attach_again() {
	sleep 1000 &
	{ table; echo 'again 3'; } >again
	PROFIL_FAKE=again says 0 profil run -q -p $! -d 0.1
	{ table; echo 'again 1000000'; } >again
	PROFIL_FAKE=again says 125 profil run -q -p $!
	one_line "process $! cannot be counted: it executes one program after another; "
	kill $!
}

# What follows the program is its own.
arguments() {
	says 0 profil run -q echo -o a --quiet -p 1
	grep -Fx -- '-o a --quiet -p 1' out
	[ ! -e a ]
	says 0 profil run -q -- echo -q
	grep -Fx -- '-q' out
}

output() {
	says 0 profil run -- echo hello
	grep -Fx hello out
	[ "$(wc -l <out)" = 1 ]
	grep -E '^echo hello: [0-9.]+ s of CPU in [0-9.]+ s ' err
	grep -E '^  written  profil.pb.gz, 1 kB ' err
	says 0 profil run -q -- echo hello
	[ ! -s err ]
	says 0 profil run -o - -- true
	gzip -t <out
	grep -E '^true: ' err
}

# The numbers of the table; what differs from run to run is cut away.
end_of_run() {
	says 0 profil run -n 4 -- planted
	sed -E -e '1d' -e 's/^planted: .*/planted: CPU/' -e '/remark .*waited/,+1d' \
		-e 's/; the kernel charged .*//' err >end
	diff -u - end <<-'END'
		planted: CPU

		   self  ±95%   cumul    user     sys  function            object
		  50.8 %   6.9  50.8 %  0.36 s  0.04 s  hot                 planted
		  30.5 %   6.4  81.2 %  0.16 s  0.08 s  cold                planted
		  10.2 %   4.2  91.4 %  0.06 s  0.02 s  ns::box<int>::turn  planted
		   5.1 %   3.2  96.4 %  0.03 s  0.01 s  [anonymous]         [anonymous]
		   3.6 %                0.02 s  0.00 s  2 more functions  (profil report --all)

		  objects  planted 93.4 %, [anonymous] 5.1 %, [vdso] 1.5 %
		  names    7 % of the samples have none: code made at run time
		           node --perf-basic-prof, java -XX:+DumpPerfMapAtExit, python3 -X perf name theirs
		  ticks    200 of 4 ms = 0.80 s: 197 counted, 2 in exec, 1 lost
		  remark   ticks for which the table of places had no room: 1
		           profil run --slots=1048576 … makes it larger
		  written  profil.pb.gz, 1 kB (profil report, go tool pprof)
	END
}

few_samples() {
	printf 'process 0 0 0 0 0 others\nprocess 7 0 1 37 0 a\nslot 3 1 1 37 0\n' >few
	PROFIL_FAKE=few says 0 profil run true
	grep -Ex 'only 37 samples: shares are good to ±1[56] %; run it longer, or with -F 1000' err
	says 0 profil run true
	none grep only err
}

no_samples() {
	printf 'process 0 0 0 0 0 others\n' >none
	PROFIL_FAKE=none says 0 profil run true
	grep -E '^  ticks    0 of 4 ms = 0.00 s: 0 counted, 0 in exec, 0 lost' err
	none grep -E 'self|objects|names' err
	says 0 profil report
}

remarks() {
	{
		table
		echo 'full_objects 3'
		echo 'full 10'
		echo 'execs_denied 2'
		echo 'forks_missed 5'
		echo 'not_due 7'
	} >many
	PROFIL_FAKE=many says 0 profil run true
	grep -Fx '  remark   ticks in files for which there was no room: 3' err
	grep -Fx '  remark   ticks for which the table of places had no room: 7' err
	grep -F 'remark   processes that executed what you may not trace (set-user-ID, unreadable): 2' err
	grep -F 'remark   processes that are not counted, because there were too many at a time: 5' err
	grep -F ', and 7 were not due' err
	# 200 ticks are not 213
	grep -F 'remark   there were 200 ticks, which is not the sum' err
	says 0 profil run true
	none grep -E 'remark   (ticks in|processes|there)' err
	# on a busy machine it waits for a processor: the line says how much it ran
	# shellcheck disable=SC2016
	says 0 profil run -- sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'
	running=$(sed -nE 's/.* \(([0-9]+) % running\).*/\1/p' err)
	# 50 is what 49.6 is rounded to, too
	[ "$running" -le 50 ] || none grep -F ' it waited half' err
	[ "$running" -ge 50 ] || grep -F ' it waited half' err
	says 0 profil run sleep 0.3
	grep -F 'remark   it waited half of the time or more' err
}

in_step() {
	printf 'process 0 0 0 0 0 others\nprocess 7 0 1 5 0 a\nslot 3 1 1 5 0\n' >few
	# shellcheck disable=SC2016
	PROFIL_FAKE=few says 0 profil run -- sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'
	grep -F 'remark   the ticks are less than 95 % of that' err
}

# The last profile is kept, one that is named is replaced; nothing lies about.
files() {
	mkdir files
	cd files
	umask 027
	says 0 profil run -q true
	says 0 profil run -q false || says 1 profil run -q false
	[ -s profil.pb.gz.old ]
	says 0 profil run -q -o named true
	says 0 profil run -q -o named true
	[ "$(echo *)" = 'err named out profil.pb.gz profil.pb.gz.old' ]
	[ "$(stat -c %a named)" = 640 ]
	says 0 profil run -q -o /dev/null true
	[ -c /dev/null ]
	says 125 profil run -o nofolder/a sh -c 'touch begun'
	one_line 'the profile cannot be written to nofolder/a: No such file or directory; '
	says 125 profil run -o "$tmp" sh -c 'touch begun'
	one_line "$tmp is a folder; "
	says 125 profil run -o '' sh -c 'touch begun'
	one_line 'the profile cannot be written to a file without a name; name one with -o$'
	# there is room for the name, and not for that of the file that becomes it
	says 125 profil run -o "$(printf '%0250d' 0)" sh -c 'touch begun'
	one_line 'the profile cannot be written to 0+: File name too long; choose another file with -o$'
	says 0 profil run -q -o "$(printf '%0248d' 0)" true
	says 125 profil run -o nofolder/ sh -c 'touch begun'
	one_line 'the profile cannot be written to nofolder/: No such file or directory; '
	says 125 profil run -o named/ sh -c 'touch begun'
	one_line 'the profile cannot be written to named/: Not a directory; '
	[ ! -e begun ]
	# it was begun: the status is the program's
	says 3 profil run -q -o /dev/full sh -c 'exit 3'
	one_line 'the profile cannot be written to /dev/full: No space left on device; '
}

# As profil(1) has it: a link goes, and what it leads to stays.
links() {
	mkdir links
	cd links
	echo other >other
	ln -s other link
	says 0 profil run -q -o link true
	[ ! -L link ]
	grep -x other other
	ln -s other profil.pb.gz
	says 0 profil run -q true
	[ "$(readlink profil.pb.gz.old)" = other ]
	[ ! -L profil.pb.gz ]
	grep -x other other
}

# wait_for FILE
wait_for() {
	for _ in $(seq 2000); do
		[ ! -e "$1" ] || return 0
		sleep 0.05
	done
	return 1
}

signals() {
	local signal
	for signal in TERM HUP USR1 USR2 INT QUIT; do
		rm -f ready
		# what is ignored here, as bash has INT in the background, could not be trapped
		# shellcheck disable=SC2016 # for perl
		perl -e '$SIG{$_} = "DEFAULT" for qw(TERM HUP USR1 USR2 INT QUIT); exec @ARGV' profil run -q -- \
			bash -c "trap 'echo $signal; exit 9' $signal; touch ready; for i in {1..200}; do sleep 0.05; done" >got &
		wait_for ready
		kill -$signal $!
		status=0
		wait $! || status=$?
		[ $status = 9 ]
		grep -Fx $signal got
	done
}

# Who presses Ctrl-C twice does not wait any longer.
interrupted_twice() {
	rm -f ready profil.pb.gz
	# shellcheck disable=SC2016
	perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' profil run -q -- \
		bash -c 'trap "" INT; echo $$ >pid; touch ready; exec sleep 20' &
	wait_for ready
	kill -INT $!
	sleep 0.2
	[ ! -e profil.pb.gz ]
	kill -INT $!
	status=0
	wait $! || status=$?
	[ $status = 130 ]
	[ -s profil.pb.gz ]
	kill "$(cat pid)"
}

duration() {
	local begin
	begin=$(date +%s%N)
	says 5 profil run -d 0.2 -- sh -c 'sleep 3; exit 5'
	[ $((($(date +%s%N) - begin) / 1000000)) -ge 3000 ]
	grep -E '^sh .* s of CPU in (0\.[2-9]|[12]\.)' err
	# of a part, nobody knows what the kernel charged
	none grep charged err
}

left_behind() {
	rm -f is_done go
	says 0 profil run -q -- sh -c '(until [ -e go ]; do sleep 0.05; done; touch is_done) >/dev/null 2>&1 &'
	[ ! -e is_done ]
	touch go
	wait_for is_done
	rm is_done
	says 0 profil run -q -w -- sh -c '(sleep 0.5; touch is_done) >/dev/null 2>&1 &'
	[ -e is_done ]
}

# With -w, once the program has ended, a signal ends the waiting.
waiting_ended() {
	local signal
	for signal in TERM HUP INT QUIT; do
		rm -f pids
		# shellcheck disable=SC2016 # for perl
		perl -e '$SIG{$_} = "DEFAULT" for qw(TERM HUP INT QUIT); exec @ARGV' profil run -q -w -o waited -- \
			sh -c 'sleep 1000 >/dev/null 2>&1 & echo $$ $! >pids.new; mv pids.new pids; exit 7' &
		wait_for pids
		read -r program behind <pids
		until [ ! -e "/proc/$program" ]; do :; done
		kill -$signal $!
		status=0
		wait $! || status=$?
		[ $status = 7 ]
		# it goes on
		grep -E '^State:.*sleeping' "/proc/$behind/status"
		kill "$behind"
		rm waited
	done
}

# Who reads the profile or the table goes away before it comes.
reader_gone() {
	status=0
	{ profil run -o - sh -c 'sleep 0.3; exit 6' 2>&1 || echo $? >status; } | true
	[ "$(cat status)" = 6 ]
}

# What ignores SIGCHLD could not wait for its child.
child_signal_ignored() {
	# shellcheck disable=SC2016 # for perl
	says 42 perl -e '$SIG{CHLD} = "IGNORE"; exec @ARGV' profil run -q -- sh -c 'exit 42'
}

# The program has the signals that profil was given.
same_signals() {
	grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status >alone
	says 0 profil run -q -- grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status
	diff -u alone out
	perl -e '$SIG{CHLD} = $SIG{INT} = "IGNORE"; exec @ARGV' grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status >alone
	perl -e '$SIG{CHLD} = $SIG{INT} = "IGNORE"; exec @ARGV' \
		profil run -q -- grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status >out
	diff -u alone out
}

# A command that holds escape sequences, and 4 KB.
hostile_command() {
	says 0 profil run -- true "$(printf '\033[2J\r\n\302\233')" "$(printf '%04096d' 0)"
	none grep -n "$esc" err
	[ "$(wc -L <err)" -lt 400 ]
	says 0 profil report --json
	none grep "$esc" out
	says 127 profil run "$(printf 'no\033[2J\nfile')"
	one_line 'no\\x1b\[2J\\x0afile cannot be executed'
}

check 'run: the exit status is that of the program' status_of_program
check 'run: its own statuses, each with one line' status_of_profil
check 'run: processes that cannot be counted; one that can is not stopped' attach_errors
check 'run: processes that have ended, or are the kernel'"'"'s' attach_to_none
check 'run: processes that execute another program' attach_again
check 'run: options of the program' arguments
check 'run: standard output is the program'"'"'s' output
check 'run: the end of a run' end_of_run
check 'run: few samples' few_samples
check 'run: no samples' no_samples
check 'run: remarks where they apply, and only there' remarks
check 'run: ticks that miss what the kernel charged' in_step
check 'run: files' files
check 'run: links are replaced, and not what they lead to' links
check 'run: signals are passed on' signals
check 'run: a second Ctrl-C' interrupted_twice
check 'run: for some time' duration
check 'run: processes that are left behind' left_behind
check 'run: a signal ends the waiting for these' waiting_ended
check 'run: nobody reads what it says' reader_gone
check 'run: SIGCHLD ignored' child_signal_ignored
check 'run: signals of the program are as they were' same_signals
check 'run: a hostile command' hostile_command
plan
