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
		500 50 hot
		500 70 cold
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

check 'time: slices are in the file' in_file
check 'time: slices are merged in pairs' merged
check 'time: slices are merged where places are many' few_parts
check 'time: the table is read late' late
check 'time: no slices' none_wanted
check 'time: slices of ticks in the kernel' kernel_parts
check 'time: a program that runs' while_running
plan
