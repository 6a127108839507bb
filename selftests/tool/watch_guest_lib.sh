# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# For tests of profil watch: services in control groups, profil watch in one of them, and
# what its files say.

hex=4d2fe8c1b0a79665544332211000ffeeddccbbaa99887766554433221100abcd
services=(burner kernel requests threads script)
groups=("${services[@]/%/.service}" "docker-$hex.scope")
# Files of the host's would have to be waited for, for as long as the host takes.
cp "$(command -v burn-static)" burner
cp "$(command -v busybox)" busybox
ln -s busybox true
# shellcheck source-path=SCRIPTDIR source=guest_machine.sh disable=SC2154 # guest_lib.sh has it
. "$here/guest_machine.sh"

# in_group NAME COMMAND...: becomes it, in a control group of its own
in_group() {
	mkdir -p "$cgroup/system.slice/$1"
	# shellcheck disable=SC2016 # for sh
	exec sh -c 'echo $$ >"$1/cgroup.procs"; shift; exec "$@"' sh "$cgroup/system.slice/$1" "${@:2}"
}

# used NAME: microseconds that the kernel charged the group
used() {
	awk '$1 == "usage_usec" { print $2 }' "$cgroup/system.slice/$1/cpu.stat"
}

# charged_each NAME...: the same, of each of them
charged_each() {
	local group
	for group; do used "$group"; done
}

# line NUMBER FILE
line() {
	sed -n "$1p" "$2"
}

# frozen 0|1 NAME...: whether these groups may run
frozen() {
	local name
	for name in "${@:2}"; do
		echo "$1" >"$cgroup/system.slice/$name/cgroup.freeze"
	done
	for name in "${@:2}"; do
		until grep -q "frozen $1" "$cgroup/system.slice/$name/cgroup.events"; do sleep 0.05; done
	done
}

# by_itself NAME SECONDS: it has the CPU for that long, but for what the profiler and the kernel take; what
# threads of the kernel had goes to unseen.NAME
by_itself() {
	local before
	before=$(of_kernel_threads)
	frozen 0 "$1"
	sleep "$2"
	frozen 1 "$1"
	echo $(($(of_kernel_threads) - before)) >"unseen.$1"
}

# ended NAME: all that ran in the group
ended() {
	[ ! -e "$cgroup/system.slice/$1" ] || echo 1 >"$cgroup/system.slice/$1/cgroup.kill"
	until grep -q 'populated 0' "$cgroup/system.slice/$1/cgroup.events"; do sleep 0.05; done
}

# counting PID: it has a session
counting() {
	until find "/proc/$1/fd" -lname 'anon_inode:*profil*' 2>/dev/null | grep -q .; do
		[ -e "/proc/$1" ] || { cat err*; return 1; }
		sleep 0.05
	done
}

# start FOLDER OPTION...: profil watch, as process $pid; the folder has the names that are known
start() {
	[ -e "$1" ] || mkdir -m 700 "$1"
	[ ! -e names ] || [ -e "$1/.names" ] || cp -a names "$1/.names"
	in_group watch.service profil watch -o "$@" 2>>err.watch &
	pid=$!
	counting "$pid"
}

stop() {
	kill -TERM "$pid"
	wait "$pid"
	cat err.watch
}

# profiles FOLDER: how many there are
profiles() {
	find "$1" -maxdepth 1 -name '*.pb.gz' | wc -l
}

# until_profiles FOLDER NUMBER: there are so many
until_profiles() {
	for _ in $(seq 1800); do
		[ "$(profiles "$1")" -lt "$2" ] || return 0
		sleep 0.1
	done
	return 1
}

# named NAME: what reports call its unit
named() {
	echo "${1/$hex/${hex:0:12}}"
}

# units_of FILE...: the samples of each unit, its name, time of user and system
units_of() {
	profil report --tsv --by unit "$@" >tsv
	awk -F '\t' '$1 == "unit" { print $2 "\t" $8 "\t" $4 "\t" $5 }' tsv
}

# ticks_of NAME FILE: of what units_of has written
ticks_of() {
	awk -F '\t' -v name="$(named "$1")" '$2 == name { sum += $1 } END { print sum + 0 }' "$2"
}

# of_kernel_threads: nanoseconds that they ran
of_kernel_threads() {
	# shellcheck disable=SC2046,SC2002 # an argument for each; some are gone
	cat $(sed -E 's,[0-9]+,/proc/&/schedstat,g' /proc/2/task/2/children) 2>/dev/null | awk '{ sum += $1 } END { printf "%.0f\n", sum }'
}

# agree WHAT TICKS US INTERVALS [UNSEEN [SHARED]]: ticks are what the kernel charged, within 1 % and a
# tick for each interval.  For UNSEEN nanoseconds threads of the kernel ran that a tick wakes (RCU,
# softirqs): they are gone again when the next one comes.  Of SHARED ticks, at which the profiler wanted
# the CPU as well, chance decides whose they are: three times their standard deviation.
agree() {
	awk -v what="$1" -v ticks="$2" -v us="$3" -v intervals="$4" -v unseen="${5:-0}" -v shared="${6:-0}" \
		-v period="$(count period_ns)" 'BEGIN {
		charged = us * 1000 / period
		off = charged / 100 + intervals + 3 * sqrt(shared)
		printf "%s: %d ticks, %.1f charged: %+.2f %%; %.1f may be between them", what, ticks, charged,
			100 * (ticks - charged) / charged, off
		if (unseen)
			printf ", and threads of the kernel had %.1f", unseen / period
		printf "\n"
		d = ticks - charged
		exit !(-d <= off && d <= off + unseen / period)
	}' | tee -a figures
	return "${PIPESTATUS[0]}"
}

# ticks FILE...
ticks() {
	profil report --tsv "$@" | awk -F '\t' '$1 == "count" && $2 == "ticks" { print $3 }'
}

# Of a user's code, the kernel's, a program for each request, threads, a script, and one in a container;
# and one that does nothing but start programs.
load() {
	local group
	# 20 million instructions of busybox, which are 20 ms of a CPU that does one in a nanosecond
	head -c 288000 /dev/zero >request
	in_group burner.service ./burner 100000 here &
	in_group kernel.service ./burner 100000 zero &
	# shellcheck disable=SC2016 # for sh
	in_group requests.service ./busybox sh -c 'while :; do ./busybox sha256sum request >/dev/null; done' &
	# shellcheck disable=SC2016
	in_group forks.service ./busybox sh -c 'while :; do ./true; ./busybox seq 500 >/dev/null; done' &
	in_group threads.service ./burner 100000 threads &
	in_group script.service python3 -S -E -c '
open("ready", "w")
while True:
    sum(i * i for i in range(10000))' &
	in_group "docker-$hex.scope" ./burner 100000 phases &
	until [ -e ready ]; do sleep 0.05; done
	for group in "${groups[@]}" forks.service; do
		until [ -e "$cgroup/system.slice/$group/cgroup.freeze" ]; do sleep 0.05; done
	done
}
