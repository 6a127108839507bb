#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# profil annotate on files with code that are meant to break it, under ASan and UBSan.
#   mutate_code_test.sh [TIMES]
set -eu
. "$(dirname "$0")/annotate_lib.sh"

times=${1:-500}

# Crashes of our own code; elfutils and capstone have theirs, which cost a file its lines.
ours() {
	! grep -F 'runtime error: ' "$1" || return 0
	awk '/ERROR: AddressSanitizer/ { wanted = 1; head = $0 }
		wanted && /^ +#[0-9]+ / && !/libasan/ {
			wanted = 0
			if (/mutate_code/) { print head; print; bad = 1 }
		}
		END { exit !bad }' "$1"
}

# many TIMES FILE FUNCTION ADDRESS...: some of them still have code, so that all of the reader is run
many() {
	local status=0
	ASAN_OPTIONS=symbolize=0:detect_leaks=0 mutate_code "$2" "$1" 1 "${@:3}" >summed 2>err || status=$?
	tail -n 3 err
	cat summed
	[ $status = 0 ]
	none ours err
	[ "$(awk '{ print $6 }' summed)" -gt $(($1 / 10)) ]
}

with_lines() {
	many "$times" loop hot "$hot" "$scale" "$less"
}

stripped() {
	gcc -O1 -o framed src/loop.c
	strip framed
	many $((times / 5)) framed "fn@$(at loop hot)" "$(readelf -hW framed | awk '/Entry/ { print substr($4, 3) }')" 1139 1200
}

check 'mutate: code with lines' with_lines
check 'mutate: code without symbols' stripped
plan
