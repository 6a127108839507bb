#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# All tests, with one line for each lane and one for all of them.
#
#   selftests/check.sh [--go-on] SET…
#
#   --go-on	a lane that has passed on the very commit that is checked out is
#		not run again, until all of these sets have: a run of hours may be
#		stopped and goes on.  Where anything is not committed, nothing is
#		remembered
#
#   stock	what needs no kernel of our own making
#   debug	the same suite on kernels that look for bugs
#   debug-long	on kcsan in all ways to count, and more; what is in debug of the
#		kernel debug, coverage has
#   matrix	other kernels, other ways to boot them; matrix-long: more tests
#   host	what needs no VM
#   short	faults, and soak, fuzz and lifecycle in short
#   programs	real ones of gcc -pg, with the C library's runtime and with ours
#   mutants replay lifecycle coverage soak fuzz	one by one, each up to hours
#
# A lane is a command whose output ends with "N passed, N failed, N skipped".
# One that does not say so, or exits with an error, has failed, whatever it
# printed before.  All of its output is kept in build/log/.
set -uo pipefail

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$TOP" || exit 1
LOG=build/log
SETS='stock debug debug-long matrix matrix-long host short programs mutants replay lifecycle coverage soak fuzz'
AT_ONCE=2 # VMs: each keeps one processor of the host busy

passed=0 failed=0 skipped=0 start=$SECONDS go_on='' commit=''
declare -A lanes=()	# process id: name and when it began
memory=()		# files of remember()

elapsed() {
	printf '[%2d:%02d] ' $(((SECONDS - start) / 60)) $(((SECONDS - start) % 60))
}

