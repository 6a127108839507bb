#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Slices of time: what the table had at which time, in the file and in what reads it.
set -eu
. "$(dirname "$0")/lib.sh"

cd "$tmp"
export PPROF_TMPDIR=$tmp HOME=$tmp
hot=$(at "$planted" hot)
cold=$(at "$planted" cold)

# phases: hot until 0.3 s, cold until 0.6 s, then both; a slot that grows in each
phases() {
	cat <<-END
		object 10 $planted
		process 0 0 0 0 0 others
		process 4242 0 1 160 30 planted
		slot 10 $hot 0 25 0
		until 100
		slot 10 $hot 0 20 5
		until 200
		slot 10 $hot 0 15 0
		slot 2 7f0000001000 1 5 0
		until 300
		slot 10 $cold 0 20 5
		until 400
		until 500
		slot 10 $cold 0 25 10
		until 600
		slot 10 $hot 0 10 5
		slot 10 $cold 0 10 0
		slot 10 $hot 0 30 5
	END
}

# by_pprof FILE: "MS SAMPLES FUNCTION", as go tool pprof has them
by_pprof() {
	go tool pprof -raw "$1" | awk '
		/^Samples:/ { part = 1; next }
		/^Locations/ { part = 2; next }
		/^Mappings/ { part = 3; next }
		part == 1 && / [0-9]+: [0-9]+ *$/ { split($0, f, ":"); id = f[2] + 0; split(f[1], v, " "); n++; sum[n] = v[1]; of[n] = id; at[n] = 0 }
		part == 1 && match($0, /at:\[[0-9]+/) { at[n] = substr($0, RSTART + 4, RLENGTH - 4) }
		part == 2 && $1 ~ /:$/ { name[$1 + 0] = $4 }
		END { for (i = 1; i <= n; i++) print at[i], sum[i], name[of[i]] }' | sort -k1n -k3 -k2n
}

in_file() {
	phases >"$PROFIL_FAKE"
	plant file 650
	by_pprof file | tee theirs
	diff theirs - <<-END
		100 25 hot
		200 25 hot
		300 5 [anonymous]
		300 15 hot
		400 25 cold
		600 35 cold
		700 10 cold
		700 50 hot
	END
}

# many_slices NUM: a tick in each of so many slices
many_slices() {
	echo "object 10 $planted"
	echo 'process 0 0 0 0 0 others'
	awk -v num="$1" -v hot="$hot" -v cold="$cold" 'BEGIN { for (i = 1; i <= num; i++) {
		print "slot 10 " hot " 0 1 0"; print "slot 10 " cold " 0 0 " i % 2; print "until " i "00" } }'
}

# None is over, 119 are, all are, and one more; then for long.
merged() {
	many_slices 120 >"$PROFIL_FAKE"
	sed -i '/until 12000/,$d' "$PROFIL_FAKE"
	plant file 12000
	by_pprof file >theirs
	[ "$(awk '$3 == "hot"' theirs | wc -l)" = 120 ]
	[ "$(tail -n 1 theirs)" = '12000 1 hot' ]
	many_slices 120 >"$PROFIL_FAKE"
	plant file 12001
	by_pprof file >theirs
	[ "$(awk '$3 == "hot" && $2 == 2 && $1 % 200 == 0' theirs | wc -l)" = 60 ]
	[ "$(awk '$3 == "cold" && $2 == 1 && $1 % 200 == 0' theirs | wc -l)" = 60 ]
	many_slices 1000 >"$PROFIL_FAKE"
	plant file 100000
	by_pprof file >theirs
	awk '$3 == "hot"' theirs >hot
	# 1.6 s; the last one is cut off
	[ "$(wc -l <hot)" = 63 ]
	[ "$(head -n 1 hot)" = '1600 16 hot' ]
	[ "$(tail -n 2 hot)" = "$(printf '99200 16 hot\n100800 8 hot')" ]
}

# More than fit into a file: slices become longer before there are 120.
few_parts() {
	many_slices 100 >"$PROFIL_FAKE"
	plant file 10000 100 40
	by_pprof file >theirs
	[ "$(wc -l <theirs)" -le 40 ]
	[ "$(awk '{ sum += $2 } END { print sum }' theirs)" = 150 ]
	[ "$(tail -n 1 theirs | awk '{ print $1 }')" = 12800 ]
}

