#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Shows that the tests see what they are for: the module with its race windows
# widened passes them, and each of its mutants is found out.
#
#   mutants.sh [OPTION…] [NAME…]	all of selftests/race/mutants, or these
#
#   --times N			each so many times
#   --at-once N			so many VMs at a time; 2 if it is not given
#   --part K/N			of all, each Nth, beginning with the Kth
#
# A mutant is a patch of the module.  Its first lines say what is broken, and
#
#   Test: PROGRAM TEST…	what is run
#   Kernel: KERNEL	where; 6.12 if there is no such line
#   Params: STRING	with which parameters of the module
#   Clock: real		a test of races or timers that does not need the count of instructions
#   Clock: counted	another test, which asks for something only where time is this count
#   Cpus: N		on so many; 2 if there is no such line.  Where there is one, no test of
#			a mutant without it runs in the same VM: some leave a hook switched off
#   Kill: VERDICT	what finds it out: test (also if there is no such line),
#			a test that is not ok; splat, one in the kernel's log;
#			stay, that the module cannot be unloaded any more
#
# Nothing else finds it out: a lost VM proves nothing, and neither does anything
# that befalls the unbroken module in the very same runs.  A test of races or of
# timers has ten tries to find it: the unbroken module has as many there as any mutant needed.  One
# in which a CPU starved proves nothing: the unbroken module has another one for it.
#
# shellcheck disable=SC2317 # functions are called by job()
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"

MUTANTS=$TOP/selftests/race/mutants
TRIES=10

# field NAME KEY [DEFAULT]: what a mutant's patch says
field() {
	local value
	value=$(sed -n "/^---/q; s/^$2: *//p" "$MUTANTS/$1.patch")
	echo "${value:-${3:-}}"
}

# where NAME: what two runs have in common that can be one
where() {
	local clock cpus
	clock=$(field "$1" Clock)
	case $clock:$(field "$1" Test) in
	counted:* | :session_race_test* | :race_test* | :timer_test*) clock=' --icount 3' ;;
	*) clock='' ;;
	esac
	cpus=$(field "$1" Cpus)
	echo "$(field "$1" Kernel 6.12)$clock${cpus:+ --cpus $cpus}|$(field "$1" Params)"
}

# command_of NAME: what is run, for a shell
command_of() {
	local program tests test
	read -r program tests <<<"$(field "$1" Test)"
	printf '/tests/%s' "$program"
	for test in $tests; do
		printf ' -t %s' "$test"
	done
	echo
}

# run MODULE WHERE COMMAND LOG TRY: in a VM; its status.  What a test of races
# or timers finds out once it finds out each time, because time is the count of instructions:
# only another word on the kernel's command line makes it another try.
# And the CPUs do not tick at the same instruction.  There a tick may take longer
# than until the next one, for a while: that is no lockup.  All others have real
# time, or one CPU may starve: ever when it has waited for the other, its tick is due.
run() {
	local kernel options rc=0
	read -r kernel options <<<"${2%%|*}"
	[[ $options != *--icount* ]] || options+=' --append profil_exact=1'
	# shellcheck disable=SC2086 # options and their values
	"$VM/run.sh" --kernel "$kernel" $options --append "skew_tick=1 nosoftlockup profil_try=$5" \
		--module "$(build_dir "$kernel")/$1.ko" --params "${2#*|}" \
		--tests "$tmp/tests" --timeout "$timeout" --log "$4.console" \
		-- sh -c "$3" >"$4" 2>&1 || rc=$?
	# nobody needs the log of a planted bug
	[ "$1" = profil_test ] || sed -n 's,.* is in \(.*\)/console.log$,\1,p' "$4" | xargs -r rm -r
	return "$rc"
}

# tries MUTANT: their numbers.  Where time is the count of instructions the emulator
# may let a CPU starve, because whenever it has its turn its tick is due (QEMU before
# 8.1): so it depends on each byte of the image whether there is a race, and in some
# tests it is one half of all images where there is.  In real time it is chance.
tries() {
	case $(field "$1" Test) in
	race_test* | session_race_test* | timer_test*) seq "$TRIES" ;;
	*) echo 1 ;;
	esac
}

# starved WHERE LOG: what the kernel says of a CPU that had no turn for a second, or that was
# idle when RCU had waited 21 s for it
starved() {
	[[ $1 == *--icount* ]] && sed '1,/profil: loading out-of-tree/d' "$2.console" |
		awk '/DL replenish lagged too much/ { lagged = 1 } /rcu_preempt.*detected stall/ { stalled = 1 }
			stalled && / Comm: swapper/ { lagged = 1 } END { exit !lagged }'
}

# Both print what they found out, as one line, and fail if it is not right.

