#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What profil watch takes of a machine, by its own rows and by what it is charged, where the CPU
# does an instruction in a nanosecond: any that it is used on is faster.
#
# The services are those of watch_guest.sh.  They are at work for a tenth of the time, for otherwise the
# emulator would be at work for an hour.  What profil watch has to do depends on how many places were
# seen, not on how often: one more service is seen at a new place each time.
set -eu
# shellcheck source-path=SCRIPTDIR source=guest_lib.sh
. "$(dirname "$0")/guest_lib.sh"
# shellcheck source-path=SCRIPTDIR source=watch_guest_lib.sh
. "$here/watch_guest_lib.sh"
cp "$(command -v spread)" spread

# a_minute: of services at work, now and then
a_minute() {
	for _ in 1 2 3 4 5 6; do
		frozen 0 "${groups[@]}"
		sleep 0.8
		frozen 1 "${groups[@]}"
		(in_group spread.service ./spread 400)
		sleep 6
	done
}

# All names are known before: a machine has its first profile once.
known() {
	load
	start first --every 1h
	sleep 2
	frozen 1 "${groups[@]}" forks.service
	(in_group spread.service ./spread 400)
	stop
	cp -a first/.names names
}

# Two intervals of a minute, each of which has the profile of the one before to write.  What is in the
# last one's own does not matter.
watched() {
	local minute
	start spool --every 60s
	for minute in 1 2 3; do
		used watch.service >"used.$minute"
		[ $minute = 3 ] || a_minute
		until_profiles spool $minute
	done
	used watch.service >used.4
	stop
	none grep . err.watch
	find spool -maxdepth 1 -name '*.pb.gz' | sort >files
	for minute in 1 2 3; do
		cp "$(line $minute files)" $minute.pb.gz
	done
}

# rows KIND FILE: how many there are of address, object or unit
rows() {
	profil report --tsv --by "$1" "$2" | grep -c "^$1"
}

# Places, objects and units of a minute of services that are always at work.
as_much() {
	local file places objects units
	for file in 1 2; do
		places=$(rows address $file.pb.gz)
		objects=$(rows object $file.pb.gz)
		units=$(rows unit $file.pb.gz)
		echo "a minute: $places places, $objects objects, $units units" | tee -a figures
		[ "$places" -ge 1500 ]
		[ "$objects" -ge 6 ]
		[ "$units" -ge 8 ]
	done
}

# The rows are of some twenty ticks, which vary by a fifth: what was charged decides, and the rows are
# that within four deviations.
share() {
	local ticks
	units_of 2.pb.gz 3.pb.gz >units
	ticks=$(ticks_of watch.service units)
	awk -v ticks="$ticks" -v period="$(count period_ns)" -v all="$(count cpus_ns)" \
		-v us=$(($(cat used.4) - $(cat used.2))) 'BEGIN {
		printf "profil watch, by its own rows: %d ticks, %.0f ms of %.0f s: %.3f %%; it was charged %.1f ms, %.3f %%\n",
			ticks, ticks * period / 1e6, all / 1e9, 100 * ticks * period / all, us / 1e3, 1e5 * us / all
		charged = us * 1e3 / period
		exit !(all > 118e9 && us * 1e6 <= all && ticks > 0 && (ticks - charged) ^ 2 <= 16 * charged)
	}' | tee -a figures
	return "${PIPESTATUS[0]}"
}

check 'vm: watch: names' known
check 'vm: watch: two minutes' watched
check 'vm: watch: as much to look at as in others' as_much
check 'vm: watch: at most 0.1 % of the machine' share
sed 's/^/# /' figures
plan
