#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# In the VM, as root, in the folder of the programs: a program under five profilers, or the
# question who may use them, if the argument is "users".  Time is CPU time, of which the VM
# makes the count of instructions: what waits for a file of the host costs nothing.  It is in
# microseconds.  A line for each of these on standard output, with tabs between:
#
#   plain PROGRAM AMOUNT TIME		twice for each amount of work
#   PROGRAM PROFILER AMOUNT TIME AMOUNT TIME BYTES TIME-OF-THE-REPORT FUNCTION…
#						of two amounts; the five hottest
#   user PROFILER yes|no	whether an ordinary user may
set -eu
PATH=$PWD:/usr/bin:/bin:/usr/sbin:/sbin
export LC_ALL=C.UTF-8
unset DEBUGINFOD_URLS
tmp=$(mktemp -d)
chmod 777 "$tmp"
cd "$tmp"
exec 3>&1 >"$OLDPWD/log.$1" 2>&1

# The work is the same each time: addresses and seeds of hashes make some percents of it.  And
# so is that of profilers: one sample in a library, by chance, has 10 MB read for its name.
echo 0 >/proc/sys/kernel/randomize_va_space
export PYTHONHASHSEED=0
[ ! -e /usr/lib/debug ] || mount -t tmpfs none /usr/lib/debug

PROFILERS='profil perf gprofng gperftools callgrind'
RATE=250

# The work of a program, by its amount: callgrind, under which each takes 50 times as long,
# has a tenth of it.
cat >work.py <<'END'
import json, sys
rows = [{"name": "row %d" % i, "values": [i * 0.5, i, str(i)]} for i in range(200)]
for _ in range(int(sys.argv[1])):
    assert len(json.loads(json.dumps(rows))) == 200
END
awk 'BEGIN {
	for (i = 0; i < 20; i++) {
		print "int f" i "(int *a, int n) { int s = 0;"
		for (line = 0; line < 6; line++)
			print "for (int i = 0; i < n; i++) { a[i] += a[n - i - 1] * " line + i "; s ^= a[i] >> " line "; }"
		print "return s; }"
	}
}' >all.c
printf '%s\n' 'port 0' "unixsocket $tmp/redis" 'save ""' 'lua-time-limit 0' >settings

# What is charged to this group of processes is the CPU time of all that it had, to the
# nanosecond: of a program, of its profiler, of their children, and of ticks upon them.
mkdir groups
mount -t cgroup2 groups groups
mkdir groups/one

# charged COMMAND…: in that group
charged() {
	(echo $BASHPID >"$tmp/groups/one/cgroup.procs" && "$@")
}

usage() {
	awk '$1 == "usage_usec" { print $2 }' "$tmp/groups/one/cpu.stat"
}

# cost COMMAND…: runs it, and writes what was charged meanwhile
cost() {
	local before
	before=$(usage)
	"$@"
	printf '\t%s' "$(($(usage) - before))" >&3
}

# start AMOUNT [COMMAND…]: the program behind COMMAND, charged; clients are not
start_python3() {
	charged "${@:2}" python3 work.py $(($1 * 30))
}

start_sqlite() {
	charged "${@:2}" sqlite --size "$1" --testset main :memory:
}

start_redis() {
	local server status=0
	rm -f redis
	charged "${@:2}" redis-server settings &
	server=$!
	until [ -S redis ] && [ "$(redis-cli -s redis ping)" = PONG ]; do
		kill -0 $server
	done
	redis-cli -s redis eval "local n = 0 for i = 1, $(($1 * 1000000)) do n = n + i end return n" 0
	redis-cli -s redis shutdown nosave || :
	wait $server || status=$?
	return $status
}

start_gcc() {
	head -n $(($1 * 8)) all.c >some.c
	charged "${@:2}" "$(gcc -print-prog-name=cc1)" -quiet -O2 -o out.s some.c
}

# Each runs a program under a profiler that writes to the folder "file", and shows the report.
under_profil() {
	"start_$1" "$2" profil run -q -o file/profile --
}

show_profil() {
	profil report -n 5 file/profile
}

under_perf() {
	"start_$1" "$2" perf record -q -e cpu-clock -F $RATE -o file/profile --
}