# failures LOG: what is not ok in it, with what explains it: the harness of
# kselftest says that before, the others after
failures() {
	awk '/:Expected / { print }
		/(^|# |\t)not ok / { show = found = 1 }
		/^[^#\t]|(^|# )ok |# (PASSED|FAILED|Totals|timeout|selftests:)|#  RUN / && !/not ok/ { show = 0 }
		show
		END { exit !found }' "$1"
}

# The commit that is checked out, if the files are that one's.
committed() {
	[ "$(git status --porcelain 2>&1)" ] || git rev-parse HEAD
}

# remember NAME PASSED SKIPPED: nobody has touched the source meanwhile
remember() {
	[ "$go_on" ] && [ "$commit" ] && [ "$(committed)" = "$commit" ] || return 0
	echo "$commit $2 $3 $(date '+%F %R')" >"$LOG/${1// /_}.passed"
}

# remembered NAME: that it has passed, and is not to run again
remembered() {
	local what ok skip when
	[ "$go_on" ] && [ "$commit" ] && [ -r "$LOG/${1// /_}.passed" ] || return
	read -r what ok skip when <"$LOG/${1// /_}.passed"
	[ "$what" = "$commit" ] || return
	passed=$((passed + ok)) skipped=$((skipped + skip))
	elapsed
	echo "$1: $ok passed, $skip skipped, on $when; not again"
}

# result NAME STATUS SECONDS: count what the log of that lane says
result() {
	local log=$LOG/${1// /_}.log counts ok bad skip
	counts=$(grep -aoE '[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped' "$log" | tail -n 1)
	read -r ok bad skip < <(tr -cd '0-9 \n' <<<"$counts")
	ok=${ok:-0} bad=${bad:-0} skip=${skip:-0}
	if [ "$bad" = 0 ] && { [ "$2" != 0 ] || [ -z "$counts" ]; }; then
		bad=1
	fi
	passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
	elapsed
	if [ "$bad" = 0 ]; then
		echo "$1: $ok passed, $skip skipped ($3 s)"
		remember "$1" "$ok" "$skip"
	else
		echo "$1: FAILED: $ok passed, $bad failed, $skip skipped, exit status $2 ($3 s), all output in $log:"
		{ failures "$log" | head -n 60; tail -n 5 "$log"; } | sed 's/^/	/'
	fi
}

# Wait for one lane to end.
reap() {
	local pid status=0
	wait -n -p pid || status=$?
	result "${lanes[$pid]%|*}" "$status" $((SECONDS - ${lanes[$pid]#*|}))
	unset "lanes[$pid]"
}

# lane NAME COMMAND...: in the background, when there is room; one command has one
# name, by which it is remembered
lane() {
	memory+=("$LOG/${1// /_}.passed")
	! remembered "$1" || return 0
	while [ ${#lanes[@]} -ge $AT_ONCE ]; do
		reap
	done
	elapsed
	echo "$1: started"
	"${@:2}" >"$LOG/${1// /_}.log" 2>&1 </dev/null &
	lanes[$!]="$1|$SECONDS"
}

# alone NAME COMMAND...: with nothing beside it, which might disturb it
alone() {
	finish
	lane "$@"
	finish
}

finish() {
	while [ ${#lanes[@]} -gt 0 ]; do
		reap
	done
}

# step COMMAND...: what the lanes stand on; without it there is nothing to test
step() {
	"$@" || { echo "check: $* failed, so nothing was tested" >&2; exit 1; }
}

TICK=deliver=tick TASK_WORK=deliver=deferred WORKER='deliver=deferred task_work=0'
# what it matters to that a sample waits
WAITING='lifecycle_test memory_test userfault_test swap_test stress_test race_test'

# suites KERNEL PARAMETERS…
suites() {
	local params
	for params in "${@:2}"; do
		lane "suite $1 $params" selftests/vm/suite.sh "$1" --params "$params"
	done
}

# a suite with the second CPU without a tick
isolated() {
	local kernel=$1 params
	for params in nohz_full=leave nohz_full=tick; do
		lane "suite $kernel $params" selftests/vm/suite.sh "$kernel" --append nohz_full=1 \
			--params "$params" nohz_isolated
	done
}

stock() {
	step selftests/setup.sh build vm check demo
	step selftests/vm/kernels.sh fetch 6.1 6.12 7.2 arm64
	step selftests/vm/kernels.sh source >/dev/null
	alone 'lint' selftests/lint/run.sh
	lane 'host tests' make -s -C selftests/lib check
	lane 'lint selfcheck' selftests/lint/selfcheck.sh
	lane 'suite 7.2 core' selftests/vm/suite.sh 7.2 --core
	lane 'suite arm64 core' selftests/vm/suite.sh arm64 --core
	lane 'transcript' selftests/transcript.sh
	alone 'runner selfcheck' selftests/vm/selfcheck.sh
	suites 6.12 "$TICK" "$TASK_WORK" "$WORKER"
	suites 6.1 "$TICK"
	isolated 6.12
	isolated 6.1
	lane 'suite 6.12 i386' selftests/vm/suite.sh 6.12 --i386
	lane 'suite 6.12 exact' selftests/vm/suite.sh 6.12 --icount 3 --append profil_exact=1 timer_test
	lane 'bench' selftests/bench/bench.sh --check 6.12
	lane 'demo' selftests/demo/check.sh
}

# that these kernels see what they are for
planted() {
	lane 'runner selfcheck debug' selftests/vm/selfcheck.sh debug
	lane 'runner selfcheck kcsan' selftests/vm/selfcheck.sh kcsan
}

debug() {
	step selftests/setup.sh build vm debug
	step selftests/vm/kernels.sh fetch debug kcsan
	planted
	suites debug "$TICK"
	# shellcheck disable=SC2086 # names without spaces
	lane "suite debug waiting $WORKER" selftests/vm/suite.sh debug --params "$WORKER" $WAITING
	suites kcsan "$TICK"
}

debug_long() {
	step selftests/setup.sh build vm debug
	step selftests/vm/kernels.sh fetch debug kcsan mainline
	planted
	lane 'suite mainline core' selftests/vm/suite.sh mainline --core --params deliver=deferred module_test.sh
	suites kcsan "$TICK" "$TASK_WORK" "$WORKER"
}

matrix() {
	step selftests/setup.sh build vm check debug
	alone "matrix${1:+ ${1#--}}" selftests/vm/matrix.sh "$@"
}

short() {
	step selftests/setup.sh build vm debug
	step selftests/vm/kernels.sh fetch 6.12 debug
	lane 'soak short' selftests/stress/soak.sh --minutes 5 --seed 1
	lane 'faults' selftests/vm/suite.sh debug fault_test
	lane 'fuzz short' selftests/stress/fuzz.sh --calls 300000 --seed 1
	lane 'lifecycle short' selftests/stress/lifecycle.sh --quick
}

programs() {
	step selftests/setup.sh build vm programs
	step selftests/vm/kernels.sh fetch 6.12
	lane 'programs' selftests/programs/programs.sh
}

# long lane|alone NAME COMMAND…: alone if it has VMs of its own beside each other
long() {
	step selftests/setup.sh build vm debug
	"$@"
}

host() {
	step selftests/setup.sh build check
	lane 'lint' selftests/lint/run.sh
	lane 'host tests' make -s -C selftests/lib check
}

# All of it is read before any of it runs: a source that is edited meanwhile
# must not change what runs.
main() {
	local set seed

	if [ "${1:-}" = --go-on ]; then
		go_on=1 commit=$(committed)
		shift
	fi
	mkdir -p "$LOG"
	trap 'kill $(jobs -p) 2>/dev/null' EXIT
	for set in "${@:-none}"; do
		if [[ " $SETS " != *" $set "* ]]; then
			echo "usage: check.sh [--go-on] SET…, of: $SETS" >&2
			exit 2
		fi
	done
	for set; do
		case $set in
		stock) stock ;;
		debug) debug ;;
		debug-long) debug_long ;;
		matrix) matrix --quick ;;
		matrix-long) matrix ;;
		host) host ;;
		short) short ;;
		programs) programs ;;
		mutants) long alone 'mutants' selftests/race/mutants.sh ;;
		replay) long alone 'replay' selftests/race/replay.sh --runs 200 ;;
		lifecycle) long lane 'lifecycle' selftests/stress/lifecycle.sh ;;
		coverage) long lane 'coverage' selftests/coverage.sh ;;
		soak) long lane 'soak' selftests/stress/soak.sh --minutes 60 ;;
		fuzz)
			long lane 'runner selfcheck fuzz' selftests/vm/selfcheck.sh fuzz
			long lane 'fuzz' selftests/stress/fuzz.sh --calls 300000
			for seed in {1..20}; do
				long lane "fuzz $seed" selftests/stress/fuzz.sh --kernel fuzz --calls 500000 --seed "$seed"
			done
			;;
		esac
	done
	finish
	echo "$passed passed, $failed failed, $skipped skipped"
	if [ "$failed" != 0 ] || [ "$passed" = 0 ]; then
		exit 1
	fi
	[ ! "$go_on" ] || rm -f "${memory[@]}"
	exit 0
}

main "$@"
