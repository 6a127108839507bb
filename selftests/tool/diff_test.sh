#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# profil diff: what it shows of two sides, which functions it takes for the same, and its
# exit status.
set -eu
. "$(dirname "$0")/lib.sh"

cd "$tmp"

# profile FILE OBJECT FUNCTION=SAMPLES...: functions are those of the program planted
profile() {
	local word file=$1 object=$2
	shift 2
	{
		printf 'object 10 %s\nprocess 0 0 0 0 0 others\n' "$object"
		for word; do
			echo "slot 10 $(at "$planted" "${word%=*}") 0 ${word#*=} 0"
		done
		[ -z "${tick_ns-}" ] || echo "tick_ns $tick_ns"
	} >made
	PROFIL_FAKE=made profil run -q -o "$file" true
}

# golden WANTED: the output without what is said below the table
golden() {
	{ cat; echo; } >wanted
	sed -n '/^  tested/q; p' out | diff -u - wanted
}

profile a "$planted" hot=1000 cold=500 main=3
profile b "$planted" hot=600 cold=510 _ZN2ns3boxIiE4turnEi=100

changed() {
	says 1 profil diff a b
	golden <<-'END'
		changed: 2 functions, total CPU -19.5 % ± 6.2 %

		A  a, true: 6.01 s of CPU, 1503 samples
		B  b, true: 4.84 s of CPU, 1210 samples

		         A         B    change  ±95%   least  function            object
		    4.00 s    2.40 s   -40.0 %   6.2          hot                 planted
		    0.00 s    0.40 s       new                ns::box<int>::turn  planted
		    2.00 s    2.04 s         ~          23 %  cold                planted
		    0.01 s    0.00 s         ~             ·  main                planted
	END
	grep -Fx '  tested   3 of 4 functions; so few samples as the others have could show no change' out
	grep -F 'remark   one run of each' out
	says 1 profil diff b a
	grep -E '^ +0\.40 s +0\.00 s +gone +ns::box<int>::turn' out
	grep -E '^changed: 2 functions, total CPU \+24\.2 % ± ' out
}

# The same files, and files that differ by as much as chance makes.
equal() {
	local way
	for way in '' --share; do
		# shellcheck disable=SC2086 # none, or one
		says 0 profil diff $way a a
		head -n 1 out | grep -E '^no change that chance does not explain; a change of [0-9.]+ % in '
		grep -c ' ~ ' out | grep -Fx 3
	done
	profile a2 "$planted" hot=1030 cold=480 main=5
	says 0 profil diff a a2
	profile few "$planted" hot=2
	says 0 profil diff few few
	head -n 1 out | grep -Fx 'no change that chance does not explain; there are too few samples to see any'
}

shares() {
	says 1 profil diff --share a b
	golden <<-'END'
		changed: the shares of 3 functions

		A  a, true: 6.01 s of CPU, 1503 samples
		B  b, true: 4.84 s of CPU, 1210 samples

		         A         B    change  ±95%   least  function            object
		    66.5 %    49.6 %   -25.5 %   4.9          hot                 planted
		    33.3 %    42.1 %   +26.7 %  12.6          cold                planted
		     0.0 %     8.3 %       new                ns::box<int>::turn  planted
		     0.2 %     0.0 %         ~             ·  main                planted
	END
	# twice the work is the same work by shares
	profile twice "$planted" hot=2000 cold=1000 main=6
	says 0 profil diff --share a twice
	says 1 profil diff a twice
}

total_alone() {
	profile small "$planted" hot=100 cold=100 main=100 _ZN2ns3boxIiE4turnEi=100
	profile large "$planted" hot=123 cold=123 main=123 _ZN2ns3boxIiE4turnEi=123
	says 1 profil diff small large
	head -n 1 out | grep -E '^changed: no function by itself, total CPU \+23\.0 % ± '
}

tsv() {
	says 1 profil diff --tsv a b
	diff -u out - <<-'END'
		count	share	0
		count	runs_a	1
		count	runs_b	1
		count	functions	4
		count	tested	3
		count	changed	2
		total	changed	1503	1210	6.012	4.84	0.805057	0.745745	0.868947	4.01568e-08	1	0.134413		
		function	changed	1000	600	4	2.4	0.6	0.541339	0.664575	3.46709e-23	1	0.177553	hot	planted
		function	new	0	100	0	0.4	inf	26.6116	inf	6.31089e-30	1	0.852289	ns::box<int>::turn	planted
		function	same	500	510	2	2.04	1.02	0.899858	1.15623	0.777046	1	0.227065	cold	planted
		function	few	3	0	0.012	0	0	0	2.41995	1	1	inf	main	planted
	END
}

json() {
	says 1 profil diff --json a b
	python3 - out <<-'END'
		import json, sys
		all = json.load(open(sys.argv[1]))
		assert (all["share"], all["runs_a"], all["functions"], all["changed"]) == (False, 1, 4, 2), all
		assert all["total"]["verdict"] == "changed" and all["total"]["samples_b"] == 1210, all["total"]
		rows = {row["name"]: row for row in all["rows"]}
		assert rows["hot"]["a"] == 4 and rows["hot"]["b"] == 2.4 and rows["hot"]["p"] < 1e-9, rows
		assert rows["ns::box<int>::turn"]["ratio"] is None, rows
		assert [row["verdict"] for row in all["rows"]] == ["changed", "new", "same", "few"], rows
	END
}

