#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Is the table of lanes right, and is a lane remembered when it has passed on this very
# content, and then only?  In a small source of its own, whose lanes take no time; at the
# end one real lane is run where only the paths are that it declares.
#
# shellcheck disable=SC2016,SC2317 # commands are expanded and functions called by check()
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"

cd "$TOP" || exit
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
number=0 failed=0
# both have blanks in their names
tree="$tmp/a source" cache="$tmp/a cache"
unset FRESH RECORDED

# check NAME COMMAND…: it is true
check()
{
	number=$((number + 1))
	if ("${@:2}") >"$tmp/said" 2>&1; then
		echo "ok $number lanes: $1"
	else
		failed=$((failed + 1))
		echo "not ok $number lanes: $1"
		sed 's/^/# /' "$tmp/said"
	fi
}

# made: a source of which nothing is remembered.  Its compilers and emulators say their versions
# at once, which those of the machine take a while for.
made()
{
	local tool

	mkdir -p "$tree/selftests/vm" "$tree/module" "$tree/other" "$tree/bin" "$cache"
	cp selftests/check.sh selftests/memory.sh "$tree/selftests"
	cp selftests/vm/lib.sh "$tree/selftests/vm"
	echo /build >"$tree/.gitignore"
	echo text >"$tree/README"
	echo code >"$tree/module/code.c"
	echo code >"$tree/other/code.c"
	echo an image >"$cache/kernel"
	printf '#!/bin/sh\n' >"$tree/selftests/setup.sh"
	cat >"$tree/selftests/vm/kernels.sh" <<-'END'
		#!/bin/sh
		case $1 in
		here) test -e "$PROFIL_CACHE/kernel" ;;
		id) cat "$PROFIL_CACHE/kernel" ;;
		esac
	END
	for tool in gcc gcc-12 aarch64-linux-gnu-gcc-12 ldd qemu-system-x86_64 qemu-system-aarch64 busybox; do
		printf '#!/bin/sh\necho %s version 1\n' "$tool" >"$tree/bin/$tool"
	done
	chmod +x "$tree/selftests/setup.sh" "$tree/selftests/vm/kernels.sh" "$tree/bin"/*
	cat >"$tree/selftests/lanes" <<-'END'
		@module module
		lane lint
		sets quick
		run echo 3 passed, 0 failed, 0 skipped
		paths README module other
		always yes
		lane a
		sets check
		run cat module/code.c; . "$SAY/a"
		kernels 6.12
		paths @module
		lane b
		sets check
		run . "$SAY/b"
		paths other
		lane c
		sets ci
		run . "$SAY/c"
		paths module other
	END
	(cd "$tree" && git init -q && git add . && git -c user.name=x -c user.email=x commit -qm x)
}

# kept NAME COMMAND…: what the command makes of the source and its cache, which is made once and
# copied then; what the lanes a, b and c say, and their status, are in files beside it
kept()
{
	local lane

	rm -rf "$tree" "$cache"
	if [ -d "$tmp/kept.$1" ]; then
		cp -a "$tmp/kept.$1/." "$tmp"
	else
		"${@:2}"
		mkdir "$tmp/kept.$1"
		cp -a "$tree" "$cache" "$tmp/kept.$1"
	fi
	for lane in a b c; do
		echo 'echo 5 passed, 0 failed, 1 skipped' >"$tmp/$lane"
	done
}

# fresh: a source of which nothing is remembered; all_passed: one of which all is
fresh()
{
	kept fresh made
}

all_passed()
{
	kept passed all_pass
}

all_pass()
{
	fresh
	lanes quick check ci >"$tmp/first"
}

# lanes SET…: what they print; with a compiler that says its version
lanes()
{
	(cd "$tree" && SAY=$tmp PROFIL_CACHE=$cache PATH=$tree/bin:$PATH selftests/check.sh "$@" 2>&1)
}

# ran LANE…: these and no others run next, of all that there are; of those that are remembered
# where lint is not the first of them
ran()
{
	local all='check ci'

	[ "$1" != lint ] || all='quick check ci'
	# shellcheck disable=SC2086 # words
	diff <(lanes $all | sed -n 's/^\[.*\] \(.*\): started$/\1/p' | sort) <(printf '%s\n' "$@" | sort)
}

everything_runs_once()
{
	all_passed
	grep -qx '18 passed, 0 failed, 3 skipped' "$tmp/first" && ran lint
}

# the closing line counts what ran, the one above what is remembered
counts()
{
	all_passed
	lanes quick check ci >"$tmp/second" && tail -n 1 "$tmp/second" | grep -x '3 passed, 0 failed, 0 skipped' &&
		tail -n 2 "$tmp/second" | grep -x '15 tests of 3 lanes were not run: they are remembered' &&
		grep -qE '^\[ *[0-9:]+\] a: unchanged since it passed on 20[0-9-]+ [0-9:]+ \(5 tests\)$' "$tmp/second"
}

# after COMMAND LANE…: with all remembered, the command makes these run
after()
{
	all_passed
	(cd "$tree" && eval "$1") && ran "${@:2}"
}

fresh_runs_all()
{
	all_passed
	export FRESH=1
	ran lint a b c
}

# What is recorded is known elsewhere, to who asks for it; and not of another content.
recorded_elsewhere()
{
	all_passed
	echo '# a record' >"$tree/selftests/results"
	lanes --record || return
	rm -r "$cache/passed"
	cat "$tree/selftests/results"
	[ "$(wc -l <"$tree/selftests/results")" = 5 ] && lanes --results >"$tmp/out" &&
		[ "$(grep -c 'as it is now, on another machine$' "$tmp/out")" = 4 ] && (RECORDED=1 ran lint) || return
	rm -r "$cache/passed"
	ran lint a b c && rm -r "$cache/passed" && echo >>"$tree/other/code.c" && (RECORDED=1 ran lint b c) || return
	rm -r "$cache/passed"
	lanes --record && grep '^a ' "$tree/selftests/results" && [ "$(wc -l <"$tree/selftests/results")" = 2 ]
}

with_parameters()
{
	all_passed
	export APPEND=x
	ran a b c
}

# not_remembered WHAT-B-DOES [LANE…]: b runs again, and what else it has changed
not_remembered()
{
	fresh
	echo "$1" >"$tmp/b"
	lanes check ci
	[ ! -e "$cache/passed/b" ] && ran b "${@:2}"
}

# fails WHAT-B-DOES: one failure is counted
fails()
{
	fresh
	echo "$1" >"$tmp/b"
	! lanes b >"$tmp/out" && tail -n 1 "$tmp/out" | grep -E '^[04] passed, 1 failed, 0 skipped$'
}

# the first run that is told to end leaves nothing, not even its processes
interrupted()
{
	local pid

	fresh
	echo "echo \$\$ >$tmp/lane; exec sleep 1000" >"$tmp/b"
	rm -f "$tmp/lane"
	# one at a time: c does not begin while b goes on
	(cd "$tree" && SAY=$tmp AT_ONCE=1 PROFIL_CACHE=$cache PATH=$tree/bin:$PATH exec selftests/check.sh check ci >"$tmp/out" 2>&1) &
	pid=$!
	until [ -s "$tmp/lane" ] && [ -e "$cache/passed/a" ] && [ "$(ls "$cache/passed/a")" ]; do sleep 0.1; done
	kill -TERM "$pid"
	! wait "$pid" || return
	cat "$tmp/out"
	! kill -0 "$(cat "$tmp/lane")" 2>/dev/null && grep -q 'interrupted' "$tmp/out" || return
	echo 'echo 5 passed, 0 failed, 0 skipped' >"$tmp/b"
	ran b c
}

# a second run in the tree says who is there
one_at_a_time()
{
	local pid status=0

	fresh
	echo "echo >$tmp/lane; exec sleep 1000" >"$tmp/b"
	rm -f "$tmp/lane"
	(cd "$tree" && SAY=$tmp PROFIL_CACHE=$cache PATH=$tree/bin:$PATH exec selftests/check.sh b >"$tmp/out" 2>&1) &
	pid=$!
	until [ -e "$tmp/lane" ]; do sleep 0.1; done
	lanes a >"$tmp/second" || status=$?
	kill -TERM "$pid"
	! wait "$pid" && [ "$status" != 0 ] &&
		grep -qE '^check.sh: check.sh b \(process [0-9]+\) is running in this tree: ' "$tmp/second"
}

no_checkout()
{
	fresh
	rm -rf "$tree/.git"
	lanes check ci >/dev/null
	[ ! -e "$cache/passed" ] && ran a b c
}

names_what_there_is()
{
	fresh
	! lanes nonsense >"$tmp/out" && [ "$(wc -l <"$tmp/out")" = 1 ] && grep 'the sets are .*the lanes are lint a b c$' "$tmp/out"
}

no_room()
{
	fresh
	sed -i 's/^ROOM=.*/ROOM=999999999/' "$tree/selftests/check.sh"
	! lanes check >"$tmp/out" && [ "$(wc -l <"$tmp/out")" = 1 ] && grep 'MB are free where .*: make room' "$tmp/out"
}

