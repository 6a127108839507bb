#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What is rare: machines on which nothing but the kernel ran, intervals that are no whole milliseconds,
# control groups that ls does not show, parts of profiles, and disks that are full.
set -eu
. "$(dirname "$0")/lib.sh"
. "$here/system_lib.sh"

cd "$tmp"

# All samples are of kernel threads, which have no place.
kernel_alone() {
	printf '%s\n' 'row 0 0 0 0 -' 'row 999999999 2 0 50 kworker' 'kthreads 50' >table
	says 0 profil run -a -q -o idle.pb.gz -- true
	says 0 profil report --by unit idle.pb.gz
	grep -E '100\.0 % +[0-9.]+ +100\.0 % +- +0\.20 s  \[ended group 999999999\]' out
	none grep -F objects out
	grep -F 'ticks    50 of 4 ms' out
}

# Files have whole milliseconds: what top writes has its slices of time.
third_of_a_second() {
	local seconds
	table >"$tmp/table"
	for seconds in 0.3333 0.0004; do
		says 0 profil top -s $seconds -n 2 -o top.pb.gz -- true
		says 0 profil report --by time top.pb.gz
		grep -F hot out
		says 0 profil report top.pb.gz
		none grep -F 'slice_ns' out
	done
}

# Who may make groups may call them .hidden.
hidden_group() {
	groups user.slice/.hidden/job.service
	printf '%s\n' "object 10 $planted" 'row 0 0 0 0 -' \
		"row $(group user.slice/.hidden/job.service) 4242 40 0 planted" "slot 10 $(at "$planted" hot) 1 40 0" >table
	says 0 planted_groups profil run -a -q -o hidden.pb.gz -- true
	says 0 profil report --by unit hidden.pb.gz
	grep -F job.service out
	none grep -F 'ended group' out
}

# What others run is nobody else's business, in no format, and in no part of the time.
for_its_user() {
	local file
	machine >table
	says 0 planted_groups profil run -a -q -o machine.pb.gz -- true
	[ "$(stat -c %a machine.pb.gz)" = 600 ]
	for file in all.pb.gz all.json all.html; do
		says 0 profil export -o $file machine.pb.gz
		[ "$(stat -c %a $file)" = 600 ]
	done
	says 0 profil export --to 1 -o part.pb.gz machine.pb.gz
	[ "$(stat -c %a part.pb.gz)" = 600 ]
	# a program's is as other files are
	table >"$tmp/table"
	says 0 profil run -q -o program.pb.gz -- true
	says 0 profil export -o program.json program.pb.gz
	[ "$(umask)" != 0022 ] || [ "$(stat -c %a program.json)" = 644 ]
}

full_disk() {
	if profil check >/dev/full 2>err; then false; else [ $? = 1 ]; fi
	grep -F 'the list could not be written to standard output: No space left on device' err
	if profil check --json >/dev/full 2>err; then false; else [ $? = 1 ]; fi
	grep -F 'the list could not be written to standard output: No space left on device' err
}

# Where intervals are an hour long, there may be no profile for an hour.
late() {
	local when
	mkdir watched
	printf 'duration\t3600000\n' | compose watched/20261128T020000.000Z.pb.gz
	for when in '1 hour ago' '2 hours ago'; do
		touch -d "$when" watched/*
		planted_system 'mount -t tmpfs none /var/lib; cp -pr watched /var/lib/profil-watch' profil check >"$when" || :
		grep ^watch "$when"
	done
	grep -E '^watch .* ok$' '1 hour ago'
	grep -E '^watch .* note$' '2 hours ago'
}

check 'edges: a machine on which the kernel alone ran' kernel_alone
check 'edges: intervals of a third of a second, and of less than a millisecond' third_of_a_second
check 'edges: a control group whose name begins with a dot' hidden_group
check 'edges: what is made of a profile of the machine is for its user' for_its_user
check 'edges: the list of profil check on a full disk' full_disk
check 'edges: profil check, where profil watch has long intervals' late
plan