# Runs that differ among themselves by as much are no change; those that do not, are.
runs() {
	local i=0 samples
	for samples in 800 1200 1000 900 1100; do
		profile "low$((++i))" "$planted" hot=$samples cold=500
		profile "high$i" "$planted" hot=$((samples + 100)) cold=500
		profile "still$i" "$planted" hot=$((1000 + samples / 100)) cold=500
		profile "more$i" "$planted" hot=$((1100 + samples / 100)) cold=500
	done
	says 0 profil diff low? -- high?
	grep -E '^A  low1 and 4 more, true: 6\.00 s of CPU in a run, from 5\.20 to 6\.80, 7500 samples' out
	grep -E '^  runs     differ [0-9.]+ times as much as chance' out
	# the same means, as if they were one run
	says 1 profil diff still? -- more?
	none grep -F remark out
	# that a few runs agree does not make chance smaller
	profile ten "$planted" hot=10
	profile fourteen "$planted" hot=14
	says 0 profil diff ten ten ten ten ten -- fourteen fourteen fourteen fourteen fourteen
	says 0 profil diff low1 low2 -- high2
	grep -F 'remark   so few runs say little' out
}

# Half of the period, so twice as many samples: the same seconds.
rates() {
	tick_ns=2000000 profile fast "$planted" hot=2000 cold=1000 main=6
	says 0 profil diff a fast
	grep -E '^ +4\.00 s +4\.00 s +~ .* hot ' out
	says 0 profil diff a fast -- fast a
}

# Two builds have functions of the same names; their addresses are no names.
# The program itself may be called otherwise; what it has loaded may not.
programs() {
	local side
	for side in old new; do
		cp "$planted" "$side"
		cp "$planted" "lib$side"
		{
			printf 'process 0 0 0 0 0 others\nobject 10 %s\nobject 11 %s\n' "$tmp/$side" "$tmp/lib$side"
			printf 'slot 10 %s 0 1000 0\nslot 11 %s 0 500 0\n' "$(at "$planted" hot)" "$(at "$planted" cold)"
		} >"$PROFIL_FAKE"
		says 0 profil run -q -o "$side.pb.gz" -- "./$side" argument
	done
	says 1 profil diff old.pb.gz new.pb.gz
	grep -E ' ~ .* hot +old$' out
	grep -E ' gone .* cold +libold$' out
	grep -E ' new .* cold +libnew$' out
	[ "$(grep -c ' hot ' out)" = 1 ]
}

builds() {
	local version
	for version in 1.2.13 1.3; do
		cp "$planted" "libplanted.so.$version"
		profile "v$version" "$tmp/libplanted.so.$version" hot=1000
	done
	says 0 profil diff v1.2.13 v1.3
	grep -E ' hot +libplanted\.so$' out
	mkdir -p other
	cp "$planted" other/planted
	strip other/planted
	profile stripped other/planted hot=1000
	says 0 profil diff stripped stripped
	grep -E ' fn@[0-9a-f]+ +planted$' out
	objcopy --remove-section .note.gnu.build-id other/planted other/again
	mkdir -p third
	mv other/again third/planted
	profile rebuilt third/planted hot=1000
	says 1 profil diff stripped rebuilt
	grep -E '^changed: 2 functions, ' out
	grep -E ' gone +fn@' out
	grep -E ' new +fn@' out
}

rows() {
	says 1 profil diff -n 1 a b
	grep -E '^ +2\.01 s +2\.44 s +3 more functions, 1 of them changed  \(profil diff --all\)$' out
	says 1 profil diff -n 2 a b
	grep -F '2 more functions, none of them changed' out
	says 1 profil diff -n 1 --all a b
	none grep -F ' more function' out
	script -qec 'stty cols 70; profil diff a b' /dev/null </dev/null >out || [ $? = 1 ]
	grep -E 'ns::b.*….*turn' out
}

usage() {
	says 2 profil diff
	says 2 profil diff a
	says 2 profil diff a b a
	says 2 profil diff a b --
	says 2 profil diff --nothing a b
	says 2 profil diff --tsv --json a b
	says 0 profil diff --help
	says 1 profil diff -- a b
	says 1 profil diff a - <b
	says 1 profil diff a -- b
	for file in nofile /etc/passwd "$tmp"; do
		says 2 profil diff a "$file"
		[ ! -s out ]
		[ "$(wc -l <err)" = 1 ]
		grep -E '^profil: ' err
	done
	if profil diff a a >/dev/full 2>err; then false; else [ $? = 2 ]; fi
	grep -E '^profil: the comparison could not be written' err
}

# Numbers that no profile has: an answer comes, and soon.
large() {
	profile huge "$planted" hot=4000000000000000000 cold=9000000000000000000 main=1
	profile also "$planted" hot=4000000000000000000 cold=8900000000000000000
	says 1 profil diff huge also
	says 1 profil diff --share huge also
	says 0 profil diff huge huge huge -- huge huge huge
	printf 'process 0 0 0 0 0 others\n' >made
	PROFIL_FAKE=made profil run -q -o nothing true
	says 0 profil diff nothing nothing
	says 1 profil diff nothing a
	head -n 1 out | grep -Fx 'changed: 2 functions, A has no samples'
	says 1 profil diff a nothing
	says 0 profil diff --share a nothing
}

check 'diff: functions that changed' changed
check 'diff: what is equal' equal
check 'diff: shares' shares
check 'diff: the total alone' total_alone
check 'diff: with tabs' tsv
check 'diff: JSON' json
check 'diff: several runs' runs
check 'diff: other rates' rates
check 'diff: two builds' builds
check 'diff: two programs' programs
check 'diff: so many rows' rows
check 'diff: what was not meant' usage
check 'diff: very many samples, and none' large
plan
