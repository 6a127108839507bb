#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The statistics of profil diff: what it calls changed is that, and what has changed it
# finds.  All is drawn from a fixed seed: the figures are the same each time.
set -eu
. "$(dirname "$0")/lib.sh"

# drawn SCENARIO TIMES [RATIO]: sets any, found and others.  Thousands are drawn without what
# looks for errors, which takes most of the time; some of them with that say the same.
drawn() {
	calibrate "$1" 20 "${@:3}" >few
	"$O/plain/calibrate" "$1" 20 "${@:3}" | diff few -
	"$O/plain/calibrate" "$@" | tee line
	read -r _ any found others <line
}

cd "$tmp"

# Of 1000 comparisons of what is equal, 60 at most say that something has changed: 50 are
# what is wanted, and 60 what chance makes of 50.
equal() {
	local scenario
	for scenario in "$@"; do
		drawn "$scenario" 1000
		[ "$any" -le 60 ]
	done
}

# A function of 300 samples in each of 5 runs, that takes 30 % more or less, among 20.
planted() {
	local scenario
	for scenario in slower faster slower-rates slower-varies slower-share among-many; do
		drawn $scenario 1000
		[ "$found" -ge 950 ]
		[ $scenario = slower-share ] || [ "$others" -le 60 ]
	done
	drawn new 1000
	[ "$found" -ge 950 ]
	[ "$others" -le 60 ]
}

# What is said to be the smallest change that would be seen is found 4 times of 5.
least() {
	local scenario
	for scenario in slower slower-once; do
		drawn $scenario 1000 "$(calibrate least $scenario)"
		[ "$found" -ge 700 ]
		[ "$found" -le 900 ]
	done
}

check 'compare: tails of distributions are exact' python3 "$here/tails.py" "$O/calibrate"
check 'compare: one run of what is equal' equal once few-functions few-samples rates
check 'compare: several runs of what is equal' equal five own common bursts
check 'compare: few runs of what is equal' equal twice uneven
check 'compare: shares of what is equal' equal shares shares-runs one-share
check 'compare: 30 % are found' planted
check 'compare: the least that is found' least
plan
