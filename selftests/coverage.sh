#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Which lines of the module the test suite runs, by GCOV in the debug kernel.
#
#   coverage.sh			all programs in all ways: half an hour and more
#   coverage.sh WAY [PROGRAM…]	only these, added to what earlier runs of the
#				same module covered
#   coverage.sh report		only the report
#
#   WAY is tick (all programs); deferred or worker (who delivers: those whose samples may
#   wait); looks (sessions that look late, as in kernels for real time); or nohz or leave (the
#   second CPU without a tick, and the module has it tick or does not).  Race windows are widened.
#
# Prints file, lines, covered; then each line that was not, with its reason from
# coverage.reasons.  Fails below 95 % of all lines of the module, on a line without a
# reason, on a reason for no line, and when a test fails.  The data is in build/coverage.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/vm/lib.sh"

WAYS='tick deferred worker looks nohz leave'
# Those that deliver otherwise, or wait
LATE='count_test lifecycle_test memory_test module_test.sh race_test rate_test security_test signal_test stress_test swap_test timer_test userfault_test width_test'
LEAST=95
DATA=$BUILD/coverage
REASONS=$TOP/selftests/coverage.reasons

passed=0 failed=0 skipped=0

result()
{
	if [ "$1" = 0 ]; then
		passed=$((passed + 1))
		echo "ok - $2"
	else
		failed=$((failed + 1))
		echo "not ok - $2"
	fi
}

# The module as it is now, with what gcov reads; others may build it meanwhile.
snapshot()
{
	local built=$BUILD/k/debug/profil_gcov

	COV=1 TEST=1 "$VM/module.sh" debug
	! cmp -s "$built.ko.stamp" "$DATA/stamp" || return 0
	rm -rf "$DATA"
	mkdir -p "$DATA/notes"
	cp "$built.ko" "$DATA/profil_gcov.ko"
	cp "$built.d"/module/*.gcno "$DATA/notes"
	cp -r "$built.d/module" "$DATA/module"
	cp "$built.ko.stamp" "$DATA/stamp"
}

# In the VM, after the programs: the counts since boot, over all insmod.
# shellcheck disable=SC2016 # expanded there
GUEST='
	sh /vm/suite "$@"
	mkdir /tmp/gcov
	find /sys/kernel/debug/gcov -path "*/module/*.gcda" | while read -r file; do
		cat "$file" >"/tmp/gcov/${file##*/}"
	done
	echo gcov begin
	tar -cz -C /tmp/gcov . | base64
	echo gcov end'

