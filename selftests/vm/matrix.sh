#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The module on other kernels, and on one kernel booted in other ways: is it
# built, does it pass?
#
#   matrix.sh [--quick | --all] [KERNEL…]
#
#   --quick	few programs: 8 minutes on two CPUs
#   (neither)	the programs of core.list, 6.12 on 1 and 4 CPUs, too
#   --all	on each kernel all programs, all three ways to count, and on 1 and 4
#		CPUs
#   KERNEL…	only these: mainline 6.1 6.1-rt 6.12 6.12-rt trixie arm64 7.2 5.10
#
# Two VMs at a time, or AT_ONCE; a line as each ends, a table at the end, and one line for
# all.  mainline is built before, for minutes, if it is not there.  7.2 moves and 5.10
# is old: unless they are named, they are reported and fail nothing.  What each run
# printed is in build/log/matrix.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

LOG=$BUILD/log/matrix
# the first takes the longest
GATING='mainline 6.1 6.1-rt 6.12 6.12-rt trixie arm64'
REPORTED='7.2 5.10'
# all of the module's ways into the kernel, in 25 s of CPU time
QUICK='uapi_test region_test memory_test lifecycle_test flag_test'
# what time and preemption matter to
QUICK_MODES='region_test count_test'

form=default kernels='' rows=0 start=$SECONDS

# entry KERNEL NAME BOOTED ARGUMENT…: a run of suite.sh, when there is room.  BOOTED:
# what suite-guest says of the machine has to match it.
entry()
{
	rows=$((rows + 1))
	[ "$(jobs -rp | wc -l)" -lt "${AT_ONCE:-2}" ] || wait -n || true
	judge "$(printf '%s/%02d' "$LOG" $rows)" "$@" &
}

# counts LOG: passed, failed, skipped, as suite.sh said last
counts()
{
	tail -n 1 "$1" | sed -n 's/^suite .*: \([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p'
}

# probed KERNEL: the build found what the kernel exports, and only that
probed()
{
	local found=''

	! nm -u "$(build_dir "$1")/profil.ko" | grep -w task_work_add >/dev/null || found=1
	case $1 in
	mainline) [ ! "$found" ] ;;
	*) [ "$found" ] ;;
	esac
}

judge()
{
	local row=$1 kernel=$2 name=$3 booted=$4 log=$1.log passed failed skipped splats version gate=yes began=$SECONDS why=''
	shift 4

	"$VM/suite.sh" "$kernel" "$@" >"$log" 2>&1 </dev/null || true
	read -r passed failed skipped < <(counts "$log") || {
		passed=0 failed=1 skipped=0 why=$(tail -n 1 "$log")
	}
	version=$(sed -n 's/^# uname: //p' "$log")
	if [ "$version" ] && ! grep -qE "^# (boot|uname): .*$booted" "$log"; then
		failed=$((failed + 1)) why="it booted otherwise: $(grep '^# boot: ' "$log")"
	elif [ "$version" ] && ! probed "$kernel"; then
		failed=$((failed + 1)) why='the probe for task_work_add is wrong'
	fi
	splats=$(grep -c 'the kernel log has a splat' "$log") || true
	[[ " $REPORTED " != *" $kernel "* ]] || gate=no
	case $version in
	*Debian\ *) version=${version#*Debian } version=${version%% *} ;;
	*) version=${version%% *} ;;
	esac
	echo "$gate|$kernel|${version:--}|$name|$passed|$failed|$skipped|$splats" >"$row"
	printf '[%2d:%02d] %s %s: %d passed, %d failed, %d skipped (%d s)%s\n' \
		$(((SECONDS - start) / 60)) $(((SECONDS - start) % 60)) "$kernel" "$name" \
		"$passed" "$failed" "$skipped" $((SECONDS - began)) "${why:+: $why}"
	[ "$failed" = 0 ] || grep -E '^(# failed: |not ok |[a-z-]*\.sh: )|:Expected ' "$log" | head -n 20 | sed 's/^/	/'
}

one_and_four()
{
	local cpus

	for cpus in 1 4; do
		entry "$1" "core, $cpus CPUs" "cpus=$cpus" --core --cpus $cpus
	done
}

kernel()
{
	local kernel=$1 booted='cpus=2' params programs=()

	[[ $kernel != *-rt ]] || booted='PREEMPT_RT'
	read -ra programs <<<"$QUICK"
	case $form in
	quick) entry "$kernel" '2 CPUs' "$booted" "${programs[@]}" ;;
	default) entry "$kernel" 'core, 2 CPUs' "$booted" --core ;;
	all)
		for params in deliver=tick deliver=deferred 'deliver=deferred task_work=0'; do
			entry "$kernel" "all, $params" "$booted" --params "$params"
		done
		one_and_four "$kernel"
		;;
	esac
	case $kernel in
	arm64 | mainline) ;;
	*) entry "$kernel" 'i386' 'cpus=2' --i386 uapi_test ;;
	esac
}

# mode NAME BOOTED ARGUMENT…
mode()
{
	local programs=(--core)

	[ "$form" != quick ] || read -ra programs <<<"$QUICK_MODES"
	entry 6.12 "$1" "$2" "${@:3}" "${programs[@]}"
}

modes()
{
	local how

	for how in none voluntary full; do
		mode "preempt=$how" " preempt=$how " --append "preempt=$how"
	done
	mode 'nohz_full=1' ' nohz_full=1 ' --append nohz_full=1 --params nohz_full=tick
	mode 'threadirqs' ' irq_threads=[1-9]' --append threadirqs
	mode 'highres=off' ' highres=0 ' --append highres=off
	case $form in
	quick)
		# count_test wants two
		entry 6.12 '1 CPU' 'cpus=1 ' --cpus 1 region_test flag_test
		mode '4 CPUs' 'cpus=4 ' --cpus 4
		;;
	default) one_and_four 6.12 ;;
	esac
}

table()
{
	sort "$LOG"/[0-9][0-9] -s -t '|' -k 1,1r | awk -F '|' -v rows="$rows" '
		BEGIN { format = "%-9s %-24s %-34s %6s %6s %7s %6s\n"
			printf format, "kernel", "version", "run", "passed", "failed", "skipped", "splats" }
		$1 == "no" && !reported++ { print "reported only:" }
		{ printf format, $2, $3, $4, $5, $6, $7, $8 }
		$1 == "yes" { passed += $5; failed += $6; skipped += $7 }
		END { if (NR != rows) {
				failed++
				print "of", rows, "runs", NR, "have a result"
			}
			printf "matrix: %d passed, %d failed, %d skipped\n", passed, failed, skipped
			exit failed || !passed }'
}

main()
{
	local one known="$GATING $REPORTED"

	while [ $# -gt 0 ]; do
		case $1 in
		--quick | --all) form=${1#--} ;;
		-*) die "unknown option $1: see the top of $0" ;;
		*) kernels+=" $1" REPORTED='' ;;
		esac
		shift
	done
	kernels=${kernels:-$GATING $REPORTED}
	trap 'kill $(jobs -p) 2>/dev/null || :' EXIT
	rm -rf "$LOG"
	mkdir -p "$LOG"
	for one in $kernels; do
		[[ " $known " == *" $one "* ]] ||
			die "$one is not in the matrix: see the top of $0"
	done
	for one in $kernels; do
		kernel "$one"
		[ "$one" != 6.12 ] || modes
	done
	wait
	table
	exit
}

main "$@"