disk_is_full()
{
	fresh
	cat >"$tmp/a" <<-'END'
		printf '#!/bin/sh\necho; echo - - - 5 -\n' >bin/df
		chmod +x bin/df
		echo write: No space left on device
		exit 1
	END
	! lanes check ci >"$tmp/out" && grep '^check.sh: the disk is full: make room, and the same command goes on' "$tmp/out"
	rm "$tree/bin/df"
}

# ENOSPC is an answer of the module's, too.
disk_is_not_full()
{
	fresh
	echo 'echo start: No space left on device; exit 1' >"$tmp/a"
	! lanes check ci >"$tmp/out" && ! grep 'the disk is full' "$tmp/out" && grep '^\[.*\] b: ' "$tmp/out"
}

declared()
{
	fresh
	lanes --bare a >"$tmp/out" && grep -qx code "$tmp/out"
}

undeclared()
{
	fresh
	sed -i 's,^run cat module/code.c;,run cat other/code.c \&\&,' "$tree/selftests/lanes"
	! lanes --bare a >"$tmp/out" && grep 'other/code.c: No such file' "$tmp/out"
}

# host_tests COUNTS STATUS LINE…: what the harness of the host tests makes of a program that
# prints these lines and ends so
host_tests()
{
	{
		printf '#!/bin/sh\ncat <<END\n'
		printf '%s\n' "${@:3}" END "$2"
	} >"$tmp/program"
	chmod +x "$tmp/program"
	[ "$(selftests/lib/prove.pl 1 "$tmp/program" | tee /dev/stderr | tail -n 1)" = "$1" ]
}

