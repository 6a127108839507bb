#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The command with sessions of the whole machine, which root makes.
set -eu
# shellcheck source-path=SCRIPTDIR source=guest_lib.sh
. "$(dirname "$0")/guest_lib.sh"
# shellcheck source-path=SCRIPTDIR source=guest_machine.sh
. "$here/guest_machine.sh"

jobs_of_unit=()

# unit PATH COMMAND...: which runs in a control group of this path
unit() {
	mkdir -p "$cgroup/$1"
	# shellcheck disable=SC2016 # for sh
	sh -c 'echo $$ >"$1/cgroup.procs"; shift; exec "$@"' sh "$cgroup/$1" "${@:2}" &
	jobs_of_unit+=($!)
}

units_ended() {
	wait "${jobs_of_unit[@]}" || :
	jobs_of_unit=()
}

# used PATH: microseconds that the kernel charged the group
used() {
	awk '$1 == "usage_usec" { print $2 }' "$cgroup/$1/cpu.stat"
}

# ticks_of BY NAME
ticks_of() {
	profil report --tsv --by "$1" file | awk -F '\t' -v by="$1" -v name="$2" '$1 == by && $8 == name { print $2 }'
}

# classes_add_up: each tick is in one class
classes_add_up() {
	profil report --tsv file >tsv
	added_up_all
	[ "$(awk -F '\t' '$1 == "function" { sum += $2 } END { print sum }' tsv)" = \
		$(($(count in_slots) + $(count placed))) ]
}

# whole: the same, and rows have all but the idle ones
whole() {
	classes_add_up
	[ "$(profil report --tsv --by unit file | awk -F '\t' '$1 == "unit" { sum += $2 } END { print sum }')" = \
		$(($(count ticks) - $(count idle))) ]
}

# near A B OFF WHAT: in nanoseconds
near() {
	echo "$4: $1 and $2 ns"
	awk -v a="$1" -v b="$2" -v off="$3" 'BEGIN { d = a - b; exit !(d <= off && -d <= off) }'
}

# As the kernel charges units: 1 %, and a tick or two where a program begins and where it ends.
# One after the other: of two that share a CPU, the tick itself takes it from the one and gives it
# to the other, and no count of ticks is as fair as the clock.
of_units() {
	local before_a before_b period
	mkdir -p "$cgroup/system.slice/a.service" "$cgroup/system.slice/b.service"
	before_a=$(used system.slice/a.service)
	before_b=$(used system.slice/b.service)
	# shellcheck disable=SC2016 # for sh
	says 0 profil run -a -o file -- sh -c '
		in_unit() { sh -c "echo \$\$ >$1/cgroup.procs; exec burn $2"; }
		in_unit "$1/system.slice/a.service" 20; in_unit "$1/system.slice/b.service" 10' sh "$cgroup"
	whole
	period=$(count period_ns)
	near $(($(ticks_of unit a.service) * period)) $((($(used system.slice/a.service) - before_a) * 1000)) \
		$((4 * period + 20000000)) a.service
	near $(($(ticks_of unit b.service) * period)) $((($(used system.slice/b.service) - before_b) * 1000)) \
		$((4 * period + 10000000)) b.service
	profil report --tsv --unit a.service file | awk -F '\t' '$1 == "function" { sum += $2; if ($8 == "burn_here") here = $2 }
		END { print here " of " sum; exit !(here > 0.95 * sum) }'
	grep -E '^the whole machine, sh -c' err
	grep -E '^  idle ' err
}

# Classes are what the kernel says of its CPUs.
classes() {
	local all
	moment stat.begun
	# shellcheck disable=SC2016
	says 0 profil run -q -a -o file -- sh -c 'cat /proc/uptime /proc/stat >stat.before; burn 5; burn 5 zero; sleep 0.5; cat /proc/uptime /proc/stat >stat.after'
	moment stat.ended
	whole
	all=$(profil report --tsv --by unit file | awk -F '\t' '$1 == "unit" { user += $4; kernel += $5 } END { print user, kernel }')
	within "${all% *}" user 1 2
	within "${all#* }" 'system with interrupts' 3 6 7
	within "$(($(count cpus_ns) - ${all% *} - ${all#* }))" idle not 1 2 3 6 7
}

# What ends before the end is known if it was there for a second or two.
ended() {
	unit system.slice/short.service burn 25
	# shellcheck disable=SC2016
	says 0 profil run -q -a -o file -- sh -c 'burn 20; wait; while kill -0 $1 2>/dev/null; do sleep 0.1; done; rmdir "$2"' \
		sh "${jobs_of_unit[0]}" "$cgroup/system.slice/short.service"
	units_ended
	[ ! -e "$cgroup/system.slice/short.service" ]
	whole
	[ "$(ticks_of unit short.service)" -gt 100 ]
	[ "$(ticks_of program burn)" -gt "$(ticks_of unit short.service)" ]
}

