#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Names from a server of symbols: asked where the environment says so, for files that
# matter, and not waited for without end.
set -eu
# shellcheck source-path=SCRIPTDIR source=watch_lib.sh
. "$(dirname "$0")/watch_lib.sh"
unset ASAN_OPTIONS

cd "$tmp"
export DEBUGINFOD_CACHE_PATH=$tmp/cache
servers=()
trap 'kill "${servers[@]}" 2>/dev/null || :; rm -rf "$tmp"' EXIT

build_id() {
	readelf -n "$1" | awk '/Build ID/ { print $3 }'
}

# start_server LOG [FILE BUILD-ID]: sets url
start_server() {
	rm -f port
	"$here/server.py" port "$@" &
	servers+=($!)
	for _ in $(seq 100); do
		[ ! -s port ] || break
		sleep 0.1
	done
	url=http://127.0.0.1:$(cat port)
}

objcopy --only-keep-debug "$planted" planted.debug
strip -o hot "$planted"
# another program, of which the server knows nothing
gcc -x c -o cold - <<<'int main(void) { return 42; }'
strip cold
start_server asked planted.debug "$(build_id hot)"
good=$url
start_server hangs
deaf=$url
start_server sent /dev/zero "$(build_id hot)"
endless=$url
start_server proxied planted.debug "$(build_id hot)"
proxy=$url

{
	echo 'process 0 0 0 1000 0 others'
	echo "object 10 $tmp/hot"
	echo "object 11 $tmp/cold"
	echo "slot 10 $(at "$planted" hidden) 0 991 0"
	echo 'slot 11 1100 0 9 0'
} >"$tmp/table"

fetched() {
	DEBUGINFOD_URLS=$good says 0 profil run -q true
	says 0 profil report --by line --tsv
	grep -P '\thidden\t.*/hot\t/src/planted.c:23$' out
	grep -F "/buildid/$(build_id hot)/debuginfo" asked
	# less than 1 %
	none grep -F "$(build_id cold)" asked
	rm -rf cache
}

# What --names looks for later is asked for by the same rule.
later() {
	says 0 profil run -q -o later true
	: >asked
	DEBUGINFOD_URLS=$good says 0 profil report --names / --by line --tsv later
	grep -P '\thidden\t.*/hot\t/src/planted.c:23$' out
	none grep -F "$(build_id cold)" asked
	rm -rf cache
}

# What goes with a request in clear, goes through no proxy; other requests do.
proxies() {
	local variable secret=${good/127/me:secret@127}
	printf 'X-Secret: 1\n' >headers
	for variable in http_proxy all_proxy ALL_PROXY; do
		: >asked
		: >proxied
		env $variable="$proxy" DEBUGINFOD_URLS="$good" profil run -q true
		grep -F "$(build_id hot)" proxied
		[ ! -s asked ]
		rm -rf cache
		: >proxied
		env $variable="$proxy" DEBUGINFOD_URLS="https://127.0.0.1:9 $secret" profil run -q true
		grep -F "$(build_id hot)" asked
		rm -rf cache
		: >asked
		env $variable="$proxy" DEBUGINFOD_HEADERS_FILE="$PWD/headers" DEBUGINFOD_URLS="$good" profil run -q true
		grep -F "$(build_id hot)" asked
		[ ! -s proxied ]
		rm -rf cache
	done
}

# until_asked: profil watch asks for the other program, of which the server knows nothing
until_asked() {
	local status=1
	rm -rf cache
	: >asked
	ASAN_OPTIONS=detect_leaks=0 DEBUGINFOD_URLS=$good start profil watch -o spool --every 1s
	! until_is grep -F "$(build_id cold)" asked || status=0
	stop 0
	return $status
}

# Asked for once a day: another day is also one before, after the clock was set back.
daily() {
	local table
	machine | sed "s,^object 11 .*,object 11 $tmp/cold,; s,^slot 11 .*,slot 11 1100 4 900 1," >table
	until_asked
	for table in spool/.names/*-*; do
		python3 - "$table" <<-'END'
			import struct, sys
			with open(sys.argv[1], 'r+b') as file:
			    file.seek(52)  # struct dump_head, asked
			    asked, = struct.unpack('I', file.read(4))
			    file.seek(52)
			    file.write(struct.pack('I', asked and asked + 1))
		END
	done
	until_asked
}

not_asked() {
	: >asked
	says 0 profil run -q true
	says 0 profil report --tsv
	none grep -P '\thidden\t' out
	[ ! -s asked ]
}

# The user's own limit is kept.
deaf_server() {
	local begin=$SECONDS
	DEBUGINFOD_TIMEOUT=1 DEBUGINFOD_URLS=$deaf says 0 profil run -q true
	[ $((SECONDS - begin)) -lt 60 ]
	says 0 profil report --tsv
	grep -P '\tfn@[0-9a-f]+\t.*/hot\t' out
}

