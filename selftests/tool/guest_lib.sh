# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# In the VM, as root, in the folder of the programs: what tests of the command with the
# module share.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$here/../lib/tap.sh"
PATH=$PWD:$PATH
export LC_ALL=C.UTF-8
unset DEBUGINFOD_URLS
chmod 777 "$tmp"
cd "$tmp"

user() {
	setpriv --reuid=1000 --regid=1000 --clear-groups "$@"
}

# switched COMMAND...: by a user who may make a namespace of users.  In a chroot, which this is, nobody can:
# there our root becomes that of a namespace, as switch_root(8) makes one.
switched() {
	# shellcheck disable=SC2016
	chroot /proc/1/root /bin/busybox unshare -m sh -c '
		cd /host && mount --move . / && exec chroot . "$@"' sh \
		/usr/bin/setpriv --reuid=1000 --regid=1000 --clear-groups env -C "$tmp" PATH="$PATH" "$@"
}

# says STATUS COMMAND...: as in lib.sh
says() {
	local wanted=$1 status=0
	"${@:2}" >out 2>err || status=$?
	cat out err
	[ $status = "$wanted" ] || { echo "status $status instead of $wanted"; return 1; }
}

none() {
	! "$@"
}

# count KEY
count() {
	awk -F '\t' -v key="$1" '$1 == "count" && $2 == key { print $3 }' tsv
}

# added_up: each tick of what was written to file is accounted for, and the report has all
added_up() {
	user profil report --tsv file >tsv
	[ "$(count ticks)" = $(($(count in_slots) + $(count exec) + $(count full) + $(count not_due))) ]
	[ "$(count in_slots)" = "$(awk '$1 == "function" { sum += $2 } END { print sum }' tsv)" ]
}

# profiled OBJECT FUNCTION: it is whole, and nearly all in it there
profiled() {
	added_up
	awk -F '\t' -v object="$1" -v name="$2" '
		$1 == "function" { sum += $2 }
		$1 == "function" && $9 ~ object "$" && $8 == name { found += $2 }
		END { print found + 0 " of " sum + 0; exit !(found > 30 && found > 0.85 * sum) }' tsv
}

# hottest NAME: it is whole, and the function with the most samples has a name like this
hottest() {
	added_up
	grep ^function tsv | head -n 5
	awk -F '\t' -v name="^($1)\$" '$1 == "function" { exit !($8 ~ name && $2 > 30) }' tsv
}

# charged PROCESSES: ticks are what the kernel charged, but for two of each process and 5 %:
# what often waits for a file of the host's may miss them
charged() {
	local all off
	all=$(($(count charged_user_ns) + $(count charged_system_ns)))
	off=$(($(count ticks) * $(count period_ns) - all))
	echo "ticks are $off ns more than charged"
	[ ${off#-} -le $((2 * $1 * $(count period_ns) + all / 20)) ]
}

run() {
	says 0 user profil run -q -o file "$@"
}

# What must be there for as long as it is looked at waits for a word, and for no time.
mkfifo words
exec 3<>words

# reached PID COMMAND...: waits until it has executed that, and the command succeeds
reached() {
	until [ "$(cat "/proc/$1/comm")" = "$2" ] && "${@:3}"; do
		grep -q '^State:.[^Z]' "/proc/$1/status"
	done
}

# waiting PID HOW: for an event of this name in the kernel's
waiting() {
	grep -q "$2" "/proc/$1/wchan"
}