show_perf() {
	perf report --stdio -q --no-children --sort symbol -i file/profile | head -n 20
}

# at_path COMMAND… PROGRAM ARG…: the program by its path, as gprofng wants it
at_path() {
	"${@:1:7}" "$(command -v "$8")" "${@:9}"
}

under_gprofng() {
	"start_$1" "$2" at_path gprofng collect app -p $((1000 / RATE)) -O file/profile.er
}

show_gprofng() {
	gprofng display text -metrics e.totalcpu:name -limit 20 -functions file/profile.er
}

under_gperftools() {
	"start_$1" "$2" env CPUPROFILE="$tmp/file/profile" CPUPROFILE_FREQUENCY=$RATE \
		LD_PRELOAD=libprofiler.so.0
}

# Its program is that of the work, and is not in the file.
show_gperftools() {
	local program
	case $1 in
	gcc) program=$(gcc -print-prog-name=cc1) ;;
	redis) program=$(command -v redis-server) ;;
	*) program=$(realpath "$(command -v "$1")") ;;
	esac
	google-pprof --text "$program" file/profile | head -n 20
}

under_callgrind() {
	"start_$1" "$2" valgrind -q --tool=callgrind --callgrind-out-file=file/profile
}

show_callgrind() {
	callgrind_annotate --show-percs=no --auto=no file/profile | head -n 100
}

# five PROFILER <REPORT: names of the five hottest functions.  What has none is called as
# profil calls it, where it is known where it begins.
five() {
	case $1 in
	profil) profil report --tsv file/profile | awk -F '\t' '$1 == "function" { print $8 }' ;;
	perf) awk '$1 ~ /%$/ { print $3 }' ;;
	gprofng) awk '$1 ~ /^[0-9.]+$/ && $2 != "<Total>" { print $2 }' ;;
	gperftools) awk '$2 ~ /%$/ { print $6 }' ;;
	callgrind)
		sed -En "s/^ *([0-9,]+) .*[^ ]:([^ :]+) \[.*/\1 \2/p" | tr -d , | sed -E "s/'[0-9]+\$//" |
			awk '{ sum[$2] += $1 } END { for (name in sum) print sum[name], name }' |
			sort -rn | sed -E 's/^[0-9]+ //; s/^0x0*/fn@/'
		;;
	esac | sed 's/@@.*//; s/\.\(constprop\|isra\|part\)\.[0-9]*$//' | head -n 5
}

# Once before, so that what the profiler and its report read is in memory: beside what else
# callgrind takes, that is nothing.
measure() {
	local program=$1 profiler=$2 amount large=20
	if [ "$profiler" = callgrind ]; then
		large=2
	else
		mkdir file
		"under_$profiler" "$program" 1
		"show_$profiler" "$program"
	fi
	printf '%s\t%s' "$program" "$profiler" >&3
	for amount in 1 $large; do
		rm -rf file
		mkdir file
		printf '\t%s' "$amount" >&3
		cost "under_$profiler" "$program" "$amount"
	done
	printf '\t%s' "$(du -bs file | cut -f 1)" >&3
	cost charged "show_$profiler" "$program" >report
	cat report
	printf '\t%s\n' "$(five "$profiler" <report | paste -s)" >&3
	rm -r file
}

measure_all() {
	local amount profiler
	# so that it is in memory
	"start_$1" 1
	for amount in 1 2 20 1 2 20; do
		printf 'plain\t%s\t%s' "$1" $amount >&3
		cost "start_$1" $amount
		echo >&3
	done
	for profiler in $PROFILERS; do
		measure "$1" "$profiler"
	done
}

users() {
	local profiler may
	chmod 777 .
	for profiler in $PROFILERS; do
		rm -rf file
		may=no
		# shellcheck disable=SC2016 # a shell that is another user's
		if setpriv --reuid=1000 --regid=1000 --clear-groups env HOME="$tmp" bash -c '
			mkdir file
			charged() { "$@"; }
			'"$(declare -f "under_$profiler" start_python3 at_path)"'
			RATE=250 tmp=$PWD
			under_'"$profiler"' python3 0'; then
			may=yes
		fi
		printf 'user\t%s\t%s\n' "$profiler" $may >&3
	done
}

if [ "$1" = users ]; then
	users
else
	measure_all "$1"
fi
