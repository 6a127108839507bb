#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Which control group has which number, and when it is looked for.
set -eu
. "$(dirname "$0")/lib.sh"
. "$here/system_lib.sh"

cd "$tmp"

# steps WORD...: what unit_steps says to each of them
steps() {
	printf '%s\n' "$@" | planted_groups unit_steps
}

# rows ID...: a table with a row of each group, after row 0
rows() {
	echo 'row 0 0 0 0 -'
	printf 'row %s 1 1 1 a\n' "$@"
}

found() {
	groups system.slice/a.service 'x y' deep/er
	rows "$(group system.slice/a.service)" "$(group 'x y')" "$(group deep/er)" "$(group .)" 12345678 >"$PROFIL_FAKE"
	steps 'rows 6' read "find $(group system.slice/a.service)" "find $(group 'x y')" \
		"find $(group deep/er)" "find $(group .)" 'find 12345678' 'find 0' >out
	diff -u - out <<-END
		ok
		ok
		a.service - $tmp/cgroup/system.slice/a.service
		x y - $tmp/cgroup/x y
		deep/er - $tmp/cgroup/deep/er
		/ - $tmp/cgroup/
		[ended group 12345678] - -
		[others] - -
	END
}

# ask WORD: of the steps that go on
ask() {
	local answer
	echo "$1" >&"${steps[1]}"
	read -r answer <&"${steps[0]}"
	[ "$answer" = "$2" ] || { echo "$1: $answer, not $2"; return 1; }
}

# What was seen while it was there keeps its name; what begins later is looked for.
remembered() {
	local first second steps_pid
	groups a.service b.service
	mkdir later
	first=$(group a.service)
	second=$(group b.service)
	rows "$first" 12345678 "$second" >"$PROFIL_FAKE"
	coproc steps { planted_groups unit_steps; }
	# bash forgets it when the process has ended
	# shellcheck disable=SC2154 # of coproc
	steps_pid=$steps_PID
	ask 'rows 2' ok
	ask read ok
	rmdir cgroup/a.service
	ask "find $first" "a.service - $tmp/cgroup/a.service"
	ask 'rows 4' ok
	ask read ok
	ask "find $first" "a.service - $tmp/cgroup/a.service"
	ask "find $second" "b.service - $tmp/cgroup/b.service"
	ask 'find 12345678' '[ended group 12345678] - -'
	# it was not asked for while it was there, and nobody walks for it again
	mv later cgroup/c.service
	ask read ok
	ask "find $(group c.service)" "[ended group $(group c.service)] - -"
	eval "exec ${steps[1]}>&-"
	wait "$steps_pid"
}

# Without a new row no system call is made.
nothing_new() {
	groups a.service
	rows "$(group a.service)" 12345678 >"$PROFIL_FAKE"
	steps 'rows 3' read strict
	# with one it is killed
	none steps 'rows 2' read 'rows 3' strict
}

# Folders that are links lead nowhere else, and where there is no hierarchy, nothing is found.
elsewhere() {
	groups a.service
	mkdir -p other/in.service
	ln -s ../other cgroup/link
	rows "$(stat -c %i other/in.service)" >"$PROFIL_FAKE"
	steps 'rows 2' read "find $(stat -c %i other/in.service)" >out
	grep -F '[ended group ' out
	echo '30 25 0:26 / /sys rw - sysfs sysfs rw' >mountinfo
	rows 17 >"$PROFIL_FAKE"
	steps 'rows 2' read 'find 17' >out
	grep -Fx '[ended group 17] - -' out
}

check 'units: found' found
check 'units: remembered' remembered
check 'units: nothing new, no system call' nothing_new
check 'units: nowhere else' elsewhere
plan
