# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# For the tests of the command: where it is, and tables for its session.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$here/../lib/tap.sh"

O=${O:-$here/../../build/tool-test}
O=$(cd "$O" && pwd)
# python3 is Debian's, which has its packages, where somebody has another one, too
PATH=$O:/usr/bin:$PATH
planted=$O/planted
unset DEBUGINFOD_URLS
export PROFIL_FAKE=$tmp/table LC_ALL=C.UTF-8
# shellcheck disable=SC2034 # for who has this file
esc=$(printf '\033')

# at FILE SYMBOL: where in the file its code is, in hexadecimal
at() {
	nm "$1" 2>/dev/null | awk -v name="$2" '$3 == name { sub(/^0+/, "", $1); print $1 }'
}

# 200 ticks of two processes
table() {
	cat <<-END
		object 10 $planted
		process 0 0 0 0 0 others
		process 4242 0 1 100 14 planted
		process 4243 1 2 60 26 sh
		slot 10 $(at "$planted" hot) 0 90 10
		slot 10 $(at "$planted" cold) 0 40 20
		slot 10 $(at "$planted" _ZN2ns3boxIiE4turnEi) 0 15 5
		slot 10 $(at "$planted" main) 0 4 0
		slot 2 7f0000001000 2 8 2
		slot 4 10 1 2 1
		exec 2
		full 1
	END
}

# none COMMAND...: it fails.  Behind a bare ! the shell would go on.
none() {
	! "$@"
}

# planted_system SETUP COMMAND...: in a mount namespace of its own
planted_system() {
	local user=()
	[ "$(id -u)" = 0 ] || user=(-Ur)
	unshare "${user[@]}" -m -- sh -ec "$1; shift; exec \"\$@\"" sh "$@"
}

# A setup for it: there is no library to ask debuginfod by.
# shellcheck disable=SC2034 # for who has this file
no_debuginfod=$(/sbin/ldconfig -p | awk 'BEGIN { print ":" }
	$1 == "libdebuginfod.so.1" { print "mount --bind /dev/null " $NF }')

# whole FILE: what profil run makes of the table
whole() {
	table >"$tmp/table"
	profil run -q -o "$1" -- true
}

# says STATUS COMMAND...: its standard error is in the file err, its output in out.  What
# ends by an error may leave memory to the system.
says() {
	local wanted=$1 status=0
	ASAN_OPTIONS=detect_leaks=$((wanted == 0)) "${@:2}" >out 2>err || status=$?
	cat err
	[ $status = "$wanted" ] || { echo "status $status instead of $wanted"; return 1; }
}

# list FOLDER: what ls would print, for programs; all FOLDER: also what begins with a dot
list() {
	find "$1" -mindepth 1 -maxdepth 1 -name '[!.]*' -printf '%f\n' | sort
}
all() {
	find "$1" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort
}
