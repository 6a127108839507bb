#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# profil run --kernel: time in the kernel as that of its functions, which a planted
# /proc/kallsyms names.
set -eu
. "$(dirname "$0")/lib.sh"
. "$here/pprof_lib.sh"

cd "$tmp"

# 97 ticks in user mode and 60 in the kernel; of these 3 were in exec, 2 found no slot for
# the program, and 1 none for the kernel
cat >"$tmp/table" <<END
object 10 $planted
process 0 0 0 0 0 others
process 7 0 1 97 60 planted
slot 10 $(at "$planted" hot) 0 90 10
slot 10 $(at "$planted" cold) 0 5 20
slot 10 $(at "$planted" main) 0 0 25
slot 5 ffffffff81000110 0 0 30
slot 5 ffffffff81000150 0 0 7
slot 5 ffffffff81000300 0 0 2
slot 5 ffffffffc0001020 0 0 17
slot 5 ffffffffc0001800 0 0 1
slot 5 0 0 0 2
exec 3
full 4
full_kernel 1
END

# Sorted by nothing, as modules are; with labels, data and names of one address.
cat >kallsyms <<'END'
0000000000000000 A fixed_percpu_data
ffffffffc0001010 t ext4_read	[ext4]
ffffffffc0001400 d ext4_data	[ext4]
ffffffffc0001000 t ext4_first	[ext4]
ffffffff81000000 T _stext
ffffffff81000100 t __se_sys_read
ffffffff81000100 T vfs_read
ffffffff81000100 W weak_read
ffffffff8100014c t $x
ffffffff81000148 T vfs_write
ffffffff81000200 T _etext
ffffffff81000400 D data
END

# with_names COMMAND...: with this /proc/kallsyms
with_names() {
	planted_system 'mount --bind kallsyms /proc/kallsyms' "$@"
}

functions() {
	says 0 with_names profil run --kernel -o file -- true
	sed -E -e '1d' -e 's/^true: .*/true: CPU/' -e '/remark .*waited/,+1d' \
		-e 's/; the kernel charged .*//' err >end
	diff -u - end <<-'END'
		true: CPU

		   self  ±95%   cumul    user     sys  function      object
		  58.4 %   7.7  58.4 %  0.36 s       -  hot           planted
		  19.5 %   6.2  77.9 %       -  0.12 s  vfs_read      [kernel]
		  11.0 %   5.0  89.0 %       -  0.07 s  ext4_read     [ext4]
		   4.5 %   3.4  93.5 %       -  0.03 s  vfs_write     [kernel]
		   3.2 %   3.0  96.8 %       -  0.02 s  [kernel]      [kernel]
		   3.2 %   3.0 100.0 %  0.02 s       -  cold          planted

		  objects  planted 61.7 %, [kernel] 27.3 %, [ext4] 11.0 %
		  names    3 % of the samples have none: the kernel has no function there
		  ticks    157 of 4 ms = 0.63 s: 154 counted, 0 in exec, 3 lost
		  remark   ticks for which the table of places had no room: 3
		           profil run --slots=1048576 … makes it larger
		  written  file, 1 kB (profil report, go tool pprof)
	END
}

# While a session counts, a tick may be found at its place in the kernel, and not yet at that outside.
half_a_tick() {
	sed -E "s/^(slot 10 $(at "$planted" main) 0 0) 25/\1 28/; s/^(exec|full|full_kernel) .*/\1 0/" "$tmp/table" >half
	PROFIL_FAKE=half says 0 with_names profil run -q --kernel -o half.pb.gz -- true
	says 0 profil report --json half.pb.gz
	jq -c .counts out
	[ "$(jq -c '[.counts | .in_slots, .exec, .full]' out)" = '[154,0,0]' ]
}

# All that is known is in the file: this system's /proc/kallsyms is not asked.
in_reports() {
	says 0 profil report --by address --tsv file
	grep ^address out | cut -f 2,4,5,8- >rows
	diff -u - rows <<-END
		90	360000000	0	hot	$planted	0x$(at "$planted" hot)
		30	0	120000000	vfs_read	[kernel]	0x110
		17	0	68000000	ext4_read	[ext4]	0x20
		7	0	28000000	vfs_write	[kernel]	0x150
		5	0	20000000	[kernel]	[kernel]	0
		5	20000000	0	cold	$planted	0x$(at "$planted" cold)
	END
	says 0 profil report --by object --tsv file
	grep -P '^object\t42\t168000000\t0\t168000000\t.*\t\[kernel\]\t' out
	says 0 profil report --json file
	python3 -c 'import json
rows = json.load(open("out"))["rows"]
assert sum(row["samples"] for row in rows) == 154 and sum(row["system_ns"] for row in rows) == 59 * 4000000
assert {row["name"]: row["object"] for row in rows}["ext4_read"] == "[ext4]"'
	says 0 profil report --by process --tsv file
	grep -P '^process\t157\t628000000\t388000000\t240000000\t.*\tplanted\t\t7$' out
}

in_pprof() {
	same_functions file
	go tool pprof -raw file >raw
	grep -E '^[0-9]+: .*\[kernel\.kallsyms\]' raw
	grep -E '^[0-9]+: .*\[ext4\]' raw
	go tool pprof -proto -output=written file
	profil report --tsv --by address written | grep ^address >theirs
	profil report --tsv --by address file | grep ^address | diff theirs -
}

# Where the kernel lies is nobody's business.
no_addresses() {
	gzip -dc file >plain
	python3 -c 'import re, sys
from subprocess import run
raw = run(["go", "tool", "pprof", "-raw", "file"], capture_output=True, text=True).stdout
assert "[kernel.kallsyms]" in raw and not re.search("(?i)0xffff[0-9a-f]{8}", raw), raw'
	none grep ffffffff plain
	says 0 profil report --by address --all file
	none grep ffffffff out
}

hidden() {
	sed -E -i 's/^[0-9a-f]+/0000000000000000/' kallsyms
	says 0 with_names profil run --kernel -o hidden -- true
	grep -E ' 38\.3 % .* - +0\.24 s +\[kernel\] +\[kernel\]$' err
	grep -Fx '  names    38 % of the samples have none: the kernel hides its functions' err
	grep -Fx '           sudo sysctl kernel.kptr_restrict=1; then sudo profil run --kernel … has them' err
	grep -F ': 154 counted, 0 in exec, 3 lost' err
	says 0 profil report --by address --tsv hidden
	grep -P '^address\t59\t.*\t\[kernel\]\t\[kernel\]\t0$' out
}

# Without the option slots have what they had.
without() {
	grep -v '^slot 5' "$tmp/table" >less
	PROFIL_FAKE=less says 0 profil run -q -o file -- true
	says 0 profil report --tsv file
	grep -P '^function\t100\t400000000\t360000000\t40000000\t.*\thot\t' out
	grep -Px 'count\texec\t3' out
	says 125 profil run -u --kernel true
	grep -F -- '-u and --kernel contradict each other' err
}

check 'kernel: functions, and what is left of the rest' functions
check 'kernel: half a tick' half_a_tick
check 'kernel: reports' in_reports
check 'kernel: pprof' in_pprof
check 'kernel: the file does not tell where it lies' no_addresses
check 'kernel: hidden names' hidden
check 'kernel: without the option' without
plan
