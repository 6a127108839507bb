#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The reader on inputs that are meant to break it, under ASan and UBSan.
#   mutate_test.sh [TIMES]
set -eu
. "$(dirname "$0")/lib.sh"
. "$here/system_lib.sh"

times=${1:-2000}
cd "$tmp"
{
	table | grep -v '^slot 10'
	for function in hot cold main; do
		echo "slot 10 $(at "$planted" $function) 1 10 3"
		echo "slot 10 $(at "$planted" $function) 2 20 5"
	done
} >each
PROFIL_FAKE=each profil run -q --per-process -o each.pb.gz true
whole whole.pb.gz
machine >system
PROFIL_FAKE=system planted_groups profil run -q -a -o machine.pb.gz true
gzip -dc each.pb.gz >each.pb
gzip -dc machine.pb.gz >machine.pb
gzip -dc whole.pb.gz >whole.pb

# many FILE: some of them are still profiles, so that all of the reader is run
many() {
	mutate "$1" "$times" 1 | tee counted
	[ "$(awk '/ mutated inputs, / { print $6 }' counted)" -gt $((times / 50)) ]
}

# The command as it is: it shows a table, or says one line.
command() {
	local i status bad=0
	for i in $(seq 60); do
		perl -e 'my ($file, $i) = @ARGV; local $/; open F, "<", $file; my $all = <F>; srand $i;
			substr($all, rand(length $all), 1) = chr(rand 256) for 0 .. $i % 3; print $all' \
			"$([ $((i % 2)) = 0 ] && echo whole.pb || echo whole.pb.gz)" "$i" >broken
		status=0
		ASAN_OPTIONS=detect_leaks=0 profil diff broken whole.pb >out 2>err || status=$?
		[ $status -le 2 ]
		[ $status != 2 ] || [ "$(wc -l <err)" = 1 ]
		[ $status = 2 ] || head -n 1 out | grep -qE '^(changed: |no change )'
		status=0
		ASAN_OPTIONS=detect_leaks=0 profil report broken >out 2>err || status=$?
		[ $status = 0 ] && continue
		echo "input $i: status $status"
		cat err
		[ $status = 1 ]
		[ "$(wc -l <err)" = 1 ]
		[ ! -s out ]
		grep -q '^profil: broken is no profile: ' err
		bad=$((bad + 1))
	done
	[ $bad -gt 20 ]
}

check 'mutate: a profile with processes' many each.pb
check 'mutate: a profile of all kinds of objects' many whole.pb
check 'mutate: a profile of a whole machine' many machine.pb
check 'mutate: the command says one line' command
plan
