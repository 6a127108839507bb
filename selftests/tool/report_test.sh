#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# profil report: what it shows of files that are right, cut off, or no profiles.
set -eu
. "$(dirname "$0")/lib.sh"

cd "$tmp"
whole profil.pb.gz

# golden: what is the same each time and everywhere of the output is standard input
golden() {
	cat out
	sed -E -e 's/^true: .*/true: CPU/' -e 's/(duration_ns|charged_[a-z]*_ns)(\t|": )[0-9]+/\1\2N/' \
		-e '/remark .*waited/,+1d' -e 's/; the kernel charged .*//' -e "s,[^ \"	]*/planted,planted,g" \
		-e 's/0x[0-9a-f]+ */ADDRESS /' out >same
	diff -u - same
}

functions() {
	says 0 profil report
	golden <<-'END'
		true: CPU

		   self  ±95%   cumul    user     sys  function            object
		  50.8 %   6.9  50.8 %  0.36 s  0.04 s  hot                 planted
		  30.5 %   6.4  81.2 %  0.16 s  0.08 s  cold                planted
		  10.2 %   4.2  91.4 %  0.06 s  0.02 s  ns::box<int>::turn  planted
		   5.1 %   3.2  96.4 %  0.03 s  0.01 s  [anonymous]         [anonymous]
		   2.0 %     ·  98.5 %  0.02 s       -  main                planted
		   1.5 %     · 100.0 %  0.01 s  0.00 s  [vdso]              [vdso]

		  objects  planted 93.4 %, [anonymous] 5.1 %, [vdso] 1.5 %
		  names    7 % of the samples have none: code made at run time
		           node --perf-basic-prof, java -XX:+DumpPerfMapAtExit, python3 -X perf name theirs
		  ticks    200 of 4 ms = 0.80 s: 197 counted, 2 in exec, 1 lost
		  remark   ticks for which the table of places had no room: 1
		           profil run --slots=1048576 … makes it larger
	END
}

lines() {
	says 0 profil report --by line
	golden <<-'END'
		true: CPU

		   self  ±95%   cumul    user     sys  line               function            object
		  50.8 %   6.9  50.8 %  0.36 s  0.04 s  planted.c:8   hot                 planted
		  30.5 %   6.4  81.2 %  0.16 s  0.08 s  planted.c:13  cold                planted
		  10.2 %   4.2  91.4 %  0.06 s  0.02 s  planted.c:18  ns::box<int>::turn  planted
		   5.1 %   3.2  96.4 %  0.03 s  0.01 s                     [anonymous]         [anonymous]
		   2.0 %     ·  98.5 %  0.02 s       -  planted.c:28  main                planted
		   1.5 %     · 100.0 %  0.01 s  0.00 s                     [vdso]              [vdso]

		  objects  planted 93.4 %, [anonymous] 5.1 %, [vdso] 1.5 %
		  names    7 % of the samples have none: code made at run time
		           node --perf-basic-prof, java -XX:+DumpPerfMapAtExit, python3 -X perf name theirs
		  ticks    200 of 4 ms = 0.80 s: 197 counted, 2 in exec, 1 lost
		  remark   ticks for which the table of places had no room: 1
		           profil run --slots=1048576 … makes it larger
	END
}

objects() {
	says 0 profil report --by object
	golden <<-'END'
		true: CPU

		   self  ±95%   cumul    user     sys  object
		  93.4 %   3.5  93.4 %  0.60 s  0.14 s  planted
		   5.1 %   3.2  98.5 %  0.03 s  0.01 s  [anonymous]
		   1.5 %     · 100.0 %  0.01 s  0.00 s  [vdso]

		  objects  planted 93.4 %, [anonymous] 5.1 %, [vdso] 1.5 %
		  names    7 % of the samples have none: code made at run time
		           node --perf-basic-prof, java -XX:+DumpPerfMapAtExit, python3 -X perf name theirs
		  ticks    200 of 4 ms = 0.80 s: 197 counted, 2 in exec, 1 lost
		  remark   ticks for which the table of places had no room: 1
		           profil run --slots=1048576 … makes it larger
	END
}

