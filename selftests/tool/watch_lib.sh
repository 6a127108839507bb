# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# For the tests of profil watch: it runs in the background.

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=system_lib.sh
. "$here/system_lib.sh"

# start PROGRAM ARGUMENT...: in the background, as process $pid; its errors go to the file err
start() {
	rm -f pid
	# shellcheck disable=SC2016 # for the shell that becomes the program
	planted_groups sh -c 'echo $$ >pid.new; mv pid.new pid; exec "$@"' sh "$@" >out 2>err &
	shell=$!
	until_is test -e pid
	pid=$(cat pid)
}

# catches: it has begun, and SIGTERM ends it as it should
catches() {
	find "/proc/$pid/fd" -lname 'anon_inode:*signalfd*' 2>/dev/null | grep -q .
}

# stop STATUS: what it ends with after SIGTERM
stop() {
	local status=0
	kill -TERM "$pid"
	wait "$shell" || status=$?
	cat err
	[ $status = "$1" ]
}

# until_is COMMAND...: waits until it succeeds
until_is() {
	for _ in $(seq 6000); do
		! "$@" >/dev/null 2>&1 || return 0
		sleep 0.05
	done
	echo "never: $*"
	cat err
	return 1
}

# files FOLDER NUMBER: there are so many profiles, or more
files() {
	[ "$(list "$1" | wc -l)" -ge "$2" ]
}

cd "$tmp" || exit
machine >"$PROFIL_FAKE"
export ASAN_OPTIONS=detect_leaks=0