containers() {
	local hex=4d2fe8c1b0a79665544332211000ffeeddccbbaa99887766554433221100abcd
	unit "system.slice/docker-$hex.scope" burn 1000
	unit "lxc.payload.web/system.slice/nginx.service" burn 1000
	says 0 profil run -q -a -d 0.5 -o file
	kill "${jobs_of_unit[@]}"
	units_ended
	whole
	profil report --by container file
	[ "$(ticks_of container 4d2fe8c1b0a7)" -gt 10 ]
	[ "$(ticks_of container web)" -gt 10 ]
	[ "$(ticks_of unit nginx.service)" = "$(ticks_of container web)" ]
}

kernel() {
	says 0 profil run -q -a --kernel -o file -- burn 5 zero
	whole
	[ "$(count placed)" = $(($(count kthreads) + $(count interrupts))) ]
	[ "$(count full)" = 0 ]
	profil report --tsv --program burn file | awk -F '\t' '$1 == "function" { sum += $2; if ($9 == "[kernel]") kernel += $2 }
		END { print kernel " of " sum; exit !(kernel > 0.8 * sum) }'
}

# More places than there is room for: what is over is elsewhere in its object.
elsewhere() {
	says 0 profil run -a --slots=1024 -o file -- spread 600
	whole
	grep -F '  places ' err
	[ "$(count full)" = 0 ]
	[ "$(awk -F '\t' '$1 == "function" && $8 == "[elsewhere in spread]" { print $2 }' tsv)" -gt 100 ]
}

not_allowed() {
	rm -f begun
	says 125 user profil run -a -o file -- touch begun
	[ ! -e begun ]
	[ "$(wc -l <err)" = 1 ]
	grep -F 'profil: the whole machine cannot be profiled: profil run -a needs CAP_PERFMON; sudo profil run -a …' err
	says 125 user profil top -a -n 1
	user profil check | grep -E '^machine .* note$'
	# it is not about root
	cp "$(command -v profil)" granted
	setcap cap_perfmon,cap_syslog+ep granted
	says 0 user ./granted run -q -a -o file -- burn 5
	whole
	[ "$(ticks_of program burn)" -gt 50 ]
	profil report --tsv file | grep -F burn_here
	# nor is it about whom it could trace
	burn 2000 &
	says 0 user ./granted run -q -d 1 -p $! -o file
	kill $!
	profil report --tsv file | grep -F burn_here
	# root in a namespace of its own is not root
	says 125 switched unshare -Ur profil run -a -o file -- true
	grep CAP_PERFMON err
}

status() {
	says 7 profil run -q -a -o file -- sh -c 'exit 7'
	says 127 profil run -q -a -o file -- nofile
	says 0 profil check
	grep -E '^machine .* ok$' out
}

looked_at() {
	unit system.slice/a.service burn 1000
	says 0 profil top -a -s 0.5 -n 3 --by unit -o file
	awk 'BEGIN { RS = "" } { table = $0 } END { split(table, lines, "\n"); print table
		exit !(lines[1] ~ /^the whole machine: .* of 1 CPU,/ && lines[3] ~ / a.service$/) }' out
	whole
	says 0 profil top -a -s 0.5 -n 2 -q -o file
	awk 'BEGIN { RS = "" } { table = $0 } END { split(table, lines, "\n"); print table; exit lines[3] !~ / burn_here +burn$/ }' out
	kill "${jobs_of_unit[@]}"
	units_ended
}

# A child writes the profile while the session counts, and it has no mapping of its own.
written_meanwhile() {
	rm -f file
	unit system.slice/a.service burn 1000
	{
		sleep 2
		printf w
		until [ -s file ]; do sleep 0.2; done
		cp file meanwhile
		printf q
	} | TERM=xterm script -qec 'profil top -a -s 0.5 -o file' /dev/null >out
	grep -aF 'written: file, ' out
	mv meanwhile file
	classes_add_up
	kill "${jobs_of_unit[@]}"
	units_ended
}

check 'vm: system: units' of_units
check 'vm: system: classes' classes
check 'vm: system: a unit that ends' ended
check 'vm: system: containers' containers
check 'vm: system: functions of the kernel' kernel
check 'vm: system: no room' elsewhere
check 'vm: system: who may' not_allowed
check 'vm: system: exit status' status
check 'vm: system: top' looked_at
check 'vm: system: top writes the profile' written_meanwhile
plan