# unbroken WHERE FIRST LAST LOG: all that is asked of the mutants there, in these tries
unbroken() {
	local mutant rc try good=0 tries=''
	for mutant in "${mutants[@]}"; do
		[ "$(where "$mutant")" != "$1" ] || echo "$(command_of "$mutant") || bad=1"
	done | sort -u >"$4.commands"
	for try in $(seq "$2" $((TRIES + $3))); do
		rc=0
		run profil_test "$1" "bad=0; $(cat "$4.commands"); exit \$bad" "$4" "$try" || rc=$?
		tries+=" $try"
		if [ "$rc" = 0 ]; then
			good=$((good + 1))
		else
			starved "$1" "$4" || return
		fi
		[ "$good" -le $(($3 - $2)) ] || break
	done
	[ "$good" -gt $(($3 - $2)) ] && echo "$(grep -c '^ok' "$4") tests, try$tries"
}

# verdict MUTANT LOG STATUS: what found it out
verdict() {
	local found=''
	case $3:$(field "$1" Kill test) in
	0:* | 127:*) ;; # 127: the VM was lost
	*:test) found=$(sed -n 's/^not ok [0-9]* //p' "$2") ;;
	126:splat) found=$(sed -n 's/.*has a splat: \(.*\); all of it.*/\1/p' "$2") ;;
	126:stay) found=$(grep -o 'rmmod [a-z]* failed' "$2") || true ;;
	esac
	[ "$found" ] && echo "${found%%$'\n'*}"
}

# broken MUTANT LOG
broken() {
	local rc found try place timeout=$timeout
	# the kernel may stand still after that, and nothing else is waited for
	[ "$(field "$1" Kill test)" != splat ] || timeout=120
	place=$(where "$1")
	MUTANT=$1 "$VM/module.sh" "$(field "$1" Kernel 6.12)" >"$2" 2>&1 || return
	for try in $(tries "$1"); do
		rc=0
		run "profil_mutant_$1" "$place" "$(command_of "$1")" "$2" "$try" || rc=$?
		if ! starved "$place" "$2" && found=$(verdict "$1" "$2" "$rc"); then
			echo "$try $place" >"$2.try"
			echo "$found, try $try"
			return
		fi
	done
	return 1
}

# job WHAT COMMAND…: beside others
declare -A jobs=()
job() {
	[ ${#jobs[@]} -lt "$at_once" ] || reap
	started=$((started + 1))
	"${@:2}" "$tmp/log.$started" >"$tmp/found.$started" &
	jobs[$!]="$started|$SECONDS|$1"
}

reap() {
	local pid rc=0 id since what
	wait_any || rc=$?
	IFS='|' read -r id since what <<<"${jobs[$pid]}"
	unset "jobs[$pid]"
	number=$((number + 1))
	if [ "$rc" = 0 ]; then
		echo "ok $number race: $what: $(cat "$tmp/found.$id") ($((SECONDS - since)) s)"
	else
		failed=$((failed + 1))
		echo "not ok $number race: $what ($((SECONDS - since)) s)"
		sed 's/^/# /' "$tmp/log.$id"
	fi
}

finish() {
	while [ ${#jobs[@]} -gt 0 ]; do
		reap
	done
}

prepare() {
	local mutant program
	mkdir "$tmp/tests"
	test_programs 6.12 >/dev/null
	for mutant in "${mutants[@]}"; do
		[ -r "$MUTANTS/$mutant.patch" ] || die "there is no mutant $mutant: see selftests/race/mutants"
		program=$(field "$mutant" Test)
		cp "$BUILD/selftests/${program%% *}" "$tmp/tests"
	done
	cp "$BUILD/selftests/profil_helper" "$tmp/tests" # for module_test.sh
	for mutant in "${mutants[@]}"; do
		field "$mutant" Kernel 6.12
	done | sort -u | TEST=1 xargs "$VM/module.sh"
}

main() {
	local mutants=() part=1/1 times=1 at_once=2 started=0 number=0 failed=0 timeout=600 mutant place try
	while [ $# -gt 0 ]; do
		case $1 in
		--times) times=$2 && shift ;;
		--part) part=$2 && shift ;;
		--at-once) at_once=$2 && shift ;;
		-*) die "unknown option $1: see the top of $0" ;;
		*) mutants+=("$1") ;;
		esac
		shift
	done
	[ ${#mutants[@]} -gt 0 ] ||
		mapfile -t mutants < <(cd "$MUTANTS" && printf '%s\n' *.patch | sed 's/\.patch$//' |
			awk -v part="$part" 'BEGIN { split(part, p, "/") } NR % p[2] == p[1] % p[2]')
	tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
	prepare
	while IFS= read -r place; do
		job "unbroken on ${place/|/ }" unbroken "$place" 1 1
	done < <(for mutant in "${mutants[@]}"; do where "$mutant"; done | sort -u)
	for _ in $(seq "$times"); do
		for mutant in "${mutants[@]}"; do
			job "$mutant, found out by a $(field "$mutant" Kill test)" broken "$mutant"
		done
	done
	finish
	while read -r try place; do
		job "unbroken on ${place/|/ }, as often" unbroken "$place" 2 "$try"
	done < <(cat "$tmp"/*.try 2>/dev/null | sort -rn | awk '$1 > 1 { n = $1; $1 = ""; if (!seen[$0]++) print n $0 }')
	finish
	echo "race: $((number - failed)) passed, $failed failed, 0 skipped"
	[ "$failed" = 0 ]
	exit
}

main "$@"
