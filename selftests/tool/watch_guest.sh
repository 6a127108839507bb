#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# profil watch with the module: services under load, what became of them in its files, its cost.
#
#   watch_guest.sh [SECONDS]	of the guest's time, with all services at work; 20 if it is not given,
#				and intervals are those of a minute from 180 on
set -eu
# shellcheck source-path=SCRIPTDIR source=guest_lib.sh
. "$(dirname "$0")/guest_lib.sh"

seconds=${1:-20}
every=5 alone=5 most=22
[ "$seconds" -lt 180 ] || every=60 alone=20 most=60
# shellcheck source-path=SCRIPTDIR source=watch_guest_lib.sh
. "$here/watch_guest_lib.sh"

# The first profile reads all names there are; what it costs is said.
first_profile() {
	local before
	load
	start first --every 1h
	sleep 2
	frozen 1 "${groups[@]}" forks.service
	before=$(used watch.service)
	stop
	echo "the first profile, and all names: $((($(used watch.service) - before) / 1000)) ms of CPU" | tee -a figures
	[ "$(profiles first)" = 1 ]
	profil report --tsv first/*.pb.gz | awk -F '\t' '$1 == "function" { print $8 "\t" $9 }' >named
	grep -P '^burn_here\t.*burner$' named
	grep -P '^[a-z_0-9.]+\t\[kernel\]$' named
	cp -a first/.names names
}

# One after the other, in one interval: a profile that is written meanwhile would want the CPU, too.
of_each() {
	local i bad=0
	charged_each "${groups[@]}" forks.service >before
	start alone --every 1h
	for i in "${groups[@]}" forks.service; do
		by_itself "$i" $alone
	done
	charged_each "${groups[@]}" forks.service >after
	stop
	units_of alone/*.pb.gz >units
	for i in "${!groups[@]}"; do
		agree "${groups[i]%%[.-]*}" "$(ticks_of "${groups[i]}" units)" \
			$(($(line $((i + 1)) after) - $(line $((i + 1)) before))) 1 "$(cat "unseen.${groups[i]}")" || bad=1
	done
	return $bad
}

# What does nothing but start programs has more ticks than it was charged: its memory is given back
# by RCU, whose threads each tick wakes.
of_forks() {
	units_of alone/*.pb.gz >units
	agree forks "$(ticks_of forks.service units)" $(($(tail -n 1 after) - $(tail -n 1 before))) \
		1 "$(cat unseen.forks.service)"
}

# All at once, with a session of all of that time beside it.
together() {
	local i
	profil run -q -a --kernel -o whole -- sh -c 'read over <words' 2>err.run &
	run=$!
	counting $run
	charged_each "${groups[@]}" >before
	moment stat.begun
	start spool --every ${every}s
	used watch.service >watch.begin
	moment stat.before
	of_kernel_threads >kernel.before
	frozen 0 "${groups[@]}"
	# names that were not read before are read in the first one; looking for it all the time would
	# be work that is begun by a tick and gone at the next one
	sleep "$every"
	until_profiles spool 1
	used watch.service >watch.before
	profiles spool >watch.first
	cut -d ' ' -f 1 /proc/uptime >watch.begun
	sleep "$seconds"
	frozen 1 "${groups[@]}"
	of_kernel_threads >kernel.after
	charged_each "${groups[@]}" >after
	moment stat.after
	used watch.service >watch.after
	profiles spool >watch.last
	cut -d ' ' -f 1 /proc/uptime >watch.ended
	stop
	moment stat.ended
	echo >words
	wait "$run" || { echo "profil run: status $?"; cat err.run; }
	none grep . err.watch
	[ "$(profiles spool)" -ge $((seconds / every)) ]
}

# A tick charges whom it preempts, which is not chance, where each of them waits for the tick: of
# single units that is not to be expected.  All of them together are what was charged.
of_all() {
	local i ticks=0 us=0
	units_of spool/*.pb.gz >units
	for i in "${!groups[@]}"; do
		ticks=$((ticks + $(ticks_of "${groups[i]}" units)))
		us=$((us + $(line $((i + 1)) after) - $(line $((i + 1)) before)))
	done
	agree 'all services' $ticks $us "$(profiles spool)" $(($(cat kernel.after) - $(cat kernel.before))) \
		"$(ticks_of watch.service units)"
}

# Another session, of all of the time, has the same ticks of each unit: none is lost, and none is twice.
none_lost() {
	local group
	units_of whole >other
	added_up_all
	units_of spool/*.pb.gz >units
	added_up_all
	[ "$(count full)" = 0 ]
	for group in "${groups[@]}"; do
		echo "$(named "$group"): $(ticks_of "$group" units) ticks, $(ticks_of "$group" other) in one session"
		[ "$(ticks_of "$group" units)" = "$(ticks_of "$group" other)" ]
	done
}

classes() {
	local user system
	units_of spool/*.pb.gz >units
	user=$(awk -F '\t' '{ sum += $3 } END { printf "%.0f", sum }' units)
	system=$(awk -F '\t' '{ sum += $4 } END { printf "%.0f", sum }' units)
	within "$user" user 1 2
	within "$system" 'system with interrupts' 3 6 7
	within $(($(count cpus_ns) - user - system)) idle not 1 2 3 6 7
}

# What it takes a minute: one profile, and a look each second.  That of a whole minute may take
# 0.1 % of a CPU that does an instruction in a nanosecond; this one needs eight times as long.  Its
# own rows are told, and not compared: it begins at a tick, which charges it more often than
# chance would.
own_cost() {
	local before looks files ticks
	units_of spool/*.pb.gz >units
	ticks=$(ticks_of watch.service units)
	echo "profil watch, by its own rows: $((ticks * $(count period_ns) / 1000000)) ms; it was charged $((($(cat watch.after) - $(cat watch.begin)) / 1000)) ms" | tee -a figures
	[ "$ticks" -gt 0 ]
	start looks --every 1h
	sleep 2
	before=$(used watch.service)
	sleep 10
	looks=$((($(used watch.service) - before) / 10))
	stop
	files=$(($(cat watch.last) - $(cat watch.first)))
	profil report --tsv --by address "$(find spool -name '*.pb.gz' | sort | sed -n 2p)" >places
	echo "places of an interval: $(grep -c ^address places)" | tee -a figures
	awk -v own=$(($(cat watch.after) - $(cat watch.before))) -v files=$files -v looks=$looks \
		-v most=$most -v seconds="$(($(cut -d . -f 1 watch.ended) - $(cut -d . -f 1 watch.begun)))" 'BEGIN {
		each = (own - looks * seconds) / files
		minute = (each + 60 * looks) / 8000
		printf "a profile takes %.1f ms, a look each second %.2f ms: %.1f million instructions a minute, %.3f %% of a CPU of 1 GHz, %.3f %% of this one\n",
			each / 1000, looks / 1000, minute, minute / 600, minute / 75
		exit !(minute <= most)
	}' | tee -a figures
	return "${PIPESTATUS[0]}"
}

# What ran, and where it was, is gone long before the interval ends.
gone() {
	local name
	start gone --every 1h
	for name in "gone.service" "docker-${hex/4d2f/ffff}.scope"; do
		# shellcheck disable=SC2016 # for sh
		in_group "$name" unshare -m sh -c 'mkdir -p root; mount -t tmpfs none root; cp burner root/served
			exec chroot root /served 20' &
		wait $!
		rmdir "$cgroup/system.slice/$name"
	done
	none grep -q " $tmp/root " /proc/mounts
	stop
	for name in --unit=gone.service --container=ffffe8c1b0a7; do
		profil report --tsv "$name" gone/*.pb.gz | tee rows | awk -F '\t' '
			$1 == "function" { sum += $2; if ($8 == "burn_here" && $9 ~ /served$/) found = $2 }
			END { print found " of " sum; exit !(found > 300 && found > 0.85 * sum) }' || { cat rows; return 1; }
	done
}

# What is held makes its file system busy until the profile of the interval is written.
busy() {
	mkdir disk
	mount -t tmpfs none disk
	cp burner disk
	start busy --every 1h
	./disk/burner 10
	none umount disk
	stop
	umount disk
}

# Random points are those of watch_test.sh; here a session is left behind.
killed() {
	local written file
	start killed --every 2s
	until_profiles killed 1
	kill -9 "$pid"
	wait "$pid" || :
	# what it had begun to write is not waited for
	ended watch.service
	written=$(profiles killed)
	start killed --every 1h
	sleep 1
	stop
	[ "$(profiles killed)" = $((written + 1)) ]
	[ -z "$(find killed -name '.new*')" ]
	for file in killed/*.pb.gz; do
		[ "$(ticks "$file")" -gt 0 ]
	done
	# the last one was ended amid an hour
	[ "$(ticks "$file")" -lt 2500 ]
	[ "$(stat -c %a killed)/$(stat -c %a killed/*.pb.gz | sort -u)" = 700/600 ]
}

# Intervals that are shorter than it takes to read the names of the kernel: profiles come, and then
# names do.
no_names_yet() {
	mv names names.known
	frozen 0 "${groups[@]}"
	start short --every 2s
	until_profiles short 3
	for _ in $(seq 60); do
		profil report --tsv short/*.pb.gz | awk -F '\t' '$1 == "function" && $9 == "[kernel]" && $8 != $9 { kernel = 1 }
			$1 == "function" && $8 == "burn_here" { here = 1 } END { exit !(here && kernel) }' && break
		sleep 1
	done
	frozen 1 "${groups[@]}"
	stop
	mv names.known names
	[ "$(profiles short)" -lt 40 ]
	echo "profiles of 2 s, until there were names: $(profiles short)" | tee -a figures
	none grep . err.watch
}

# Forks without end, each tick at a place of its own: 100,000 of them in ten minutes, in the
# memory that the unit has.
storm() {
	local i n running limit=$cgroup/system.slice/watch.service
	mkdir -p "$limit"
	echo +memory >"$cgroup/cgroup.subtree_control"
	echo +memory >"$cgroup/system.slice/cgroup.subtree_control"
	echo 64M >"$limit/memory.max"
	for i in $(seq 40); do
		cp "$(command -v spread)" "spread-$i"
	done
	start storm --every ${every}s
	for ((n = 0; n < seconds; n++)); do
		running=()
		for i in $(seq 5); do
			./spread-$(((n * 5 + i) % 40 + 1)) 12 &
			running+=($!)
		done
		wait "${running[@]}"
	done
	stop
	none grep . err.watch
	profil report --tsv --by address storm/*.pb.gz >tsv
	echo "profil watch in a storm: $(($(cat "$limit/memory.peak") >> 20)) MB of 64, $(grep -c '^address' tsv) places" | tee -a figures
	[ "$(awk '$1 == "oom_kill" { print $2 }' "$limit/memory.events")" = 0 ]
	[ "$(grep -c '^address' tsv)" -gt $((seconds * 100)) ]
	added_up_all
}

not_allowed() {
	local file
	mkdir -m 777 free
	(cd free; says 1 user profil watch -o mine)
	grep -Fx 'profil: the whole machine cannot be profiled: profil watch needs CAP_PERFMON; sudo profil watch …' free/err
	[ "$(wc -l <free/err)" = 1 ]
	[ ! -e free/mine ]
	(cd free; says 125 user profil watch --nothing)
	none user ls killed
	for file in killed/*.pb.gz; do
		none user profil report "$file"
		none user cat "$file"
	done
	none user profil report --since yesterday killed
	cat killed/.names/* >/dev/null
	none user cat killed/.names/*
}

check 'vm: watch: the first profile' first_profile
check 'vm: watch: a unit is what the kernel charged' of_each
check 'vm: watch: a unit that does nothing but start programs' of_forks
check 'vm: watch: services under load' together
check 'vm: watch: all units are what the kernel charged' of_all
check 'vm: watch: no tick is lost between profiles' none_lost
check 'vm: watch: classes are what the kernel says of its CPUs' classes
check 'vm: watch: its own cost' own_cost
check 'vm: watch: what ended, with the root of its container' gone
check 'vm: watch: a file system is busy until the profile is written' busy
check 'vm: watch: kill -9, and the next one goes on' killed
check 'vm: watch: no names yet, and short intervals' no_names_yet
for group in "${groups[@]}" forks.service; do ended "$group"; done 2>/dev/null
check 'vm: watch: a storm of forks, in 64 MB' storm
check 'vm: watch: who may' not_allowed
sed 's/^/# /' figures
plan