# collect WAY [PROGRAM…]
collect()
{
	local way=$1 options=() params='' programs log name rc=0 ok bad skip
	shift
	name=$way${1:+-$(echo "$*" | tr ' ' '+')}
	log=$DATA/$name.log

	case $way in
	tick) params=deliver=tick programs=$(cd "$BUILD/selftests" && ls -- *_test *_test.sh) ;;
	deferred) params=deliver=deferred programs=$LATE ;;
	worker) params='deliver=deferred task_work=0' programs=$LATE ;;
	looks) params=race_late=Y programs='session_race_test session_system_test session_test' ;;
	nohz | leave)
		params=nohz_full=${way/nohz/tick} options=(--append nohz_full=1)
		programs=nohz_isolated
		;;
	*) die "there is no way $way: take one of $WAYS" ;;
	esac
	# shellcheck disable=SC2086 # names without spaces
	[ $# -gt 0 ] || set -- $programs
	say "$# programs, $params; the output is in $log"
	"$VM/run.sh" --kernel debug --module "$DATA/profil_gcov.ko" --params "$params" \
		--swap --timeout 7200 ${options[@]+"${options[@]}"} \
		--add "$VM/suite-guest:/vm/suite" -- \
		sh -c "$GUEST" suite "$((3 * $(sed -n 's/^timeout=//p' "$TOP/selftests/kernel/settings")))" "$@" >"$log" || rc=$?
	read -r ok bad skip < <("$VM/ktap.sh" debug $# "$log")
	passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
	result "$rc" "coverage: $name: the VM ended with status $rc; $ok passed, $bad failed, $skip skipped"
	rm -rf "$DATA/counts.$name"
	mkdir "$DATA/counts.$name"
	sed -n '/^gcov begin/,/^gcov end/{/^gcov/!p}' "$log" | base64 -d | tar -xz -C "$DATA/counts.$name" ||
		result 1 "coverage: $name: no data came out of the VM, see $log"
}

# FILE, LINE, COUNT, TEXT; COUNT is 0 or 1, or - of what is no code.  A header's line
# is covered if it is in one of the files that include it.
annotated()
{
	local version all=$DATA/all counts

	version=$(sed -n 's/^CONFIG_GCC_VERSION=\([0-9]*\)[0-9]\{4\}$/\1/p' \
			"$("$VM/kernels.sh" headers debug)/.config")
	need "gcov-$version" "gcc-$version"
	rm -rf "$all"
	for counts in "$DATA"/counts.*; do
		[ -e "$counts/main.gcda" ] || continue
		if [ -e "$all" ]; then
			"gcov-tool-$version" merge "$all" "$counts" -o "$all.new" >/dev/null
			rm -r "$all"
			mv "$all.new" "$all"
		else
			cp -r "$counts" "$all"
		fi
	done
	[ -e "$all" ] || die "there is no coverage data in $DATA: run selftests/coverage.sh"
	cp "$DATA"/notes/*.gcno "$all"
	# its own copy of the text is of the file as it may be by now
	"gcov-$version" -t "$all"/*.gcno 2>/dev/null |
		awk -F: -v module="$DATA/module" '
			/^ *-: *0:Source:/ {
				file = $4
				sub(/.*\/module\//, "", file)
				ours = $4 ~ /\/module\/([a-z_]+\/)?[a-z_]+\.[ch]$/
				for (n = 0; ours && (getline line <(module "/" file)) > 0;)
					text[++n] = line
				close(module "/" file)
			}
			ours && $2 > 0 && $2 <= n {
				count = $1
				gsub(/[ *]/, "", count)
				if (count == "-")
					count = -1
				else
					count = count ~ /^[#=]/ ? 0 : 1
				line = text[$2 + 0]
				gsub(/\t/, " ", line)
				place = file "\t" $2 + 0
				if (!(place in best) || count > best[place])
					best[place] = count
				source[place] = line
			}
			END {
				for (place in best)
					printf "%s\t%s\t%s\n", place, best[place] < 0 ? "-" : best[place], source[place]
			}'
}

# The tables; the exit status says whether all is well.
report()
{
	annotated | LC_ALL=C sort -t "$(printf '\t')" -k1,1 -k2,2n | awk -F '\t' -v reasons="$REASONS" -v least=$LEAST '
		BEGIN {
			while ((getline line <reasons) > 0) {
				if (line ~ /^#/ || line == "")
					continue
				split(line, part, "\t+")
				where[++n] = part[1]
				text[n] = part[2]
				why[n] = part[3]
			}
			format = "%-16s %6s %8s %6s\n"
			printf format, "file", "lines", "covered", "%"
		}
		function print_file() {
			if (file != "")
				printf format, file, lines, hits, lines ? sprintf("%.1f", 100 * hits / lines) : "-"
			lines = hits = 0
		}
		function reason(i) {
			for (i = 1; i <= n; i++)
				if (where[i] == file ":" name && (text[i] == "*" || index($4, text[i]))) {
					used[i]
					return why[i]
				}
			return ""
		}
		$1 != file { print_file(); file = $1; name = "" }
		# the name at the beginning of a line is that of a function
		$4 ~ /^[a-z].*\(/ && $4 !~ /;$/ { name = $4; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name) }
		$3 != "-" { lines++; all++; because = reason() }
		$3 == 1 { hits++; covered++ }
		$3 == "0" {
			if (because == "")
				unknown++
			code = $4
			sub(/^ +/, "", code)
			missed[++m] = sprintf("%s:%d: %s: %s\n\t%s", file, $2, name, code, because == "" ? "NOT EXPLAINED" : because)
		}
		END {
			print_file()
			printf format, "total", all, covered, all ? sprintf("%.1f", 100 * covered / all) : "-"
			print ""
			for (i = 1; i <= m; i++)
				print missed[i]
			for (i = 1; i <= n; i++)
				if (!(i in used)) {
					print "coverage.reasons: " where[i] ": " text[i] ": there is no such line"
					stale++
				}
			printf "%d lines not covered, %d of them not explained; %d reasons for no line\n", m, unknown, stale
			exit !all || 100 * covered < least * all || unknown > 0 || stale > 0
		}'
}

ways=$WAYS
case ${1:-} in
'' | report) ;;
*) ways=$1 && shift ;;
esac
if [ "${1:-}" = report ]; then
	ways=
elif [ "$ways" = "$WAYS" ]; then
	rm -rf "$DATA"
fi
if [ "$ways" ]; then
	test_programs debug >/dev/null
	snapshot
fi
for way in $ways; do
	collect "$way" "$@"
done
rc=0
report || rc=$?
result "$rc" "coverage: at least $LEAST % of the lines, and a reason for each other"
echo "coverage: $passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
