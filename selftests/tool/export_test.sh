#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# profil export: each format is read by the program that it is for, which says of each function
# what profil report says.
set -eu
. "$(dirname "$0")/lib.sh"

cd "$tmp"
whole profil.pb.gz

# ours BY EXPRESSION: of the rows of profil report, sorted
ours() {
	profil report --by "$1" --tsv | awk -F '\t' "\$1 == \"$1\" { $2 }" | sort >ours
	[ "$(wc -l <ours)" = 6 ]
}

pprof() {
	profil export -o copy.pb.gz
	cmp copy.pb.gz profil.pb.gz
	profil export -o twice.pb.gz profil.pb.gz copy.pb.gz
	profil report --tsv twice.pb.gz | awk -F '\t' '$1 == "function" { print $2 / 2, $8 }' >theirs
	profil report --tsv | awk -F '\t' '$1 == "function" { print $2, $8 }' | diff theirs -
}

# shellcheck disable=SC2016 # for awk: fields
callgrind() {
	profil export -o x.callgrind
	callgrind_annotate --threshold=100 x.callgrind >shown
	grep -E '^197 .* 636,000,000 .* 152,000,000 .* PROGRAM TOTALS$' shown
	ours function 'print $2, $4, $5, $8, $9'
	sed -nE 's/ *\([^)]*%\)//g; s/,//g; s/^ *([0-9]+) +([0-9]+) +([0-9]+) +[^ ]*[?c]:(.*) \[(.*)\]$/\1 \2 \3 \4 \5/p' shown |
		sort | diff - ours
	# address and line as well
	grep -x "0x$(at "$planted" hot) 8 100 360000000 40000000" x.callgrind
}

# shellcheck disable=SC2016 # for awk: fields
collapsed() {
	profil export -o x.folded
	ours function 'print $9 ";" $8 " " $2'
	sort x.folded | diff - ours
	# a semicolon of a name is no level
	sed "s/planted$/plan;ted/" table >semi && cp "$planted" 'plan;ted'
	PROFIL_FAKE=semi profil run -q -o semi.pb.gz true
	sed "s,$planted,./plan;ted," table >semi
	PROFIL_FAKE=semi profil run -q -o semi.pb.gz true
	profil export -f collapsed -o - semi.pb.gz | grep '^\./plan:ted;hot 100$'
}

# of PROGRAM: as google-pprof sees it, by address
cpuprofile_of() {
	profil export -o x.cpuprofile "$2"
	google-pprof --text --addresses "$1" x.cpuprofile 2>warned |
		awk '$1 + 0 && $7 ~ /^[a-z]/ { print $1, $7, $8 }' | sort >theirs
	profil report --by line --tsv "$2" | awk -F '\t' '$10 != "" { print $2, $8, $10 }' |
		sed 's/box<int>/box/' | sort >ours
	[ "$(wc -l <ours)" = 4 ]
	diff theirs ours
}

cpuprofile() {
	cpuprofile_of "$planted" profil.pb.gz
	grep -q 'Total: 197 samples' <(google-pprof --text "$planted" x.cpuprofile 2>&1)
}

# As programs of gperftools call such files.
by_other_end() {
	profil export -o x.prof
	profil export -o same.cpuprofile
	cmp x.prof same.cpuprofile
	google-pprof --text "$planted" x.prof 2>warned | sed -n 2p >theirs
	profil report --tsv | awk -F '\t' '$1 == "function" { print $2, $8; exit }' >ours
	[ "$(awk '{ print $1, $6 }' theirs)" = "$(cat ours)" ] || { cat theirs ours; return 1; }
}

# A program that has one place only.
fixed() {
	local fixed=$tmp/fixed name
	gcc -g -O0 -no-pie -fdebug-prefix-map="$here"=/src/ -o "$fixed" "$here/planted.c"
	for name in hot cold _ZN2ns3boxIiE4turnEi main; do
		sed -i "s, $(at "$planted" $name) , $(printf %x $((0x$(at "$fixed" $name) - 0x400000))) ," table
	done
	sed -i "s,$planted,$fixed," table
	profil run -q -o fixed.pb.gz true
	cpuprofile_of "$fixed" fixed.pb.gz
	profil export -o fixed.gmon fixed.pb.gz
	gprof -b -p "$fixed" fixed.gmon.fixed | grep -E ' 0\.40 +hot$'
}

# gprof_of FILE: seconds and functions
gprof_of() {
	gprof -b -p "$planted" "$1" | awk '$1 + 0 { $1 = $2 = ""; sub(/^ +/, ""); sub(/\(int\)/, ""); print }' | sort
}

gmon() {
	says 0 profil export -o x.gmon
	# how to read it
	sed 's/^gprof -b -p //' err | diff - <(echo "$planted x.gmon.planted")
	ls x.gmon.*
	[ "$(ls x.gmon.*)" = x.gmon.planted ]
	profil report --tsv | awk -F '\t' '$1 == "function" && $9 !~ /^\[/ { printf "%.2f %s\n", $3 / 1e9, $8 }' |
		sort >ours
	[ "$(wc -l <ours)" = 4 ]
	gprof_of x.gmon.planted | diff - ours
}

