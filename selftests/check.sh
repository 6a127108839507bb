#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs lanes of the table "lanes": one line for each, and one for all of them.
#
#   selftests/check.sh SET|LANE…	quick, check, ci or long, or lanes by name
#   selftests/check.sh --bare LANE	in a tree that holds only the paths that the lane
#					declares, with all that it prints
#   selftests/check.sh --list		the lanes, with their sets and reasons
#   selftests/check.sh --results	which lanes passed, when, on which content
#   selftests/check.sh --record		write into selftests/results what passed on this content
#
# A lane that has passed is not run again while nothing it depends on has changed
# (memory.sh); FRESH=1 runs it all the same, and RECORDED=1 leaves out what selftests/results
# says, too.  So a run that was stopped goes on where it was.  A lane is a command whose
# output ends with "N passed, N failed, N skipped".  One that does not say so, or exits with
# an error, has failed, whatever it printed before.  All of its output is kept in build/log/.
#
# shellcheck disable=SC2317 # stop() is called by a trap
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/vm/lib.sh"
. "$TOP/selftests/memory.sh"

cd "$TOP" || exit 1
LOG=build/log
AT_ONCE=${AT_ONCE:-$(nproc)}	# lanes: each keeps one processor busy
ROOM=1000			# MB that have to be free where a run begins

names=()		# of all lanes, in the order of the table
# of each lane, what the table says
declare -A sets=() run=() kernels=() paths=() needs=() alone=() always=() why=()

passed=0 failed=0 skipped=0 known=0 known_lanes=0 start=$SECONDS full=''
waiting=()		# lanes that have not begun
declare -A keys=()	# what each depends on, where that is known yet
declare -A running=()	# process id: when it began, the lane's key, the lane
times=()		# seconds and lane, of those that have ended

elapsed()
{
	printf '[%2d:%02d] ' $(((SECONDS - start) / 60)) $(((SECONDS - start) % 60))
}

# expand WORD…: onto $expanded; a word @NAME is what the table says of that name.  No process
# is begun for that: the table has thousands of words, and is read by each command.
expand()
{
	local word

	for word; do
		if [[ $word != @* ]]; then
			expanded+="$word "
		else
			[ "${group[${word#@}]:-}" ] || die "selftests/lanes: nothing is called $word"
			# shellcheck disable=SC2086 # words
			expand ${group[${word#@}]}
		fi
	done
}

# read_lanes FILE
read_lanes()
{
	local word rest lane='' expanded of=()
	declare -A group=() copies=()

	set -f
	while read -r word rest; do
		case $word in
		'' | '#'*) ;;
		@*) group[${word#@}]=$rest ;;
		lane)
			lane=$rest
			of+=("$lane")
			;;
		copies | sets | run | kernels | paths | needs | alone | always | why)
			local -n field=$word
			expanded=''
			# shellcheck disable=SC2086 # words
			[ "$word" = why ] || { expand $rest; rest=${expanded% }; }
			# shellcheck disable=SC2004 # the name of a lane is no number
			field[$lane]=$rest
			;;
		*) die "selftests/lanes: what is \"$word\"?" ;;
		esac
	done <"$1"
	for lane in "${of[@]}"; do
		number_lanes "$lane" "${copies[$lane]:-}"
	done
	set +f
}