processes() {
	says 0 profil report --by process
	golden <<-'END'
		true: CPU

		   self  ±95%   cumul    user     sys  pid      program
		  57.0 %   6.8  57.0 %  0.40 s  0.06 s  4242     planted
		  43.0 %   6.8 100.0 %  0.24 s  0.10 s  4243     sh

		  objects  planted 93.4 %, [anonymous] 5.1 %, [vdso] 1.5 %
		  ticks    200 of 4 ms = 0.80 s: 197 counted, 2 in exec, 1 lost
		  remark   ticks for which the table of places had no room: 1
		           profil run --slots=1048576 … makes it larger
	END
}

addresses() {
	says 0 profil report --by address --all
	golden <<-'END'
		true: CPU

		   self  ±95%   cumul    user     sys  address         function            object
		  50.8 %   6.9  50.8 %  0.36 s  0.04 s  ADDRESS hot                 planted
		  30.5 %   6.4  81.2 %  0.16 s  0.08 s  ADDRESS cold                planted
		  10.2 %   4.2  91.4 %  0.06 s  0.02 s  ADDRESS ns::box<int>::turn  planted
		   5.1 %   3.2  96.4 %  0.03 s  0.01 s  ADDRESS [anonymous]         [anonymous]
		   2.0 %     ·  98.5 %  0.02 s       -  ADDRESS main                planted
		   1.5 %     · 100.0 %  0.01 s  0.00 s  ADDRESS [vdso]              [vdso]

		  objects  planted 93.4 %, [anonymous] 5.1 %, [vdso] 1.5 %
		  names    7 % of the samples have none: code made at run time
		           node --perf-basic-prof, java -XX:+DumpPerfMapAtExit, python3 -X perf name theirs
		  ticks    200 of 4 ms = 0.80 s: 197 counted, 2 in exec, 1 lost
		  remark   ticks for which the table of places had no room: 1
		           profil run --slots=1048576 … makes it larger
	END
}

tsv() {
	says 0 profil report --tsv
	golden <<-'END'
		count	files	1
		count	period_ns	4000000
		count	duration_ns	N
		count	ticks	200
		count	in_slots	197
		count	exec	2
		count	full	1
		count	not_due	0
		count	full_objects	0
		count	hinted	0
		count	borrowed	0
		count	execs_denied	0
		count	forks_missed	0
		count	charged_user_ns	N
		count	charged_system_ns	N
		function	100	400000000	360000000	40000000	0.438327	0.576611	hot	planted	
		function	60	240000000	160000000	80000000	0.244548	0.372065	cold	planted	
		function	20	80000000	60000000	20000000	0.066686	0.151603	ns::box<int>::turn	planted	
		function	10	40000000	32000000	8000000	0.027803	0.090905	[anonymous]	[anonymous]	
		function	4	16000000	16000000	0	0.007924	0.051036	main	planted	
		function	3	12000000	8000000	4000000	0.005192	0.043809	[vdso]	[vdso]	
	END
}

json() {
	says 0 profil report --json --by process
	golden <<-'END'
		{
		 "command": "true",
		 "counts": {
		  "files": 1,
		  "period_ns": 4000000,
		  "duration_ns": N,
		  "ticks": 200,
		  "in_slots": 197,
		  "exec": 2,
		  "full": 1,
		  "not_due": 0,
		  "full_objects": 0,
		  "hinted": 0,
		  "borrowed": 0,
		  "execs_denied": 0,
		  "forks_missed": 0,
		  "charged_user_ns": N,
		  "charged_system_ns": N
		 },
		 "by": "process",
		 "rows": [
		  {
		   "name": "planted",
		   "object": "",
		   "place": "4242",
		   "samples": 114,
		   "cpu_ns": 456000000,
		   "user_ns": 400000000,
		   "system_ns": 56000000,
		   "low": 0.500705,
		   "high": 0.636657
		  },
		  {
		   "name": "sh",
		   "object": "",
		   "place": "4243",
		   "samples": 86,
		   "cpu_ns": 344000000,
		   "user_ns": 240000000,
		   "system_ns": 104000000,
		   "low": 0.363343,
		   "high": 0.499295
		  }
		 ]
		}
	END
	python3 -m json.tool <out >parsed
}