# More than a bin holds: the seconds are right, up to 18 hours in one place.
many() {
	local samples seconds
	while read -r samples seconds; do
		sed -E "s/^(slot 10 $(at "$planted" hot) 0) .*/\1 $samples 10/" table >many
		PROFIL_FAKE=many profil run -q -o many.pb.gz true
		says 0 profil export -o many.gmon many.pb.gz
		gprof_of many.gmon.planted | awk -v wanted="$seconds" '$2 == "hot" {
			print
			found = $1 > wanted * 0.998 && $1 < wanted * 1.002
		} END { exit !found }'
		none grep seconds err
	done <<-'END'
		400000 1600
		1000000 4000
		6600000 26400
		15000000 60000
	END
	# beyond that there is no such rate, which is said; shares are right
	sed -E "s/^(slot 10 $(at "$planted" hot) 0) .*/\1 20000000 10/" table >many
	PROFIL_FAKE=many profil run -q -o many.pb.gz true
	says 0 profil export -o many.gmon many.pb.gz
	grep -Fx "profil: the seconds in the file for $planted are wrong, as a rate is a whole number there; its shares are right: choose another format with -f" err
	gprof -b -p "$planted" many.gmon.planted | grep -E '^(99|100)\.[0-9]+ .* hot'
}

# Two libraries of one name, and one whose own name is that name with a number.
gmon_names() {
	local folder name i=20
	sed '/^slot/d' table >named
	for name in a/libfoo.so b/libfoo.so c/libfoo.so.2 d/libfoo.so; do
		folder=${name%/*}
		mkdir "$folder"
		cp "$planted" "$name"
		echo "object $i $tmp/$name" >>named
		echo "slot $i $(at "$planted" hot) 0 $((i++)) 0" >>named
	done
	PROFIL_FAKE=named profil run -q -o named.pb.gz true
	says 0 profil export -o named.gmon named.pb.gz
	# each is of the object that it is said to be of
	sed -E 's,.*/([a-z])/(libfoo[^ ]*) named\.gmon\.,\1 \2 ,' err | sort | diff - <(
		printf '%s\n' 'a libfoo.so libfoo.so' 'b libfoo.so libfoo.so.3' \
			'c libfoo.so.2 libfoo.so.2' 'd libfoo.so libfoo.so.4')
	gprof -b -p "$planted" named.gmon.libfoo.so.2 | grep -E ' 0\.09 +0\.09 +hot$'
}

# All samples are in no file: also in the kernel alone.
gmon_of_none() {
	sed -E '/^slot 10 /d' table >nowhere
	PROFIL_FAKE=nowhere profil run -q -o nowhere.pb.gz true
	says 1 profil export -o nowhere.gmon nowhere.pb.gz
	grep -Fx 'profil: no file for gprof is written: no sample is in a program or in a library; choose another format with -f' err
	[ "$(wc -l <err)" = 1 ]
	none ls nowhere.gmon*
}

programs() {
	profil export -f json -o - | jq -r '.rows[] | [.samples, .name, .place] | @tsv' >theirs
	profil export -f tsv -o - | awk -F '\t' -v OFS='\t' '$1 == "address" { print $2, $8, $10 }' >ours
	diff theirs ours
	[ "$(wc -l <ours)" = 6 ]
	profil report --by address --tsv | cmp - <(profil export -f tsv -o -)
}

refused() {
	says 125 profil export
	grep 'which file shall be written? name it with -o' err
	says 125 profil export -o ''
	grep -F 'an empty name' err
	says 125 profil export -o file
	grep 'the end of file says no format; give one with -f: pprof, callgrind' err
	# also where there is no profile
	says 125 profil export -o x.nothing nothing.pb.gz
	grep 'the end of x.nothing says no format' err
	says 125 profil export nothing.pb.gz
	grep 'which file shall be written' err
	says 125 profil export -f gprof -o file
	grep 'was given gprof' err
	says 1 profil export -f gmon -o -
	grep 'a file for each object' err
	says 1 profil export -o /no/such/x.json
	grep 'cannot be written to /no/such/x.json' err
	says 1 profil export -o x.json nothing.pb.gz
	grep 'nothing.pb.gz cannot be read' err
	none ls file*
}

# A table of some thousand bytes.
by_hundreds() {
	table
	for i in $(seq 100); do
		echo "slot 2 7f00000020$((i + 100)) 2 1 1"
	done
}

# What was there stays until the new one is whole.
kept() {
	echo before >x.json
	head -c 100 profil.pb.gz >half.pb.gz
	says 1 profil export -o x.json half.pb.gz
	grep -x before x.json
	by_hundreds >table
	PROFIL_FAKE=table profil run -q -o big.pb.gz true
	says 1 sh -c 'ulimit -f 1; exec profil export -o big.tsv big.pb.gz'
	grep 'cannot be written to big.tsv: File too large' err
	[ "$(ls big.*)" = big.pb.gz ]
}

check 'pprof: the same file, and two added up' pprof
check 'callgrind_annotate: samples, user and system time of each function' callgrind
check 'collapsed: a level for the object' collapsed
check 'google-pprof: addresses, functions, lines' cpuprofile
check 'google-pprof: x.prof, whose second line is the hottest function' by_other_end
check 'gprof: seconds of each function' gmon
check 'gprof: each object has a file of its own, whatever its name is' gmon_names
check 'gprof: a profile without a sample in a file' gmon_of_none
check 'gprof: more samples than a bin holds' many
check 'gprof and google-pprof: a program of a fixed address' fixed
check 'jq and awk: each address' programs
check 'what is missing or wrong is one sentence' refused
check 'a file is whole or as it was' kept
plan