# each program that a mutant needs runs on its kernel, in its way to deliver, in some lane
mutants_have_lanes()
{
	selftests/check.sh --table | cut -f 5 >"$tmp/runs"
	awk -v quote="'" '
		function asked(of_lane) {
			if (params == "" || params ~ /^hook=/) # module_test.sh has the module use each hook
				return of_lane !~ /--params/
			return index(of_lane " ", "--params " (params ~ / / ? quote params quote : params) " ")
		}
		function has_lane(i) {
			for (i = 1; i <= n; i++)
				if (of[i] == (kernel == "" ? "6.12" : kernel) && asked(run[i]) &&
				    (index(run[i] " ", " " test[1] " ") || index(run[i] " ", " " test[1] ":" test[2] " ") ||
				     run[i] !~ /_test/))
					return 1
		}
		function judge() {
			if (patch != "" && !has_lane())
				missing = missing " " patch
		}
		function value() { return substr($0, length($1) + 2) }
		NR == FNR { run[++n] = $0; of[n] = $2; next }
		FNR == 1 { judge(); patch = FILENAME; sub(/.*\//, "", patch); kernel = params = test[1] = test[2] = "" }
		/^Test:/ { split(value(), test, " ") }
		/^Kernel:/ { kernel = $2 }
		/^Params:/ { params = value(); sub(/^ */, "", params) }
		END {
			judge()
			if (missing != "" || patch == "") {
				print "no lane runs what finds" missing
				exit 1
			}
		}' "$tmp/runs" selftests/race/mutants/*.patch
}

# a test that has another name now would not run, and no run be whole
replayed_tests_exist()
{
	local test TESTS=''

	eval "$(sed -n "/^TESTS='/,/'\$/p" selftests/race/replay.sh)"
	[ "$TESTS" ] || return 1
	for test in $TESTS; do
		grep -q "^TEST_F(race, $test)\$" selftests/kernel/race_test.c ||
			{ echo "there is no test $test"; return 1; }
	done
}

# what the table says of each lane: a reason, a set, paths that exist, kernels that it names
table()
{
	selftests/check.sh --table | awk -F '\t' '
		$2 == "" || $6 == "" || $4 == "" { print $1 ": a lane needs sets, paths and a reason"; bad = 1 }
		{ n = split($4, path, " "); for (i = 1; i <= n; i++) if (!there(path[i])) { print $1 ": there is no " path[i]; bad = 1 } }
		function there(name) { if (!(name in seen)) seen[name] = !system("test -e " name); return seen[name] }
		END { exit bad || NR < 10 }'
}

echo 'TAP version 13'
check 'the table has all that it should' table
check 'each mutant has a lane that runs its program' mutants_have_lanes
check 'each test that is replayed exists' replayed_tests_exist
check 'what has passed is not run again, lint is' everything_runs_once
check 'the closing line counts what ran' counts
check 'nothing touched, nothing runs' after true lint
check 'a file of the module makes those run that depend on it' after 'echo >>module/code.c' a c
check 'so does a new one' after 'echo >module/new.c' a c
check 'and one that goes' after 'rm module/code.c; touch module/x.c' a c
check 'and one that can be executed now' after 'chmod +x module/code.c' a c
check 'a document makes lint run alone' after 'echo >>README' lint
check 'a commit of the same content makes nothing run' after 'git -c user.name=x -c user.email=x commit -q --allow-empty -m x' lint
check 'content that was there before is remembered' after 'echo >>module/code.c; SAY=$tmp lanes check ci >/dev/null; git checkout -q .' lint
check 'another kernel image makes its lanes run' after 'echo another >"$cache/kernel"' a
check 'another compiler makes all run' after 'printf "%b\n" "#!/bin/sh\necho gcc version 2" >bin/gcc-12' a b c
check 'another command makes the lane run' after 'sed -i "/SAY.b/s/run/run :;/" selftests/lanes' b
check 'another runner makes all run' after 'echo >>selftests/check.sh' a b c
check 'parameters for the VM make all run' with_parameters
check 'FRESH=1 makes all run' fresh_runs_all
check 'a record of this content is for who asks for it' recorded_elsewhere
check 'a lane that broke after its tests has failed' fails 'echo 4 passed, 0 failed, 0 skipped; exit 1'
check 'so has one that does not count' fails 'echo all is well'
check 'a lane that failed is not remembered' not_remembered 'echo 4 passed, 1 failed, 0 skipped'
check 'nor one that broke after its tests' not_remembered 'echo 4 passed, 0 failed, 0 skipped; exit 1'
check 'nor one that does not count' not_remembered 'echo all is well'
check 'nor one of which nothing ran' not_remembered 'echo 0 passed, 0 failed, 4 skipped'
check 'nor one whose VM was lost' not_remembered 'kill -9 $$'
check 'nor one whose files were edited meanwhile' not_remembered 'echo >>other/code.c; echo 5 passed, 0 failed, 0 skipped' c
check 'a run that was interrupted leaves nothing and goes on' interrupted
check 'two runs in one tree do not mix' one_at_a_time
check 'nothing is remembered where nothing tells what belongs to the source' no_checkout
check 'an unknown lane is answered with those there are' names_what_there_is
check 'a disk without room is said before' no_room
check 'a disk that became full is said in the end' disk_is_full
check 'a test that speaks of a full disk ends no run' disk_is_not_full
check 'a lane finds what it declares' declared
check 'and nothing else' undeclared
check 'a host test that passes' host_tests '2 passed, 0 failed, 0 skipped' 'exit 0' 1..2 'ok 1 - a' 'ok 2 - b'
check 'one that fails' host_tests '1 passed, 1 failed, 0 skipped' 'exit 0' 1..2 'ok 1 - a' 'not ok 2 - b'
check 'one that is skipped has failed' host_tests '1 passed, 1 failed, 0 skipped' 'exit 0' 1..2 'ok 1 - a' 'ok 2 - b # SKIP no'
check 'but not where 32 bits are missing' host_tests '1 passed, 0 failed, 1 skipped' 'exit 0' \
	1..2 'ok 1 - a' 'ok 2 - b, with 32 bits # SKIP no'
check 'a host program that does less than its plan' host_tests '1 passed, 1 failed, 0 skipped' 'exit 0' 1..2 'ok 1 - a'
check 'one without a plan' host_tests '1 passed, 1 failed, 0 skipped' 'exit 0' 'ok 1 - a'
check 'one that dies' host_tests '2 passed, 1 failed, 0 skipped' 'kill -9 $$' 1..2 'ok 1 - a' 'ok 2 - b'
check 'one that fails after its tests' host_tests '2 passed, 1 failed, 0 skipped' 'exit 1' 1..2 'ok 1 - a' 'ok 2 - b'
check 'a real lane reads nothing that it does not declare' selftests/check.sh --bare 6.12-isolated
echo "1..$number"
echo "lanes: $((number - failed)) passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
