#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Do the runner, the scanner and the count of tests notice what they are for?
# Each bug of plant/plant.c is committed in a VM, and has to be reported.
#
#   selfcheck.sh		TAP on stdout; on a stock kernel
#   selfcheck.sh debug		the bugs that it does not notice, on the debug kernel
#   selfcheck.sh kcsan		and races
#   selfcheck.sh fuzz		what the fuzzer's kernel has to notice
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

kernel=${1:-6.12}
case $kernel in
6.12 | debug | kcsan | fuzz) ;;
*) die "there are no planted bugs for the kernel $kernel: see the top of $0" ;;
esac
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
n=0

# check NAME STATUS OUTPUT COMMAND…: it ends with that status, and what it
# prints matches, or is nothing if OUTPUT is.  Two at a time; the results are printed in order at the end.
check()
{
	n=$((n + 1))
	[ "$(jobs -rp | wc -l)" -lt 2 ] || wait -n || true
	judge "$tmp/$(printf %02d $n)" "$n" "$@" &
}

judge()
{
	local file=$1 number=$2 name=$3 status=$4 pattern=$5 rc=0 matches='' log

	shift 5
	"$@" >"$file.out" 2>&1 </dev/null || rc=$?
	grep -qE "${pattern:-.}" "$file.out" && matches=1
	if [ "$rc" = "$status" ] && [ "$matches" = "${pattern:+1}" ]; then
		echo "ok $number - $name" >"$file"
		# the log of a planted bug is of no use to anybody
		log=$(sed -n 's,.* is in \(.*\)/console.log$,\1,p' "$file.out")
		[ ! "$log" ] || rm -r "$log"
	else
		{
			echo "not ok $number - $name"
			echo "# wanted status $status and \"$pattern\", got $rc and:"
			sed 's/^/#   /' "$file.out"
		} >"$file"
	fi
}

# plant BUG SECONDS COMMAND…
plant()
{
	"$VM/run.sh" --kernel "$kernel" --module "$BUILD/k/$kernel/plant.ko" --params "bug=$1" --timeout "$2" -- "${@:3}"
}

# scan LINE…: as a log that has them among others
scan()
{
	printf '%s\n' '[    0.100000] Command line: oops=panic' 'BUG: said by a program' \
		'[    0.200000] clean' "$@" '[    0.400000] clean' >"$tmp/log.$BASHPID"
	"$VM/splat.sh" "$tmp/log.$BASHPID"
}

# count N LINE…
count()
{
	printf '%s\n' "${@:2}" >"$tmp/tap.$BASHPID"
	"$VM/ktap.sh" 6.12 "$1" "$tmp/tap.$BASHPID"
}

# run OPTION…: of run.sh, without a module
run()
{
	"$VM/run.sh" --kernel "$kernel" --module none --timeout 600 "$@"
}

# stopped: run.sh is ended, it alone, once QEMU runs; nothing of it is left
stopped()
{
	local pid rc=0 mark=stopped.$BASHPID folder=''

	"$VM/run.sh" --kernel "$kernel" --module none --append "mark=$mark" -- sleep 600 &
	pid=$!
	until [ "$folder" ]; do
		sleep 0.2
		folder=$(pgrep -af "^qemu.*mark=$mark" | sed 's,.*-initrd \([^ ]*\)/initramfs.*,\1,')
		kill -0 $pid
	done
	kill $pid
	wait $pid || rc=$?
	! pgrep -f "^qemu.*mark=$mark" || rc=1
	[ ! -e "$folder" ] || rc=2
	return $rc
}