# Who could not read the table in time has all since then in the slice that had begun then.
late() {
	phases | sed 's/until 200/until 230/; s/until 300/until 410/; /until [456]00/d' >"$PROFIL_FAKE"
	plant file 650
	by_pprof file | grep -v anonymous >theirs
	diff theirs - <<-END
		100 25 hot
		200 25 hot
		300 15 hot
		500 70 cold
		500 50 hot
	END
}

none_wanted() {
	phases >"$PROFIL_FAKE"
	plant file 650 0
	by_pprof file | diff - <(printf '0 5 [anonymous]\n0 70 cold\n0 115 hot\n')
}

# Ticks in the kernel are those of its functions, in the slice in which they were.
kernel_parts() {
	cat >"$PROFIL_FAKE" <<-END
		object 10 $planted
		process 0 0 0 0 0 others
		process 4242 0 1 10 13 planted
		slot 10 $hot 0 10 5
		slot 5 0 0 0 5
		until 100
		slot 10 $hot 0 0 7
		slot 5 0 0 0 8
		exec 1
	END
	plant file 150 100 1000 kernel
	by_pprof file | diff - <(printf '100 5 [kernel]\n100 10 hot\n200 8 [kernel]\n')
}

# While a program runs: the table is read again and again, and what is there in the end is all.
while_running() {
	{
		table
		for _ in $(seq 1000); do
			printf 'until 0\nslot 10 %s 0 1 0\n' "$hot"
		done
	} >"$PROFIL_FAKE"
	profil run -q -o file --slice 0.02 -- sleep 1
	by_pprof file | awk '$3 == "hot"' >hot
	cat hot
	[ "$(wc -l <hot)" -gt 2 ]
	[ "$(awk '{ sum += $2 } END { print sum }' hot)" = 1100 ]
	profil run -q -o file --slice 0 -- sleep 0.3
	by_pprof file | grep -x '0 1100 hot'
	says 125 profil run --slice 0.0001 true
	says 125 profil run --slice x true
}

planted() {
	phases >"$PROFIL_FAKE"
	plant "$1" 650
}

by_time() {
	planted file
	says 0 profil report --by time file
	sed '/^$/,/^$/!d' out | sed '/^$/d' >shown
	diff -u - shown <<-END
		      until   running               self  function      object
		      0.1 s     100 %  ██         100.0 %  hot           planted
		      0.2 s     100 %  ██         100.0 %  hot           planted
		      0.3 s      80 %  ██          75.0 %  hot           planted
		      0.4 s     100 %  ██         100.0 %  cold          planted
		      0.5 s       0 %
		      0.6 s     140 %  ███        100.0 %  cold          planted
		      0.7 s     480 %  ██████████  83.3 %  hot           planted
	END
}

# What programs read; all slices are what all rows are.
by_time_for_programs() {
	planted file
	says 0 profil report --by time --tsv file
	awk -F '\t' -v OFS=' ' '$1 == "time" { sub(/.*\//, "", $10); print $2, $3, $4, $5, $6, $7, $8, $9, $10 }' out >shown
	diff -u - shown <<-END
		25 100000000 100000000 0 100000000 100000000 25 hot planted
		25 100000000 80000000 20000000 200000000 100000000 25 hot planted
		20 80000000 80000000 0 300000000 100000000 15 hot planted
		25 100000000 80000000 20000000 400000000 100000000 25 cold planted
		0 0 0 0 500000000 100000000 0  
		35 140000000 100000000 40000000 600000000 100000000 35 cold planted
		60 240000000 200000000 40000000 700000000 50000000 50 hot planted
	END
	says 0 profil report --by time --json file
	jq -r '.rows[] | "\(.samples) \(.cpu_ns) \(.user_ns) \(.system_ns) \(.at_ns) \(.wall_ns) \(.most) \(.name) \(.object | sub(".*/"; ""))"' out |
		diff - shown
	[ "$(jq -r .by out)" = time ]
}

# samples [OPTION...]: of each function in file
samples() {
	profil report --tsv "$@" file | awk -F '\t' '$1 == "function" { print $2, $8 }'
}