rows() {
	says 0 profil report -n 1
	grep -E '^ +49\.2 % +0\.28 s  0\.11 s  5 more functions  \(profil report --all\)$' out
	says 0 profil report --by process -n 1
	grep -F '1 more process  (' out
	says 0 profil report --all -n 3
	grep -F '3 more functions  (' out
	says 0 profil report -n 3 --all
	none grep -F ' more functions  (' out
}

# Of a file without our comments nobody knows how many ticks there were.
foreign() {
	perl -e 'sub part { my ($number, $data) = @_; chr($number << 3 | 2) . chr(length $data) . $data }
		my @strings = ("", "samples", "count", "cpu", "nanoseconds", "theirs");
		print part(1, "\x08\x01\x10\x02"), part(1, "\x08\x03\x10\x04"),
			part(2, part(1, "\x01") . part(2, "\x64\x80\x94\xeb\xdc\x03")),
			part(4, "\x08\x01\x22\x02\x08\x01"), part(5, "\x08\x01\x10\x05\x18\x05"),
			map(part(6, $_), @strings), "\x60\x80\xad\xe2\x04"' >foreign
	says 0 profil report foreign
	grep -E ' theirs ' out
	none grep -F '  ticks ' out
}

# Which processes a sample is of is in the file only if that was asked for.
per_process() {
	{
		table | grep -v '^slot 10'
		echo "slot 10 $(at "$planted" hot) 1 10 0"
		echo "slot 10 $(at "$planted" hot) 2 20 5"
	} >each
	PROFIL_FAKE=each profil run -q --per-process -o each.pb.gz true
	says 0 profil report --by process --tsv each.pb.gz
	grep -Fx "process	35	140000000	112000000	28000000	$(grep -P '\tsh\t' out | cut -f 6,7)	sh		4243" out
	grep -E '^process	13	' out | grep -P '\tplanted\t\t4242$'
	says 0 profil report --tsv each.pb.gz
	grep -E '^function	35	140000000	120000000	20000000	' out | grep -P '\thot\t'
}

# --program asks what --by program shows, and no more.
of_program() {
	says 0 profil report --program sh --tsv each.pb.gz
	grep -Fx 'count	in_slots	35' out
	grep -E '^function	25	100000000	80000000	20000000	' out | grep -P '\thot\t'
	says 0 profil report --program 'plan*' --by process --tsv each.pb.gz
	[ "$(grep -c ^process out)" = 1 ]
	grep -E '^process	13	' out | grep -P '\tplanted\t\t4242$'
	says 1 profil report --program nobody each.pb.gz
	grep -Fx 'profil: this profile has nothing of program nobody; profil report --by program shows what there is' err
	says 1 profil report --unit sh --program sh each.pb.gz
	grep -Fx 'profil: this profile does not tell units apart; profil run -a … does' err
	says 1 profil report --program sh
	grep -Fx 'profil: this profile does not tell programs apart; profil run -a … does, and so does profil run --per-process …' err
	says 0 profil diff --program sh each.pb.gz each.pb.gz
	says 2 profil diff --container sh each.pb.gz each.pb.gz
}

adds_up() {
	cp profil.pb.gz again
	says 0 profil report --tsv profil.pb.gz profil.pb.gz - <again
	grep -Fx 'count	files	3' out
	grep -Fx 'count	ticks	600' out
	grep -E '^function	300	1200000000	1080000000	120000000	' out
	[ "$(grep -c ^function out)" = 6 ]
	says 0 profil report profil.pb.gz profil.pb.gz
	grep -E '^true and others: ' out
	grep -F '400 of 4 ms = 1.60 s: 394 counted, 4 in exec, 2 lost' out
	# one more with another period: what a sample is worth is in each
	{ table; echo 'tick_ns 1000000'; } >fast
	PROFIL_FAKE=fast profil run -q -o fast.pb.gz true
	says 0 profil report --tsv profil.pb.gz fast.pb.gz
	grep -Fx 'count	period_ns	0' out
	grep -E '^function	200	500000000	' out
	says 0 profil report profil.pb.gz fast.pb.gz
	grep -F 'ticks    400: 394 counted' out
}