# starved STUB COMMAND…: with an apt-get that does what the shell commands STUB do, in an
# empty cache, where nothing half made stays
starved()
{
	local own=$tmp/starved.$BASHPID rc=0

	mkdir -p "$own/bin" "$own/cache"
	printf '#!/bin/sh\ncase "$*" in *print-uris*) exec %s "$@" ;; esac\n%s\n' "$(command -v apt-get)" "$1" >"$own/bin/apt-get"
	chmod +x "$own/bin/apt-get"
	PATH=$own/bin:$PATH PROFIL_CACHE=$own/cache "${@:2}" || rc=$?
	# the part of it that makes a kernel ends by itself
	flock "$own/cache/lock.kernel-6.12" true
	! find "$own/cache" -name 'tmp.*' | grep . || rc=99
	return $rc
}

# setup STUB [TERMINAL ANSWER]: with such an apt-get, and no package
setup()
{
	local own=$tmp/setup.$BASHPID

	mkdir -p "$own"
	printf '#!/bin/sh\nexit 1\n' >"$own/dpkg-query"
	printf '#!/bin/sh\ncase "$*" in *print-uris*) exit ;; esac\n%s\n' "$1" >"$own/apt-get"
	printf '#!/bin/sh\necho 0\n' >"$own/id"
	printf '#!/bin/sh\n' >"$own/find"
	chmod +x "$own"/*
	if [ $# = 1 ]; then
		PATH=$own:$PATH "$TOP/selftests/setup.sh" vm
	else
		env -u YES PATH="$own:$PATH" script -qec "$TOP/selftests/setup.sh vm" /dev/null <<<"$2"
	fi
}

# of_make TARGET VARIABLE=VALUE…
of_make()
{
	make -s -C "$TOP" "$@"
}

# full COMMAND…: where 7 MB are free, as df has it
full()
{
	mkdir -p "$tmp/full"
	printf '#!/bin/sh\necho Filesystem\necho x 9 2 7\n' >"$tmp/full/df"
	chmod +x "$tmp/full/df"
	PATH=$tmp/full:$PATH "$@"
}

# no_mount COMMAND…: with a blank in the cache's name, where nobody may have a namespace
no_mount()
{
	mkdir -p "$tmp/no_mount" "$tmp/a cache"
	printf '#!/bin/sh\necho "unshare: unshare failed: Operation not permitted" >&2\nexit 1\n' >"$tmp/no_mount/unshare"
	chmod +x "$tmp/no_mount/unshare"
	PATH=$tmp/no_mount:$PATH PROFIL_CACHE="$tmp/a cache" "$@"
}

# terminal: as "make vm" has it, of 27 rows and 91 columns, for more than its line holds at a time
terminal()
{
	# At the end of its input, script may lose output: so this one has no end.
	mkfifo "$tmp/keys"
	TERM=screen script -qec "stty rows 27 cols 91; $VM/run.sh --kernel $kernel --module none \
		--interactive -- sh -c 'seq 1000; echo \$(stty size) \$TERM'" /dev/null <>"$tmp/keys"
}

# headers VERSION: of an image that says it is that, and is longer than a pipe
headers()
{
	{
		head -c $((0x20e)) /dev/zero
		printf '\0\3'
		head -c $((0x500 - 0x210)) /dev/zero
		printf '%s (x@y) #1\0' "$1"
		head -c 300000 /dev/zero
	} >"$tmp/image"
	"$VM/kernels.sh" headers "$tmp/image"
}

stock()
{
	local splat race=('[    0.300000] ==========' '[    0.300000] BUG: KCSAN: data-race in f / g'
		'[    0.300000] read to 0x2 of 8 bytes by interrupt on cpu 1:'
		'[    0.300000]  f+0x1/0x2' '[    0.300000] hardirqs last enabled at (1): [<0>] profil_g+0x1/0x2 [profil]')
	local other=('[    0.300000] write to 0x2 of 8 bytes by task 1 on cpu 0:') mine='[    0.300000]  profil_g+0x1/0x2 [profil]'
	local fault=('[    0.300000]  handle_mm_fault+0x1/0x2')
	local alone=('# boot: cpus=1 highres=1' '# selftests: profil: timer_test' '# 1..1'
		'# ok 1 timer.goes_on_while_a_cpu_goes_and_comes # SKIP no' 'ok 1 selftests: profil: timer_test')
	local good=('# selftests: profil: a_test' '# 1..2' '# ok 1 x.a' '# ok 2 x.b' 'ok 1 selftests: profil: a_test')

	check 'a clean run' 0 '^hi$' plant none 600 echo hi
	check 'a failing command' 3 '^hi$' plant none 600 sh -c 'echo hi; exit 3'
	check 'a warning' 126 'planted|WARNING' plant warn 600 true
	check 'an oops' 126 'NULL pointer' plant oops 600 true
	check 'a task that waits for ever' 126 'blocked for more than' plant hung 600 \
		sh -c 'echo 5 >/proc/sys/kernel/hung_task_timeout_secs; sleep 600'
	check 'a hang' 127 'VM lost.*still running' plant hang 60 true
	check 'a command that ends the VM' 127 'VM lost.*died' plant none 600 reboot -f
	check 'a module that stays' 126 'rmmod plant failed' plant stay 600 true
	check 'a module that does not load' 126 'insmod failed' plant nonsense 600 true
	check 'an image without its headers' 1 'apt-get install linux-headers-9.9.9-none$' headers 9.9.9-none

	mkdir -p "$tmp/it's a,b"
	echo there >"$tmp/there"
	check 'a folder with a quote, blank and comma in its name' 0 "it's a,b there\$" \
		run --root9p --dir "$tmp/it's a,b:rw" -- sh -c "echo \$(pwd) \$(cat $tmp/there)"
	check 'a folder that is not there' 1 "^run.sh: there is no folder /nonexistent to run in: give another with DIR= or --dir" \
		run --dir /nonexistent -- true
	check 'a number of CPUs that is none' 1 'CPUS=0 is no number from 1 up: give CPUS=2$' run --cpus 0 -- true
	check 'an amount of memory that is none' 1 'MEM=1G is no number' run --mem 1G -- true
	check 'a kernel that is not there' 1 '^kernels.sh: there is no kernel 9.9: give ' \
		env KERNEL=9.9 CMD=true "$VM/shell.sh" --run
	check 'a time limit that make is given' 127 'after 9 s: give it more with TIMEOUT=' \
		env TIMEOUT=9 CMD='sleep 600' "$VM/shell.sh" --run
	check 'a program that takes all memory' 125 'memory was used up, and its kernel ended tail: give it more than 256 MB' \
		env MEM=256 CMD='head -c 1000m /dev/zero | tail | wc -c' "$VM/shell.sh" --run
	check 'a shell without a terminal' 1 "no terminal for a shell: for one command, make vm-run" "$VM/shell.sh"
	check 'a shell in a terminal of that size' 0 '^27 91 screen' terminal
	check 'an interrupt' 130 '^run.sh: interrupted' stopped
	check 'no network for the lists' 1 'not reached: check the network' \
		starved 'echo "W: Temporary failure resolving x" >&2; exit 100' "$VM/kernels.sh" fetch 6.12
	check 'a full disk for the lists' 1 'disk is full .*PROFIL_CACHE$' \
		starved 'echo "E: Write error - write (28: No space left on device)" >&2; exit 100' "$VM/kernels.sh" fetch 6.12
	check 'an interrupted download' 124 'reading the package lists' \
		starved 'exec sleep 600' timeout 30 "$VM/kernels.sh" fetch 6.12
	check 'no network for packages' 1 'mirror is not reached: check the network, or run this' \
		setup 'echo "E: Temporary failure resolving x" >&2; exit 100'
	check 'a full disk for packages' 1 'the disk is full: make room' \
		setup 'echo "E: You don'"'"'t have enough free space in x." >&2; exit 100'
	check 'another apt' 1 'another apt is at work: wait' setup 'echo "E: Could not get lock x." >&2; exit 100'
	check 'packages whose installation is interrupted' 130 '^setup.sh: interrupted$' setup 'exit 130'
	check 'packages of a size that apt cannot tell' 1 'how large they are is not known until the package lists are read' \
		setup 'exit 0' n
	check 'packages that root does not want' 1 'install them\? \[y/N\]' setup 'exit 0' n
	check 'packages that root wants' 0 'setup.sh: installed' setup 'exit 0' y
	check 'a full disk for what is built' 1 '^shell.sh: only 7 MB are free where .* is: make room, 100 MB are needed$' \
		full env CMD=true "$VM/shell.sh" --run
	check 'a full disk for the demonstration' 1 '^demo.sh: only 7 MB are free where .* is: make room' \
		full "$TOP/selftests/demo/demo.sh"
	check 'a blank in a path, for make' 2 'there is a blank in ".*/a b", which make and kbuild cannot take' \
		of_make lib PREFIX="$tmp/a b"
	check 'a blank in a path, for the command' 2 'there is a blank in ".*/a b", which make and kbuild cannot take' \
		of_make tool PREFIX="$tmp/a b"
	check 'a blank in a path, where nobody may mount' 1 '^kernels.sh: there is a blank in .*/a cache, and .*: name a folder without one in PROFIL_CACHE$' \
		no_mount "$VM/kernels.sh" here 6.12

	check 'a log of a VM that had no time to say a word' 0 '' "$VM/splat.sh" /dev/null
	check 'a log without splats' 0 '' scan '[    0.300000] clean'
	while read -r splat; do
		check "a log with \"$splat\"" 1 "^${splat:0:20}" scan "[    0.300000] $splat"
	done <<-'END'
		BUG: KASAN: slab-use-after-free in f+0x1/0x2
		BUG: sleeping function called from invalid context at a.c:1
		WARNING: possible circular locking dependency detected
		WARNING: suspicious RCU usage
		INFO: task a:1 blocked for more than 120 seconds.
		rcu: INFO: rcu_preempt self-detected stall on CPU
		Oops: general protection fault, probably for non-canonical address
		unreferenced object 0xff11000004d197c0 (size 8):
		Kernel panic - not syncing: x
	END
	check 'a log with a race of the module' 1 '^BUG: KCSAN' \
		scan "${race[@]}" "${other[@]}" "$mine" "${race[0]}"
	check 'a log with a race that the module made twice' 1 '^BUG: KCSAN' scan "${race[@]}" "$mine" "${other[@]}" \
		'[    0.300000]  f+0x1/0x2' "$mine"
	check 'a log with a race that the module made once' 0 '' scan "${race[@]}" "$mine" "${other[@]}" \
		'[    0.300000]  f+0x1/0x2' "${race[0]}"
	check 'a log with a race in an interrupt of the module' 0 '' scan "${race[@]}" \
		'[    0.300000]  asm_x+0x1/0x2' "$mine" "${race[0]}"
	check 'a log with a race in pages that the module asked for' 0 '' scan "${race[@]}" "${fault[@]}" "$mine" \
		"${other[@]}" '[    0.300000]  f+0x1/0x2' "${fault[@]}" "$mine" "${race[0]}"
	check 'a log with a race in pages that are the module'"'"'s' 1 '^BUG: KCSAN' scan "${race[@]}" "${fault[@]}" \
		"${other[@]}" "$mine" "${fault[@]}" "${race[0]}"
	check 'a log with a race of the kernel' 0 '' scan "${race[@]}" "${race[0]}"
	check 'a log with a splat in a race of the kernel' 1 '^INFO' \
		scan "${race[@]}" '[    0.300000] INFO: task a:1 blocked' "${race[0]}"
	check 'a log with a trace for want of memory' 0 '' scan '[    0.300000] a invoked oom-killer: x' \
		'[    0.300000] Call Trace:'
	check 'a log with a trace of a write to memory of userfaultfd' 0 '' \
		scan '[    0.300000] FAULT_FLAG_ALLOW_RETRY missing 881' '[    0.300000] Call Trace:'
	check 'a log with a trace after that' 1 '^Call Trace' scan '[    0.300000] FAULT_FLAG_ALLOW_RETRY missing 881' \
		'[    0.300000] Call Trace:' '[    0.300000] Call Trace:'

	check 'a suite that passes' 0 '^2 0 0$' count 1 "${good[@]}"
	check 'a test that fails' 0 '^1 1 0$' count 1 "${good[@]/#\# ok 2/\# not ok 2}"
	check 'a test that is skipped' 0 '^1 1 0$' count 1 "${good[@]/%x.b/x.b \# SKIP no}"
	check 'a test that is skipped for want of a CPU' 0 '^0 0 1$' count 1 "${alone[@]}"
	check 'a test that is skipped and has the CPU' 0 '^0 1 0$' count 1 "${alone[@]/cpus=1/cpus=11}"
	check 'a program that dies without a plan' 0 '^0 1 0$' count 1 "${good[0]}" \
		'not ok 1 selftests: profil: a_test # exit=139'
	check 'a program that dies between its tests' 0 '^1 1 0$' count 1 "${good[@]:0:3}" \
		'not ok 1 selftests: profil: a_test # exit=139'
	check 'a program that fails after its tests' 0 '^2 1 0$' count 1 "${good[@]:0:4}" \
		'not ok 1 selftests: profil: a_test # exit=1'
	check 'a VM that dies in a program' 0 '^1 2 0$' count 1 "${good[@]:0:3}"
	check 'programs on a CPU that is left alone' 1 'nohz_full=tick$' \
		"$VM/suite.sh" "$kernel" --append nohz_full=1 --params nohz_full=leave timer_test
	check 'a program that does not run' 0 '^2 1 0$' count 2 "${good[@]}"
}