# number_lanes LANE [COPIES]: into $names, with all fields that the table leaves out
number_lanes()
{
	local i name word expanded=''

	[ "${paths[$1]:-}" ] || expand @suite
	for ((i = 1; i <= ${2:-1}; i++)); do
		name=${1//\#/$i}
		names+=("$name")
		for word in sets run kernels paths needs alone always why; do
			# shellcheck disable=SC2178 # a reference
			local -n field=$word
			# shellcheck disable=SC2004
			field[$name]=${field[$1]:-}
		done
		run[$name]=${run[$1]//\#/$i}
		paths[$name]=${paths[$1]:-${expanded% }}
		needs[$name]=${needs[$1]:-build test vm}
	done
}

# failures LOG: what is not ok in it, with what explains it: the harness of
# kselftest says that before, the others after
failures()
{
	awk '/:Expected / { print }
		/(^|# |\t)not ok / { show = found = 1 }
		/^[^#\t]|(^|# )ok |# (PASSED|FAILED|Totals|timeout|selftests:)|#  RUN / && !/not ok/ { show = 0 }
		show
		END { exit !found }' "$1"
}

# result LANE KEY STATUS SECONDS: count what the log of that lane says
result()
{
	local log=$LOG/$1.log counts ok bad skip

	counts=$(grep -aoE '[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped' "$log" | tail -n 1)
	read -r ok bad skip < <(tr -cd '0-9 \n' <<<"$counts")
	ok=${ok:-0} bad=${bad:-0} skip=${skip:-0}
	if [ "$bad" = 0 ] && { [ "$3" != 0 ] || [ -z "$counts" ]; }; then
		bad=1
	fi
	passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
	times+=("$4 $1")
	elapsed
	if [ "$bad" = 0 ]; then
		echo "$1: $ok passed, $skip skipped ($4 s)"
		# nobody has touched what it depends on meanwhile
		if [ "$2" ] && [ "$ok" -gt 0 ] && source_files >"$tmp/files.now" && [ -s "$tmp/files.now" ] &&
			{ cmp -s "$tmp/files" "$tmp/files.now" || [ "$2" = "$(key "$1" "$tmp/files.now")" ]; }; then
			remember "$1" "$2" "$ok" "$skip" "$4"
		fi
	else
		echo "$1: FAILED: $ok passed, $bad failed, $skip skipped, exit status $3 ($4 s), all output in $log:"
		{ failures "$log" | head -n 60; tail -n 5 "$log"; } | sed 's/^/	/'
		# tests say that of other limits, too
		if grep -q 'No space left on device' "$log" &&
			! (room build "$ROOM" && room "$CACHE" "$ROOM") 2>/dev/null; then
			full=1
		fi
	fi
}

# Wait for one lane to end.
reap()
{
	local pid status=0 began key lane

	wait_any || status=$?
	read -r began key lane <<<"${running[$pid]}"
	unset "running[$pid]"
	[ "$key" != - ] || key=''
	result "$lane" "$key" "$status" $((SECONDS - began))
}

# begin LANE: in a process group of its own, so that all of it can be ended
begin()
{
	local key=${keys[$1]:-}

	# what its kernel is may not have been known before
	[ "$key" ] || key=$(key "$1" "$tmp/files")
	elapsed
	echo "$1: started"
	setsid bash -c "${run[$1]}" >"$LOG/$1.log" 2>&1 </dev/null {lock}>&- &
	running[$!]="$SECONDS ${key:--} $1"
}

# here LANE: the kernels that it needs are in the cache
here()
{
	local kernel

	for kernel in ${kernels[$1]}; do
		selftests/vm/kernels.sh here "$kernel" || return
	done
}

# All that wait, in the order of the table; but what needs a kernel that somebody is
# still building waits for it as long as there is something else to do.
run_all()
{
	local lane next i

	while [ ${#waiting[@]} -gt 0 ] && [ ! "$full" ]; do
		next=''
		for i in "${!waiting[@]}"; do
			if here "${waiting[$i]}"; then
				next=$i
				break
			fi
		done
		lane=${waiting[${next:-0}]}
		if [ ${#running[@]} -ge "$AT_ONCE" ] ||
			{ [ ${#running[@]} -gt 0 ] && { [ ! "$next" ] || [ "${alone[$lane]}" ]; }; }; then
			reap
			continue
		fi
		if [ ! "$next" ]; then
			next=0
			# shellcheck disable=SC2086 # tags
			step selftests/vm/kernels.sh fetch ${kernels[$lane]}
		fi
		unset "waiting[$next]"
		waiting=("${waiting[@]}")
		begin "$lane"
		[ ! "${alone[$lane]}" ] || reap
	done
	while [ ${#running[@]} -gt 0 ]; do
		reap
	done
}

# step COMMAND...: what the lanes stand on; without it there is nothing to test
step()
{
	"$@" || die "$* failed, so nothing more was tested"
}

# chosen SET|LANE…: their lanes, each once, in the order of the table
chosen()
{
	local word lane all=' quick check ci long '

	for word; do
		[[ $all == *" $word "* || ${run[$word]:-} ]] ||
			die "there is no set or lane $word: the sets are$all; the lanes are ${names[*]}"
	done
	for lane in "${names[@]}"; do
		for word; do
			if [ "$word" = "$lane" ] || [[ " ${sets[$lane]} " == *" $word "* ]]; then
				echo "$lane"
				break
			fi
		done
	done
}

# only_one COMMAND…: two runs in one tree would mix their results
only_one()
{
	exec {lock}<>build/lock
	flock -n "$lock" || die "$(cat build/lock) is running in this tree: wait until it ends, or end it"
	echo "check.sh $* (process $$)" >build/lock
}

# stop STATUS [WHY]: nothing of it goes on
stop()
{
	trap - EXIT
	local pid

	for pid in "${!running[@]}"; do
		kill -TERM -- "-$pid" 2>/dev/null
	done
	wait
	rm -rf "$tmp"
	[ ! "${2:-}" ] || say "$2: what has passed is remembered, and the same command goes on there"
	exit "$1"
}

# Those that have passed on this very content are named, and not run.
plan()
{
	local lane seen ok skip when

	source_files >"$tmp/files"
	tools >"$tmp/tools"
	for lane; do
		keys[$lane]=$(key "$lane" "$tmp/files")
		if [ ! "${FRESH:-}${always[$lane]}" ] && seen=$(recall "$lane" "${keys[$lane]}" ||
			{ [ "${RECORDED:-}" ] && recorded "$lane" "${keys[$lane]}"; }); then
			read -r ok skip _ when <<<"$seen"
			known=$((known + ok)) known_lanes=$((known_lanes + 1))
			elapsed
			echo "$lane: unchanged since it passed on ${when% *} ($ok tests)"
		else
			waiting+=("$lane")
		fi
	done
}

prepare()
{
	local lane kernel groups=build stock=''

	for lane in "${waiting[@]}"; do
		groups+=" ${needs[$lane]}"
		for kernel in ${kernels[$lane]}; do
			own_kernel "$kernel" || stock+=" $kernel"
		done
	done
	# shellcheck disable=SC2086 # words
	step selftests/setup.sh $groups
	if [ "$stock" ]; then
		# shellcheck disable=SC2086
		step selftests/vm/kernels.sh fetch $stock
		step selftests/vm/kernels.sh source >/dev/null
	fi
}

summary()
{
	if [ ${#times[@]} -gt 1 ]; then
		echo "where the time went: $(printf '%s\n' "${times[@]}" | sort -rn | head -n 10 |
			awk '{ printf "%s%s %d s", (NR > 1 ? ", " : ""), $2, $1 }')"
	fi
	[ ! "$full" ] || say 'the disk is full: make room, and the same command goes on where it stopped'
	[ "$known" = 0 ] || echo "$known tests of $known_lanes lanes were not run: they are remembered"
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" = 0 ] && [ $((passed + known)) -gt 0 ]
}

# bare LANE: what it reads and does not declare is not there
bare()
{
	local tree=$tmp/tree status=0

	[ "${run[$1]:-}" ] || die "there is no lane ${1:-}: the lanes are ${names[*]}"
	source_files >"$tmp/files"
	[ -s "$tmp/files" ] || die 'this source is no git checkout, which would say what belongs to it'
	mkdir "$tree"
	# shellcheck disable=SC2086 # paths
	files_below "$tmp/files" ${paths[$1]} | cut -d ' ' -f 3- | tr '\n' '\0' |
		xargs -0 cp --parents -t "$tree"
	(cd "$tree" && exec bash -c "${run[$1]}") || status=$?
	rm -rf "$tmp"
	exit "$status"
}

# table: for lint/lanes.sh, one line a lane, and its fields between tabs
table()
{
	local lane

	for lane in "${names[@]}"; do
		printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$lane" "${sets[$lane]}" "${kernels[$lane]}" "${paths[$lane]}" \
			"${run[$lane]}" "${why[$lane]}"
	done
}

list()
{
	local lane

	for lane in "${names[@]}"; do
		printf '%-22s %-8s %s\n' "$lane" "${sets[$lane]}" "${why[$lane]}"
	done
}

# All of it is read before any of it runs: a source that is edited meanwhile
# must not change what runs.
main()
{
	local lanes

	read_lanes selftests/lanes
	tmp=$(mktemp -d) || exit
	trap 'rm -rf "$tmp"' EXIT
	case ${1:-} in
	--bare) bare "${2:-}" ;;
	--list) list ;;
	--results) results ;;
	--record) record ;;
	--table) table ;;
	'' | -*) die 'which set or lane? see the top of selftests/check.sh' ;;
	*)
		lanes=$(chosen "$@") || exit
		mkdir -p "$LOG" "$CACHE" || exit
		only_one "$@"
		trap 'stop 130 interrupted' INT
		trap 'stop 143 interrupted' TERM HUP
		trap 'stop $?' EXIT
		room build "$ROOM"
		room "$CACHE" "$ROOM"
		# shellcheck disable=SC2086 # words
		plan $lanes
		[ ${#waiting[@]} = 0 ] || prepare
		run_all
		summary
		;;
	esac
	exit
}

main "$@"
