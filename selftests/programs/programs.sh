#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Programs that nobody here wrote, from Debian's source packages, compiled with
# gcc -pg and run in a VM: with the C library's runtime, and with libprofil's.
#
#   programs.sh [PROGRAM…]	all of recipes, or these
#   programs.sh --table		only print what the last run found
#
# Of each: the output is the same, no signal comes and no system call is
# interrupted, the samples of all files are the ticks at which the kernel found it,
# and the CPU time that it was charged, and calls are those that callgrind counts.
# Of daemons, which are killed, see check_daemon().
#
# The VM's time is the count of its instructions, and it has no folder of the host, for
# whose time it would wait: so what the programs leave is the same each time.
#
# shellcheck disable=SC2317 # functions are called by locked()
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"
. "$TOP/selftests/programs/source"
. "$TOP/selftests/programs/recipes"
. "$TOP/selftests/programs/runs"

OUT=$BUILD/programs
TESTS=$OUT/tests # that the VM has in its memory
TOLERANCE=2 # percent, of samples against ticks
CHARGED=5 # percent, of samples against what the scheduler's clock charged
ENDS=0.5 # seconds of CPU time, before its profile begins and after it has ended
INTERVAL=1 # second, as in guest
number=0 failed=0

# report STATUS WHAT [WHY]
report() {
	number=$((number + 1))
	if [ "$1" = 0 ]; then
		echo "ok $number programs: $2${3:+ ($3)}"
	else
		failed=$((failed + 1))
		echo "not ok $number programs: $2${3:+ ($3)}"
	fi
}

# built PROGRAM: in its folder of $TESTS, with all that it is run with
built() {
	local dir=$TESTS/$1
	[ ! "$dir/command" -nt "$TOP/selftests/programs/recipes" ] || return 0
	rm -rf "$dir" "$OUT/$1".*
	mkdir -p "$dir"
	cp -a "$CACHE/programs/$1" "$OUT/$1.source"
	say "building $1"
	(cd "$OUT/$1.source" && "build_$1" "$dir") >"$OUT/$1.log" 2>&1 ||
		die "$1 does not build: see $OUT/$1.log"
	"drive_$1" >"$dir/command"
}

prepare() {
	local program build builds=()
	mkdir -p "$TESTS"
	for program; do
		locked "program-$program" source_of "$program"
		built "$program" &
		builds+=($!)
	done
	for build in "${builds[@]}"; do
		wait "$build" || exit 1
	done
	corpus >"$TESTS/corpus"
	for program in measure gmon; do
		gcc -std=gnu11 -O2 -Wall -Wextra -o "$OUT/$program" -I "$TOP/uapi" "$TOP/selftests/programs/$program.c"
	done
	make -s -C "$TOP/libwrap"
	cp "$OUT/measure" "$BUILD/lib/libprofil.so" "$TOP/selftests/programs/guest" "$TESTS"
}

# libraries PROGRAM…: of this machine that they need
libraries() {
	local program
	for program; do
		find "$TESTS/$program" -type f -perm -u+x -exec ldd {} +
	done | grep -o '/[^ ]*' | grep -v -e ':$' -e "^$TESTS/" | sort -u
}

# run_all PROGRAM…: what the runs leave is in $OUT/runs after this
run_all() {
	local library adds=()
	for library in $(libraries "$@"); do
		adds+=(--add "$library:$library")
	done
	rm -rf "$OUT/runs"
	"$VM/run.sh" --cpus 1 --mem 1024 --icount 3 --timeout 3600 --log "$OUT/console.log" \
		--tests "$TESTS" "${adds[@]}" -- sh -c 'cd /tests && exec sh guest "$@"' \
		guest "$@" >"$OUT/runs.tar.gz" ||
		die "the programs were not run to their end: see $OUT/console.log"
	tar -xf "$OUT/runs.tar.gz" -C "$OUT"
}

# callgrind PROGRAM: NAME COUNT of each function, by callgrind, which leaves out calls of what has not
# returned yet where the depths are not told apart
callgrind() {
	local file=$OUT/$1.callgrind
	if [ ! -e "$file" ]; then
		(
			cd "$TESTS/$1"
			# the signals of the C library's runtime would kill it
			# shellcheck disable=SC2046
			LD_PRELOAD=$BUILD/lib/libprofil.so PROFIL_QUIET=1 GMON_OUT_PREFIX=$file.gmon \
				valgrind -q --tool=callgrind --separate-recs=99 --callgrind-out-file="$file.part" $(cat command) \
				>/dev/null 2>"$file.log"
		) || die "callgrind cannot run $1: see $file.log"
		rm -f "$file".gmon*
		mv "$file.part" "$file"
	fi
	awk '
		/^cfn=/ {
			id = substr($1, 5)
			if (NF > 1)
				names[id] = $2
			name = names[id]
			# of its own for each depth
			sub(/'\''[0-9]+$/, "", name)
		}
		/^fn=/ && NF > 1 { names[substr($1, 4)] = $2 }
		/^calls=/ { count[name] += substr($1, 7) }
		END { for (name in count) print name, count[name] }' "$file" | sort
}