debug()
{
	check 'a clean run' 0 '^hi$' plant none 600 echo hi
	check 'a use after free' 126 'KASAN' plant uaf 600 true
	check 'a write beyond an object' 126 'KASAN' plant oob 600 true
	check 'freeing an active timer' 126 'ODEBUG' plant timer 600 true
	check 'an inversion of locks' 126 'possible circular' plant locks 600 true
	check 'sleeping in atomic context' 126 'sleeping function' plant sleep 600 true
	check 'a leak' 126 'memory leak' plant leak 600 true
}

kcsan()
{
	check 'a clean run' 0 '^hi$' plant none 600 echo hi
	check 'marked accesses of two CPUs' 0 '^hi$' plant marked 600 echo hi
	check 'two CPUs that take turns' 0 '^hi$' plant released 600 echo hi
	check 'a race of two CPUs' 126 'KCSAN: data-race in plant_racer ' plant race 600 true
	check 'a turn without a barrier' 126 'KCSAN: data-race in plant_not_released ' plant barrier 600 true
	check 'an inversion of locks' 126 'possible circular' plant locks 600 true
	check 'sleeping in atomic context' 126 'sleeping function' plant sleep 600 true
}

fuzz()
{
	check 'a clean run' 0 '^hi$' plant none 600 echo hi
	check 'an oops' 126 'Oops' plant oops 600 true
	check 'a use after free' 126 'KASAN' plant uaf 600 true
	check 'a write beyond an object' 126 'KASAN' plant oob 600 true
	check 'sleeping in atomic context' 126 'sleeping function' plant sleep 600 true
}

PLANT=1 "$VM/module.sh" "$kernel"
"$VM/kernels.sh" fetch "$kernel"
case $kernel in
debug | kcsan | fuzz) "$kernel" ;;
*) stock ;;
esac
wait
echo 'TAP version 13'
echo "1..$n"
cat "$tmp"/[0-9][0-9]
passed=$(cat "$tmp"/[0-9][0-9] | grep -c '^ok') || true
echo "selfcheck $kernel: $passed passed, $((n - passed)) failed, 0 skipped"
[ "$passed" = "$n" ]
