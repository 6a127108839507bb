#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What is said of a profile of the whole machine: classes, units, containers, programs.
set -eu
. "$(dirname "$0")/lib.sh"
. "$here/system_lib.sh"

cd "$tmp"
machine >"$PROFIL_FAKE"
planted_groups profil run -q -a -o whole -- true
table >plain
PROFIL_FAKE=plain profil run -q -o plain.gz -- true

# by WHAT OPTION...: samples and name of each row
by() {
	profil report --tsv --by "$1" "${@:2}" | awk -F '\t' -v by="$1" '$1 == by { print $2 "\t" $8 }'
}

# All ticks of a row, also those that found no place; only idle ones are nobody's.
units() {
	by unit whole | diff -u - <(printf '%s\t%s\n' 449 nginx.service 220 docker-4d2fe8c1b0a7.scope \
		70 cron.service 50 / 10 '[ended group 999999999]' 1 '[others]')
	by container whole | diff -u - <(printf '%s\t%s\n' 580 '[no container]' 220 4d2fe8c1b0a7)
	by program whole | diff -u - <(printf '%s\t%s\n' 440 nginx 220 planted 70 sh 50 kworker \
		10 short-lived 9 '[other programs]' 1 '[others]')
	by process whole | diff -u - <(by program whole)
	profil report --by unit whole >out
	grep -E '^   self  ±95%   cumul    user     sys  unit$' out
	grep -E '^  56.1 % .* 1.62 s  0.18 s  nginx.service$' out
	profil report --by container --json whole | python3 -c '
import json, sys
report = json.load(sys.stdin)
assert report["by"] == "container"
assert [(row["name"], row["samples"]) for row in report["rows"]] == [("[no container]", 580), ("4d2fe8c1b0a7", 220)]
assert report["counts"]["idle"] == 200'
	says 125 profil report --by nothing whole
}

# What tells no units apart has one row.
no_units() {
	by unit plain.gz | diff -u - <(printf '%s\t%s\n' 200 '[not known]')
	by container plain.gz | diff -u - <(printf '%s\t%s\n' 200 '[not known]')
	by program plain.gz | diff -u - <(printf '%s\t%s\n' 114 planted 86 sh)
	profil report --tsv plain.gz >table
	none grep -E '	(idle|cpus_ns)	' table
	by unit plain.gz whole | diff -u - <(printf '%s\t%s\n' 449 nginx.service \
		220 docker-4d2fe8c1b0a7.scope 200 '[not known]' 70 cron.service 50 / \
		10 '[ended group 999999999]' 1 '[others]')
}

# Classes are what was counted, and idle is the rest of the time of all CPUs.
classes() {
	profil report whole >out
	grep -E '^the whole machine, true: [0-9.]+ CPUs for [0-9.]+ s$' out
	grep -E '^  user +2.70 s +[0-9.]+ %$' out
	grep -E '^  system +0.27 s +[0-9.]+ %$' out
	grep -E '^  kernel threads +0.20 s +[0-9.]+ %$' out
	grep -E '^  interrupts +0.03 s +[0-9.]+ %$' out
	grep -E '^  idle +0.00 s +0.0 %$' out
	grep -Fx '  units    nginx.service 56.1 %, docker-4d2fe8c1b0a7.scope 27.5 %, cron.service 8.8 %, / 6.2 %, 2 more 1.4 %' out
	grep -F '  places   5.5 % of the samples are elsewhere in their object: ' out
	grep -F 'profil run --slots=1048576 … makes it larger' out
	grep -Fx '  ticks    1000 of 4 ms = 4.00 s: 742 counted, 1 in exec, 0 lost, 50 of kernel threads, 7 in interrupts, 200 idle' out
	none grep -F remark out
	# they add up to the time of the CPUs, whatever was counted
	{
		machine | grep -v '^idle'
		echo 'tick_ns 1000'
	} >short
	PROFIL_FAKE=short planted_groups profil run -q -a -o short.gz -d 0.3
	profil report short.gz | awk '/^  (user|system|kernel threads|interrupts|idle) +[0-9]/ {
		sum += $(NF - 1); seconds += $(NF - 3) } / CPUs for / { all = $(NF - 4) * $(NF - 1) }
		END { print sum, seconds, all; exit !(sum > 99.7 && sum < 100.3 && seconds > all - 0.1 && seconds < all + 0.1) }'
	# a tick that is in no class is seen
	{
		machine
		echo 'kthreads 49'
	} >wrong
	PROFIL_FAKE=wrong planted_groups profil run -q -a -o wrong.gz -- true
	profil report wrong.gz | grep -F 'remark   there were 1000 ticks, which is not the sum'
}

filters() {
	by function --unit nginx.service whole | diff -u - <(printf '%s\t%s\n' 400 hot \
		40 '[elsewhere in planted]' 9 '[libfoo.so]')
	by program --unit 'nginx*' whole | diff -u - <(printf '%s\t%s\n' 440 nginx 9 '[other programs]')
	by unit --program 's?' whole | diff -u - <(printf '%s\t%s\n' 70 cron.service)
	by unit --container 4d2fe8c1b0a7 whole | diff -u - <(printf '%s\t%s\n' 220 docker-4d2fe8c1b0a7.scope)
	by container --unit "docker-$hex.scope" whole | diff -u - <(printf '%s\t%s\n' 220 4d2fe8c1b0a7)
	by unit --container $hex whole | diff -u - <(printf '%s\t%s\n' 220 docker-4d2fe8c1b0a7.scope)
	by program --unit '[ended group 999999999]' whole | diff -u - <(printf '%s\t%s\n' 10 short-lived)
	by program --unit / whole | diff -u - <(printf '%s\t%s\n' 50 kworker)
	by function --unit nginx.service --program nginx whole | head -n 1 | grep -P '^400\thot$'
	profil report --unit nginx.service whole >out
	grep -E '^the whole machine, true: [0-9.]+ s of CPU' out
	grep -F '; what was lost is known of the whole alone' out
	none grep -F idle out
	says 1 profil report --unit apache.service whole
	grep -Fx 'profil: this profile has nothing of unit apache.service; profil report --by unit shows what there is' err
	says 1 profil report --unit nginx.service plain.gz
	grep -F 'profil: this profile does not tell units apart; profil run -a … does' err
}

# Slices of time have units and programs.
parts() {
	says 0 profil report --by unit --to 0.1 whole
	by unit --to 0.1 whole | diff -u - <(printf '%s\t%s\n' 449 nginx.service 219 docker-4d2fe8c1b0a7.scope \
		63 cron.service 10 '[ended group 999999999]' 1 '[others]')
	says 1 profil report --by unit --to 0.1 plain.gz
}

check 'system report: units, containers, programs' units
check 'system report: no units' no_units
check 'system report: classes' classes
check 'system report: filters' filters
check 'system report: parts of the time' parts
plan
