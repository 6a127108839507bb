# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Little address space, and memory that is not promised twice, for guest.sh.

# with_room KB COMMAND...: in an address space of so much, whose random holes are gone
with_room() {
	setarch -R prlimit --as=$(($1 * 1024)) "${@:2}"
}

# Nothing of ours is in the program: what is enough for it alone is enough here, and a page less is
# too little for it.
program_without_room() {
	local least=0 enough=65536 middle
	while [ $((enough - least)) -gt 4 ]; do
		middle=$(((least + enough) / 2))
		if with_room $middle burn-static 0 2>/dev/null; then enough=$middle; else least=$middle; fi
	done
	echo "burn-static needs $enough kB"
	run -- setarch -R prlimit --as=$((enough * 1024)) burn-static 5
	profiled burn-static burn_here
	none user profil run -q -o file -- setarch -R prlimit --as=$((least * 1024)) burn-static 5
}

# What the user has set for both is what the program has.
own_limits() {
	local limits=(--as=400000000 --data=300000000 --nofile=200 --fsize=100000000 --nproc=300 --core=1000)
	user prlimit "${limits[@]}" cat /proc/self/limits >alone
	user prlimit "${limits[@]}" profil run -q -o file -- cat /proc/self/limits >inside
	grep -E '^Max address space +400000000 +400000000' inside
	diff alone inside
}

# sound ROOM STATUS: a run with so little room made a whole profile, or said one sentence and left no file;
# what fails when the program has ended does not change its status, which is 0
sound() {
	if [ -e file ]; then
		user profil report file >/dev/null
		[ "$2" = 0 ]
		echo "$1: a profile"
	else
		[ "$(wc -l <err)" = 1 ]
		# the loader, before it is a program of ours
		grep -E '^profil: .*;|^profil: error while loading shared libraries: ' err
		[[ $2 = 125 || $2 = 127 || $2 = 0 ]]
		echo "$1: status $2, $(cat err)"
	fi
	[ -z "$(find . -name '.*file*' -o -name 'file?*')" ]
}

# From what is too little for the loader to what is enough.
profil_without_room() {
	local kb status made=0 refused=0
	for kb in $(seq 4096 512 20480); do
		rm -f file
		status=0
		user prlimit --as=$((kb * 1024)) profil run -q -o file -- burn-static 1 >out 2>err || status=$?
		sound "$kb kB" $status || { cat out err; return 1; }
		if [ -e file ]; then made=$((made + 1)); else refused=$((refused + 1)); fi
		[ $made -lt 3 ] || break
	done
	[ $made = 3 ]
	[ $refused -gt 3 ]
}

# overcommitted MODE KB: what the kernel promises is what it has
overcommitted() {
	echo "$2" >/proc/sys/vm/overcommit_kbytes
	echo "$1" >/proc/sys/vm/overcommit_memory
}

all_is_promised() {
	local kb status promised made=0
	overcommitted 2 700000
	run -- burn 5
	profiled burn burn_here
	charged 1
	# what is left for all but root
	echo 0 >/proc/sys/vm/user_reserve_kbytes
	for kb in 0 500 1000 2000 4000 6000 8000 12000 16000 24000 32000; do
		rm -f file
		promised=$(awk '$1 == "Committed_AS:" { print $2 }' /proc/meminfo)
		overcommitted 2 $((promised + kb + $(cat /proc/sys/vm/admin_reserve_kbytes)))
		status=0
		user profil run -q -o file -- burn-static 1 >out 2>err || status=$?
		overcommitted 2 700000
		sound "$kb kB promised" $status || { cat out err; return 1; }
		[ ! -e file ] || made=$((made + 1))
	done
	[ $made -gt 1 ]
	[ $made -lt 11 ]
}

check 'vm: a program with little room' program_without_room
check 'vm: limits are those of the program' own_limits
check 'vm: profil with little room' profil_without_room
check 'vm: no memory is promised twice' all_is_promised
overcommitted 0 0