# No more than a GiB, or what the user says, is taken; a server that does not say how much it sends
# is cut off there.
bounded() {
	: >asked
	DEBUGINFOD_URLS=$good says 0 profil run -q true
	grep -x '/buildid/.*/debuginfo 1073741824' asked
	rm -rf cache
	: >asked
	DEBUGINFOD_MAXSIZE=1000 DEBUGINFOD_URLS=$good says 0 profil run -q true
	grep -x '/buildid/.*/debuginfo 1000' asked
	says 0 profil report --tsv
	none grep -P '\thidden\t' out
	rm -rf cache
	: >sent
	DEBUGINFOD_MAXSIZE=8000000 DEBUGINFOD_URLS=$endless says 0 profil run -q true
	[ -s sent ]
	du -sb cache
	[ "$(du -sb cache | cut -f 1)" -lt 8100000 ]
	rm -rf cache
}

# Ctrl-C comes to all processes of the terminal.
interrupted() {
	local begin=$SECONDS before
	before=$(wc -l <hangs)
	DEBUGINFOD_URLS=$deaf setsid profil run -o interrupted sh -c 'exit 7' 2>err &
	for _ in $(seq 600); do
		[ "$(wc -l <hangs)" = "$before" ] || break
		sleep 0.1
	done
	kill -INT -- -$!
	status=0
	wait $! || status=$?
	cat err
	[ $status = 7 ]
	[ $((SECONDS - begin)) -lt 60 ]
	grep -Fx "profil: $tmp/hot could not be read for names (Interrupt); profil report shows its addresses" err
	says 0 profil report --tsv interrupted
	grep -P '\t\[hot\]\t.*/hot\t' out
}

# What ends a program ends the names, at once, of all files; the profile is kept.
ended() {
	local begin signal before
	for signal in HUP:1 QUIT:3 TERM:15; do
		begin=$SECONDS
		before=$(wc -l <hangs)
		rm -f ended
		# shellcheck disable=SC2016 # for perl, sh
		DEBUGINFOD_TIMEOUT=100 DEBUGINFOD_URLS=$deaf perl -e '$SIG{QUIT} = "DEFAULT"; exec @ARGV' \
			profil run -r 3 -o ended sh -c 'exit 7' 2>err &
		for _ in $(seq 600); do
			[ "$(wc -l <hangs)" = "$before" ] || break
			sleep 0.1
		done
		kill -"${signal%:*}" $!
		status=0
		wait $! || status=$?
		cat err
		[ $status = $((128 + ${signal#*:})) ]
		[ $((SECONDS - begin)) -lt 60 ]
		[ "$(grep -c ^profil: err)" = 2 ]
		grep -Fx 'profil: a signal ended the reading of names; profil report --names=/ looks for those that are missing' err
		grep -Fx 'profil: the series was interrupted; the profile has 1 of 3 runs' err
		says 0 profil report --tsv ended
		grep -Fx 'count	ticks	1000' out
	done
}

# What takes long is said on a terminal, if it can take that back.
progress() {
	export DEBUGINFOD_TIMEOUT=2 DEBUGINFOD_URLS=$deaf
	TERM=xterm script -qec 'profil run -q true' /dev/null </dev/null >out
	grep -F "names of $tmp/cold, the rest has 1 objects" out
	TERM=dumb script -qec 'profil run -q true' /dev/null </dev/null >out
	none grep names out
	TERM=xterm says 0 profil run -q true
	[ ! -s err ]
}

: >hangs
check 'fetch: names of what has samples' fetched
check 'fetch: names that are looked for later' later
check 'fetch: credentials go through no proxy' proxies
check 'fetch: without a server nobody is asked' not_asked
check 'fetch: no more bytes than are wanted' bounded
check 'fetch: a server that does not answer' deaf_server
check 'fetch: what takes long is said' progress
check 'fetch: signals that end it' ended
check 'fetch: Ctrl-C goes on without' interrupted
check 'fetch: a table asks once a day' daily
plan
