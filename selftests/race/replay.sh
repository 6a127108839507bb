#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Many different orders of events, each of which can be had again: the race
# tests on an emulator whose time is the count of its instructions.
#
#   replay.sh [OPTION…]		6 runs, and the first of them once more, which
#				has to print the same to the last byte
#
#   --runs N			so many, each with another SHIFT, SEED and CPUS
#   --first N			of all that there can be, begin with this one; 0
#   --at-once N			so many VMs at a time; 2 if it is not given
#   --one SHIFT SEED CPUS	this run alone, with all that it prints
#
# A run is what these three make it: how much time an instruction takes, what
# the programs and the kernel take for random, and the number of CPUs.  The last
# line but one says how many orders there were, by the hash of all race points
# in the order in which the CPUs came there: nine of ten have to differ.  Where the
# emulator does not come as far as to load the module, there is no run: it has fallen
# over an instruction that it had to begin anew.  One in twenty may be such.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"

# Short ones, and none that unloads the module, which forgets the hash with it.
TESTS='stop_against_ticks replacement_against_ticks munmap_after_replacement_against_ticks
	program_that_adds_against_ticks two_cpus_against_the_maximum start_against_start
	start_against_munmap_of_the_anchor ticks_against_munmap_of_the_anchor'
SHIFTS=(3 4 2 5)
CPUS=(2 3 4)

# run SHIFT SEED CPUS DIR: the console's log and the output, into DIR.  Where an
# instruction takes 32 ns and four CPUs take turns, the kernel's own look through
# its page tables as it boots may take longer than its watchdog's 20 seconds: 100.
run() {
	local test tests=()
	for test in $TESTS; do
		tests+=(-t "$test")
	done
	mkdir "$4"
	"$VM/run.sh" --kernel 6.12 --module "$(build_dir 6.12)/profil_test.ko" --tests "$tmp/tests" \
		--icount "$1" --seed "$2" --cpus "$3" --append 'skew_tick=1 watchdog_thresh=50' \
		--log "$4/console" --timeout 1200 \
		-- env "PROFIL_SEED=$2" /tests/race_test "${tests[@]}" >"$4/output" 2>&1
}

hash_of() {
	sed -n 's/.*hash of their order: //p' "$1/output"
}

# ran DIR: all of the tests, and the CPUs came to race points
ran() {
	local points _
	read -r points _ < <(hash_of "$1") || return
	grep -q "^1\.\.$(wc -w <<<"$TESTS")[^0-9]*$" "$1/output" && [ "$points" -gt 0 ]
}

# Some order of the many, the same one for the same number.
numbered() {
	echo "${SHIFTS[$1 % ${#SHIFTS[@]}]} $1 ${CPUS[$1 / ${#SHIFTS[@]} % ${#CPUS[@]}]}"
}

prepare() {
	TEST=1 "$VM/module.sh" 6.12
	test_programs 6.12 race_test >/dev/null
	mkdir "$tmp/tests"
	cp "$BUILD/selftests/race_test" "$tmp/tests"
}

# report NUMBER: what became of that run
report() {
	local args
	args=$(numbered $((first + $1)))
	if [ "$(cat "$tmp/$1.status")" = 0 ] && ran "$tmp/$1"; then
		passed=$((passed + 1))
		echo "ok $(($1 + 1)) replay: --one $args: $(hash_of "$tmp/$1")"
		return
	fi
	if ! grep -q 'profil: loading out-of-tree module' "$tmp/$1/console"; then
		unborn=$((unborn + 1))
		echo "# $(($1 + 1)) replay: --one $args: the kernel did not boot"
		return
	fi
	failed=$((failed + 1))
	echo "not ok $(($1 + 1)) replay: once more with: selftests/race/replay.sh --one $args"
	sed 's/^/# /' "$tmp/$1/output"
}

# report_done: those that have ended, in their order
report_done() {
	while [ -e "$tmp/$reported.status" ]; do
		report "$reported"
		reported=$((reported + 1))
	done
}

# same: the first run once more
same() {
	local args file
	ran "$tmp/0" || return
	read -ra args <<<"$(numbered "$first")"
	run "${args[@]}" "$tmp/again" || true
	for file in console output; do
		cmp "$tmp/0/$file" "$tmp/again/$file" || return
	done
}

main() {
	local runs=6 first=0 at_once=2 passed=0 failed=0 reported=0 unborn=0 orders i args
	tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
	while [ $# -gt 0 ]; do
		case $1 in
		--runs) runs=$2 && shift ;;
		--first) first=$2 && shift ;;
		--at-once) at_once=$2 && shift ;;
		--one)
			local rc=0
			[ $# = 4 ] || die "--one takes a shift, a seed and a number of CPUs"
			prepare
			run "$2" "$3" "$4" "$tmp/one" || rc=$?
			cat "$tmp/one/console" "$tmp/one/output"
			exit "$rc"
			;;
		*) die "unknown option $1: see the top of $0" ;;
		esac
		shift
	done
	prepare
	for ((i = 0; i < runs; i++)); do
		[ "$(jobs -rp | wc -l)" -lt "$at_once" ] || wait -n || true
		report_done
		read -ra args <<<"$(numbered $((first + i)))"
		{
			local rc=0
			run "${args[@]}" "$tmp/$i" || rc=$?
			echo "$rc" >"$tmp/$i.status"
		} &
	done
	wait
	report_done
	if same; then
		passed=$((passed + 1))
		echo "ok $((runs + 1)) replay: the first run once more is the same to the last byte"
	else
		failed=$((failed + 1))
		echo "not ok $((runs + 1)) replay: the first run once more is another"
	fi
	if [ $((20 * unborn)) -gt "$runs" ]; then
		failed=$((failed + 1))
		echo "not ok replay: the emulator does not boot the kernel more often than once in twenty times"
	fi
	orders=$(for ((i = 0; i < runs; i++)); do hash_of "$tmp/$i"; done | sort -u | wc -l)
	if [ $((10 * orders)) -lt $((9 * (runs - unborn))) ]; then
		failed=$((failed + 1))
		echo 'not ok replay: too many runs had the same order'
	fi
	echo "replay: orders of (CPU, race point) in $((runs - unborn)) runs that differ: $orders"
	echo "replay: $passed passed, $failed failed, 0 skipped"
	[ "$failed" = 0 ]
	exit
}

main "$@"