check_calls() {
	local ours lost
	ours=$(calls "$OUT/runs/$1/profil" "$1")
	callgrind "$1" | join -j 1 - <(echo "$ours") >"$OUT/$1.calls"
	report "$(awk '$2 != $3 { bad = 1 } END { print bad + (NR < 3) }' "$OUT/$1.calls")" \
		"$1: calls are those of callgrind" "$(wc -l <"$OUT/$1.calls") functions"
	awk '$2 != $3 { print "# " $1 ": callgrind " $2 ", libprofil " $3 }' "$OUT/$1.calls"
	report "$([ "$(wc -l <"$OUT/$1.calls")" = "$(wc -l <<<"$ours")" ]; echo $?)" \
		"$1: callgrind knows all of these functions"
	# all that the program has itself, but for what comes compiled with the C library
	lost=$(callgrind "$1" | join -v 1 - <(echo "$ours") |
		join - <(nm --defined-only "$TESTS/$1/$1" | awk '$2 ~ /^[tT]$/ { print $3 }' | sort) |
		{ grep -vE '^(__gmon_start__|atexit) ' || :; })
	report "$([ -z "$lost" ]; echo $?)" "$1: libprofil knows all of its functions" "$lost"
}

# check_daemon PROGRAM: killed, it has left the files of less than an interval ago;
# and what it was asked for before it was given other work is all in each run's
check_daemon() {
	local function times run
	read -r function times < <("asked_$1")
	for run in profil asked; do
		report "$(gprof -b -p "$TESTS/$1/$1" "$OUT/runs/$1/$run/gmon.out" 2>/dev/null |
			awk -v name="$function" -v times="$times" '
				$3 ~ /^[0-9.]+$/ { sum += $3 }
				$NF == name { calls = $4 }
				END { print !(sum > 0 && calls == times) }')" \
			"$1: after SIGKILL gprof reads it" "$run, $times calls of $function"
	done
	report "$(cmp -s "$OUT/runs/$1/asked/output" "$OUT/runs/$1/c-library/output"; echo $?)" \
		"$1: its output is the same when asked for files"
	report "$([ ! -s "$OUT/runs/$1/asked/errors" ]; echo $?)" "$1: nothing is said beside that"
	report "$(cat "$OUT/runs/$1/asked/signals")" "$1: no SIGPROF comes then"
	report "$(files "$OUT/runs/$1/c-library" | wc -l)" "$1: the C library's runtime left nothing"
}

# known_run PROGRAM: whose files are of a moment at which it is known what was charged
known_run() {
	[[ " $DAEMONS " == *" $1 "* ]] && echo asked || echo profil
}

# check_charged PROGRAM RUN: files lack their own writing, before which the profile ends;
# the programs have enough work that this is less than the tolerance
check_charged() {
	local run=$OUT/runs/$1/$2
	report "$(awk -v samples="$(seconds "$run")" -v charged="$(charged "$run")" \
		-v percent="$CHARGED" 'BEGIN {
		print !(samples > charged * (1 - percent / 100) &&
			samples < charged * (1 + percent / 100)) }')" \
		"$1: its samples are the CPU time that it was charged" \
		"$(seconds "$run") of $(charged "$run") s, $2"
}

check() {
	local run=$OUT/runs/$1/profil other=$OUT/runs/$1/c-library status=0 interval=0
	if [[ " $DAEMONS " == *" $1 "* ]]; then
		status=137 interval=$INTERVAL
		check_daemon "$1"
	fi
	report "$(cmp -s <(output_of "$run") <(output_of "$other"); echo $?)" "$1: its output is the same"
	report "$([ -s "$run/output" ] &&
		[ "$(awk '{ print $3 }' "$run/usage" "$other/usage" | uniq)" = $status ]; echo $?)" \
		"$1: there is output, and no failure"
	report "$([ ! -s "$run/errors" ]; echo $?)" "$1: nothing is said beside it"
	report "$(cat "$run/signals")" "$1: no SIGPROF comes" "of the C library's: $(cat "$other/signals")"
	[[ " $INTERRUPTED " == *" $1 "* ]] ||
		report "$(cat "$run/interrupted")" "$1: no system call is interrupted" "of the C library's: $(cat "$other/interrupted")"
	report "$(awk -v tolerance="$TOLERANCE" -v samples="$(seconds "$run")" -v ticks="$(ticked "$run")" \
		-v ends="$ENDS" -v interval="$interval" 'BEGIN {
		print !(samples > ticks * (1 - tolerance / 100) - ends - interval &&
			samples < ticks * (1 + tolerance / 100)) }')" \
		"$1: its samples are the kernel's ticks" "$(seconds "$run") of $(ticked "$run") s; of the C library's: $(seconds "$other") of $(ticked "$other") s"
	check_charged "$1" "$(known_run "$1")"
	[[ " $DETERMINISTIC " != *" $1 "* ]] || check_calls "$1"
}

# A line of the table for each.
table() {
	local program run dir
	printf '%-10s  %-10s  %8s  %8s  %12s  %s\n' program runtime 'CPU (s)' gprof\ \(s\) calls files
	for program; do
		for run in c-library "$(known_run "$program")"; do
			dir=$OUT/runs/$program/$run
			printf '%-10s  %-10s  %8s  %8s  %12s  %s\n' "$program" "$run" \
				"$(charged "$dir")" "$(seconds "$dir")" \
				"$(calls "$dir" "$program" | awk '{ sum += $2 } END { print sum + 0 }')" \
				"$(files "$dir" | wc -l)"
		done
	done
}

main() {
	local only='' program programs
	[ "${1:-}" != --table ] || { only=1; shift; }
	read -ra programs <<<"${*:-$PROGRAMS}"
	if [ ! "$only" ]; then
		prepare "${programs[@]}"
		for program in "${programs[@]}"; do
			[[ " $DETERMINISTIC " != *" $program "* ]] || callgrind "$program" >/dev/null &
		done
		run_all "${programs[@]}"
		wait
		for program in "${programs[@]}"; do
			check "$program"
		done
	fi
	table "${programs[@]}" | sed 's/^/# /'
	echo "programs: $((number - failed)) passed, $failed failed, 0 skipped"
	[ "$failed" = 0 ]
	exit
}

main "$@"
