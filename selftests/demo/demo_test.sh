#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# demo.sh with PROG=: how the machine counts time, and what becomes of a server.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$here/../lib/tap.sh"

# run.sh has the kernel not ask the boot loader for randomness where instructions are counted.
counted='random.trust_bootloader=off'

demo() {
	env "$@" "$here/demo.sh" >"$tmp/out" 2>&1 || status=$?
	cat "$tmp/out"
}

# It is told to end, and does not.
server() {
	status=0
	demo TIMEOUT=30 PROG='cat /proc/cmdline
		trap "echo SIGTERM came" TERM
		while :; do gzip -c /bin/bash >/dev/null; done'
	test "$status" = 124
	grep -F 'it was sent SIGTERM after 30 s: give it more with TIMEOUT=' "$tmp/out"
	grep -Fx 'SIGTERM came' "$tmp/out"
	grep -E '^  objects  gzip [89][0-9]\.[0-9] %, ' "$tmp/out"
	grep -E '^  ticks    [0-9]+ of 4 ms = ' "$tmp/out"
	grep -F "$counted" "$tmp/out"
}

fast() {
	status=0
	demo FAST=1 PROG='cat /proc/cmdline'
	test "$status" = 0
	grep -F 'console=' "$tmp/out"
	if grep -F "$counted" "$tmp/out"; then false; fi
}

limit() {
	status=0
	demo TIMEOUT=1h PROG=true
	test "$status" = 1
	grep -Fx 'demo.sh: TIMEOUT=1h is no number from 1 up: give TIMEOUT=1200' "$tmp/out"
}

check "a time limit that is none is said" limit
check "time is counted, and a program that does not end leaves its profile" server
check "FAST=1 goes without" fast
plan