# The order of the table is of no matter; a plain file is as good as a compressed one.
other_order() {
	gzip -dc profil.pb.gz >plain
	says 0 profil report --tsv
	mv out wanted
	says 0 profil report --tsv plain
	diff wanted out
	# the table in another order
	{ table | grep -v ^slot; table | grep ^slot | tac; } >"$tmp/table"
	profil run -q -o tac.pb.gz -- true
	says 0 profil report --tsv --by address tac.pb.gz
	grep -v -E '^count	(duration|charged)' out >other
	says 0 profil report --tsv --by address
	grep -v -E '^count	(duration|charged)' out | diff - other
	# gzip's header has no time and no name
	[ "$(od -An -tx1 -N10 profil.pb.gz)" = ' 1f 8b 08 00 00 00 00 00 00 03' ]
}

# one FILE PATTERN: it cannot be read, one line says why
one() {
	says 1 profil report "$1"
	[ ! -s out ]
	[ "$(wc -l <err)" = 1 ]
	grep -E "^profil: $2" err
}

wrong_files() {
	local folder
	one nofile 'nofile cannot be read: No such file or directory; profil run makes one'
	one "$tmp" "there is no profile in $tmp; profil watch writes some, and profil check says"
	folder="$tmp is a folder; name files in it, as in $tmp/*.pb.gz, or let profil report read it, or profil diff --in $tmp FROM..TO a span of it"
	says 1 profil annotate main "$tmp"
	grep -Fx "profil: $folder" err
	says 1 profil export -o x.json "$tmp"
	grep -Fx "profil: $folder" err
	says 2 profil diff "$tmp" "$tmp"
	grep -Fx "profil: $folder" err
	: >empty
	one empty 'empty is no profile: it is empty; make one with profil run'
	head -c 100 profil.pb.gz >short
	one short 'short is no profile: (its end is missing|.*unexpected end of file)'
	gzip -dc profil.pb.gz | head -c 300 >short
	one short 'short is no profile: its bytes are no messages of pprof'
	one /etc/passwd '/etc/passwd is no profile: its bytes are no messages of pprof'
	one "$planted" 'planted is no profile: |.*/planted is no profile: '
	# a byte of the compressed part
	{ head -c 200 profil.pb.gz; printf '\377\377'; tail -c +203 profil.pb.gz; } >broken
	one broken 'broken is no profile: '
	# 200 MB of nothing
	head -c 200000000 /dev/zero | gzip -1 >large
	one large 'large is no profile: it has more than 128 MiB'
	cd /
	one profil.pb.gz 'profil.pb.gz cannot be read: ' || [ -e /profil.pb.gz ]
}

usage() {
	says 125 profil report --by nothing
	says 125 profil report --tsv --json
	says 125 profil report -n 0
	none profil report >/dev/full 2>err
	grep -E '^profil: the report could not be written' err
}

# On a terminal names lose their middle where they would not fit; elsewhere never.
width() {
	local long
	long=$(printf 'l%.0s' $(seq 300))
	printf 'process 0 0 0 0 0 others\nprocess 7 0 1 9 0 a\nslot 2 5000 1 9 0\n' >"$tmp/table"
	echo "5000 10 $long" >/tmp/perf-7.map
	profil run -q -o long.pb.gz true
	rm /tmp/perf-7.map
	says 0 profil report long.pb.gz
	grep -F "$long" out
	script -qec 'stty cols 90; profil report long.pb.gz' /dev/null </dev/null >out
	grep -E 'l+…l+  \[anonymous\]' out
	[ "$(wc -L <out)" -le 90 ]
	script -qec 'stty cols 10; profil report long.pb.gz' /dev/null </dev/null >out
	grep -E 'lllll…llllll' out
}

check 'report: functions' functions
check 'report: lines' lines
check 'report: objects' objects
check 'report: processes' processes
check 'report: addresses' addresses
check 'report: with tabs' tsv
check 'report: JSON' json
check 'report: so many rows' rows
check 'report: processes of samples' per_process
check 'report: files of other programs' foreign
check 'report: samples of a program' of_program
check 'report: files are added up' adds_up
check 'report: another order of the table, and no compression' other_order
check 'report: files that are no profiles' wrong_files
check 'report: what was not meant' usage
check 'report: long names' width
plan