# Whole slices, and what pprof cuts by the same ends.
span() {
	planted file
	diff <(samples --to 0.3) <(printf '65 hot\n5 [anonymous]\n')
	diff <(samples --from 0.3) <(printf '70 cold\n50 hot\n')
	diff <(samples --from 0.25 --to 0.31) <(printf '25 cold\n15 hot\n5 [anonymous]\n')
	diff <(samples --from 0 --to 1000) <(samples)
	says 0 profil report --tsv --from 0.4 --to 0.5 file
	none grep ^function out
	go tool pprof -tagfocus=at=201ms:400ms -top -sample_index=samples file 2>warned |
		awk '/flat%/ { on = 1; next } on { print $1, $6 }' | sort >theirs
	samples --from 0.2 --to 0.4 | sort | diff theirs -
	says 0 profil report --from 0.2 --to 0.4 file
	grep -F 'planted, from 0.2 s to 0.4 s: 0.18 s of CPU in 0.20 s (90 % running), 0.16 user + 0.02 system' out
	grep -Ex '  ticks    45 of 4 ms = 0.18 s; what was lost is known of the whole alone' out
	says 0 profil report --from 0.5 file
	grep -F 'planted, from 0.5 s to 0.65 s: 0.38 s of CPU in 0.15 s ' out
	says 0 profil report --by time --from 0.2 --to 0.4 --tsv file
	[ "$(awk '$1 == "time" { print $6 }' out | xargs)" = '300000000 400000000' ]
	grep -Fx 'count	from_ns	200000000' out
	grep -Fx 'count	to_ns	400000000' out
}

# A file of a part is a profile as any other, and knows which part.
span_of_file() {
	planted file
	[ "$(profil annotate -i --from 0.2 --to 0.4 --tsv cold file | awk -F '\t' '$1 == "instruction" { sum += $2 } END { print sum }')" = 25 ]
	profil export --from 0.2 --to 0.4 -o part.pb.gz file
	diff <(samples --from 0.2 --to 0.4) <(profil report --tsv part.pb.gz | awk -F '\t' '$1 == "function" { print $2, $8 }')
	says 0 profil report --by time part.pb.gz
	grep -F 'planted, from 0.2 s to 0.4 s: 0.18 s of CPU' out
	grep -E '^ +0\.3 s +80 % ' out
	[ "$(grep -c ' s .* planted$' out)" = 2 ]
	profil export --from 0.2 --to 0.4 -o - -f collapsed file | grep -x "$O/planted;cold 25"
	# the same time of two
	says 0 profil diff --to 0.3 file file
	grep -F ', from 0 s to 0.3 s: 0.28 s of CPU, 70 samples' out
}

# Files are added up slice by slice, as long as the longest of any.
span_of_files() {
	planted a
	many_slices 125 >"$PROFIL_FAKE"
	plant b 12500
	profil report --by time --tsv a b | awk -F '\t' '$1 == "time" { print $2, $6, $7 }' >shown
	[ "$(sed -n 1p shown)" = '53 200000000 400000000' ]
	[ "$(sed -n 4p shown)" = '63 800000000 250000000' ]
	[ "$(sed -n 5p shown)" = '3 1000000000 200000000' ]
	[ "$(wc -l <shown)" = 63 ]
	[ "$(awk '{ sum += $1 } END { print sum }' shown)" = $((190 + 125 + 63)) ]
}

# one PATTERN COMMAND...: it says one sentence
one() {
	says 1 "${@:2}" || says 2 "${@:2}"
	[ ! -s out ]
	[ "$(wc -l <err)" = 1 ]
	grep -E "^profil: $1" err
}

no_times() {
	phases >"$PROFIL_FAKE"
	plant none 650 0
	planted file
	one 'this profile has no slices of time; profil run makes them, but not with --slice 0' \
		profil report --by time none
	one 'this profile has no slices of time; ' profil report --to 1 none file
	one 'this profile has no slices of time; ' profil export --to 1 -o x.tsv none
	one 'none has no slices of time; ' profil diff --to 1 file none
	one 'this profile has nothing from 3\.00 s on: it ends after 0\.65 s; ' profil report --from 3 file
	one 'which processes ran when is not known; ' profil report --by process --to 0.3 file
	says 125 profil report --from 2 --to 1 file
	says 125 profil report --to 0 file
	says 125 profil report --from x file
	says 125 profil report --from -1 file
}

