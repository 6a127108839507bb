# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# What gprof says of a program, for shell tests; $lib is the library's folder, $tmp
# one for the test.
# shellcheck disable=SC2154

# calls_of FUNCTION PROGRAM FILE...: how often it was called, by gprof's flat profile
calls_of() {
	function=$1
	shift
	gprof -b -p "$@" | awk -v name="$function" '$NF == name { print $4 }'
}

# counted FUNCTION N PROGRAM FILE...
counted() {
	want=$2 function=$1
	shift 2
	test "$(calls_of "$function" "$@")" = "$want"
}

# samples_of FILE: of its first record
samples_of() {
	od -A n -v -t u2 -w2 -j 61 -N $((2 * $(od -A n -t u4 -j 37 -N 4 "$1"))) "$1" |
		awk '{ sum += $1 } END { print sum }'
}

# run PROGRAM ARGUMENT...: with the library before the C library, in a new folder
run() {
	rm -rf "$tmp/run"
	mkdir "$tmp/run"
	(cd "$tmp/run" && LD_PRELOAD=$lib/libprofil.so "$@")
}