# Runs one after another, in one file.
series() {
	table >"$PROFIL_FAKE"
	# shellcheck disable=SC2016 # for sh
	says 3 profil run -r 3 -o runs.pb.gz -- sh -c 'echo x >>count; exit $(($(wc -l <count) % 2 ? 0 : $(wc -l <count) + 1))'
	[ "$(wc -l <count)" = 3 ]
	grep -E '^sh -c .*, 3 runs: ' err
	grep -Ex '  runs     3 of 0\.[0-9]+ s ± 0\.[0-9]+ s of CPU \(.* to .*\) in .* s ± .* s' err
	says 0 profil report --tsv runs.pb.gz
	grep -Fx 'count	ticks	600' out
	grep -E '^function	300	.*	hot	' out
	[ "$(grep -c ^function out)" = 6 ]
	go tool pprof -raw runs.pb.gz | grep -c 'run:\[2' | grep -x 6
	# the runs of a side, as if they were files
	profil run -q -o one true
	says 0 profil diff --tsv one one -- runs.pb.gz
	grep -Fx 'count	runs_a	2' out
	grep -Fx 'count	runs_b	3' out
	grep -E '^function	same	200	300	0\.4	0\.4	1	.*	hot	' out
	says 0 profil diff runs.pb.gz one
	grep -E '^A  runs.pb.gz, sh .*: 0\.79 s of CPU in a run, from 0\.79 to 0\.79, 591 samples' out
	profil export -o all.pb.gz one runs.pb.gz one
	says 0 profil diff --tsv all.pb.gz one
	grep -Fx 'count	runs_a	5' out
}

# Ctrl-C ends the series; the run that it ended is no whole one.
series_interrupted() {
	table >"$PROFIL_FAKE"
	rm -f number
	# shellcheck disable=SC2016 # for perl, sh
	perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' profil run -r 1000 -o runs.pb.gz -- \
		sh -c 'echo x >>number; [ "$(wc -l <number)" -lt 3 ] || { touch third; exec sleep 1000; }' 2>err &
	until [ -e third ]; do sleep 0.05; done
	kill -INT $!
	status=0
	wait $! || status=$?
	cat err
	[ $status = 130 ]
	[ "$(wc -l <number)" = 3 ]
	grep -Fx 'profil: the series was interrupted; the profile has 2 of 1000 runs' err
	says 0 profil report --tsv runs.pb.gz
	grep -Fx 'count	ticks	400' out
	# the first one is better than nothing
	rm third
	# shellcheck disable=SC2016 # for perl
	perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' profil run -q -r 2 -o runs.pb.gz -- \
		sh -c 'touch third; exec sleep 1000' 2>err &
	until [ -e third ]; do sleep 0.05; done
	kill -INT $!
	wait $! || true
	grep -Fx 'profil: the series was interrupted; the profile has 1 of 2 runs' err
	says 0 profil report --tsv runs.pb.gz
	grep -Fx 'count	ticks	200' out
	says 125 profil run -r 2 -p $$
	says 125 profil run -r 0 true
}

# Where a run cannot be begun, those before it are kept, and the status is ours.
series_cut() {
	table >"$PROFIL_FAKE"
	rm -f number
	# shellcheck disable=SC2016 # for sh
	says 125 profil run -n 7 -r 5 -o runs.pb.gz -- \
		sh -c 'echo x >>number; [ "$(wc -l <number)" -lt 3 ] || rm "$PROFIL_FAKE"; exit 9'
	[ "$(wc -l <number)" = 3 ]
	grep -Fx 'profil: the series was interrupted; the profile has 3 of 5 runs' err
	grep -E '^sh -c .*, 3 runs: ' err
	table >"$PROFIL_FAKE"
	says 0 profil report --tsv runs.pb.gz
	grep -Fx 'count	ticks	600' out
	# shellcheck disable=SC2016 # for sh
	printf '#!/bin/sh\nrm "$0"\n' >once
	chmod +x once
	says 127 profil run -q -r 2 -o runs.pb.gz ./once
	grep -F './once cannot be executed: No such file or directory; ' err
	grep -Fx 'profil: the series was interrupted; the profile has 1 of 2 runs' err
	says 0 profil report --tsv runs.pb.gz
	grep -Fx 'count	ticks	200' out
}

# Each of the runs has the signals that profil was given.
series_signals() {
	table >"$PROFIL_FAKE"
	grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status >alone
	says 0 profil run -r 2 -q -o x -- grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status
	cat alone alone | diff -u - out
}

check 'time: slices are in the file' in_file
check 'time: slices are merged in pairs' merged
check 'time: slices are merged where places are many' few_parts
check 'time: the table is read late' late
check 'time: no slices' none_wanted
check 'time: slices of ticks in the kernel' kernel_parts
check 'time: a program that runs' while_running
check 'time: a row for each slice' by_time
check 'time: rows for programs' by_time_for_programs
check 'time: a span of slices' span
check 'time: a file of a span' span_of_file
check 'time: several files' span_of_files
check 'time: what has no slices, or nothing there' no_times
check 'runs: one file of several' series
check 'runs: Ctrl-C' series_interrupted
check 'runs: one that cannot be begun' series_cut
check 'runs: signals of each' series_signals
plan
