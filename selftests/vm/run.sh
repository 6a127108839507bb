#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Run a command in a virtual machine with the module loaded.
#
#   run.sh [OPTION…] -- COMMAND…
#
#   --kernel KERNEL	as kernels.sh knows them; $KERNEL, else 6.12
#   --cpus N, --mem MB, --timeout SECONDS (of the host, for the whole run)
#   --append STRING	more for the kernel's command line
#   --icount SHIFT	deterministic: time is the count of instructions; but with folders of the
#			host, waiting takes as long as it does there
#   --seed N		another chance with --icount, which is 1 if not given
#   --log FILE		a copy of the console's log there, whatever becomes of it
#   --module FILE	instead of the freshly built profil.ko; none for none
#   --params STRING	parameters for it
#   --dir FOLDER[:rw]	this folder of the host at the same path, and the
#			command's current folder
#   --root9p		the root folder of the host, read-only, as the command's
#   --add FILE:PATH	this file of the host at that path; not with --root9p
#   --tests FOLDER	what is found in /tests; the test programs built for this
#			machine if it is not given
#   --swap		16 MB of swap, on kernels that have a ram disk
#   --interactive	the command has this terminal, and all the time it wants
#
# The command may become the user "user".  What it prints, also as errors, is our output, and
# its status is ours if that is below 126; its input is empty.  125: it had another status,
# or the VM's memory was used up.  126: the kernel log has a splat, or the module did not
# load or go as it should.  127: the VM was lost.  130: interrupted.  ACCEL=tcg or kvm
# chooses how QEMU runs.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

kernel=${KERNEL:-6.12} cpus=${CPUS:-2} mem='' append=${APPEND:-} seconds=300 icount='' seed=1 copy=''
module='' params='' dir='' dirmode=ro adds=() interactive='' root9p='' swap='' tests=''
while [ $# -gt 1 ] && [ "$1" != -- ]; do
	case $1 in
	--interactive | --root9p | --swap)
		printf -v "${1#--}" 1
		shift
		continue
		;;
	--kernel) kernel=$2 ;;
	--cpus) cpus=$2 ;;
	--mem) mem=$2 ;;
	--append) append+=" $2" ;;
	--timeout) seconds=$2 ;;
	--icount) icount=$2 ;;
	--seed) seed=$2 ;;
	--log) copy=$2 ;;
	--module) module=$2 ;;
	--params) params=$2 ;;
	--dir)
		[ "$2" = "${2%:rw}" ] || dirmode=rw
		dir=$(cd "${2%:rw}" 2>/dev/null && pwd -P) ||
			die "there is no folder ${2%:rw} to run in: give another with DIR= or --dir"
		;;
	--add) adds+=("$2") ;;
	--tests) tests=$2 ;;
	*) die "unknown option $1: see the top of $0" ;;
	esac
	shift 2
done
if [ $# -lt 2 ]; then
	die "which command? see the top of $0"
fi
shift

# number NAME VALUE: what QEMU would take otherwise, or complain of in its own words
number()
{
	[[ $2 =~ ^[1-9][0-9]{0,8}$ ]] || die "$1=$2 is no number from 1 up: give $1=$3"
}
number CPUS "$cpus" 2
number MEM "${mem:-1}" 1024
number TIMEOUT "$seconds" 300

# quoted WORD…: for a shell that knows no more than POSIX
quoted()
{
	local word

	for word; do
		printf "'%s' " "${word//\'/\'\\\'\'}"
	done
}

lost()
{
	say "VM lost: $1; its console is in $2"
	exit 127
}

# interrupted: nothing of it goes on, and nothing is left of it
# shellcheck disable=SC2317 # a trap calls it
interrupted()
{
	trap '' INT TERM HUP
	[ ! "$child" ] || { kill "$child" && wait "$child"; } 2>/dev/null || true
	say 'interrupted, and so is what ran in the VM'
	exit 130
}

kernels()
{
	"$VM/kernels.sh" "$@"
}

# initramfs FILE: made anew for each run, which takes 0.2 s
initramfs()
{
	local root=$run/root add busybox

	busybox=$(kernels busybox "$kernel")
	! LC_ALL=C ldd "$busybox" >/dev/null 2>&1 ||
		die "$busybox is not static: apt-get install busybox-static"
	mkdir -p "$root"/{bin,etc,tests,vm/modules}
	cp "$busybox" "$root/bin/busybox"
	cp "$VM/init" "$root/init"
	printf '%s\n' root:x:0:0::/root:/bin/sh user:x:1000:1000::/home/user:/bin/sh >"$root/etc/passwd"
	printf '%s\n' root:x:0: user:x:1000: >"$root/etc/group"
	[ ! -d "$tests" ] || cp -r "$tests/." "$root/tests"
	[ "$module" = none ] || cp "$module" "$root/vm/module.ko"
	[ ! "$root9p$dir$swap" ] || cp -r "$(kernels modules "$kernel")/." "$root/vm/modules"
	for add in ${adds[@]+"${adds[@]}"}; do
		mkdir -p "$root/$(dirname "${add#*:}")"
		cp "${add%%:*}" "$root/${add#*:}"
	done
	cat >"$root/vm/env" <<-END
		OUT=$out VERDICT=$verdict INTERACTIVE=$interactive ROOT9P=$root9p DIRMODE=$dirmode SWAP=$swap
		TERMINAL=$(quoted "$([ ! "$interactive" ] || stty size)") TERM=$(quoted "${TERM:-linux}")
		NINEP=$(quoted "$NINEP") DIR=$(quoted "$dir")
		PARAMS=$(quoted "$params") COMMAND=$(quoted "$(quoted "$@")")
	END
	# the same input gives the same run under --icount, to the last instruction
	find "$root" -exec touch -hd @0 {} +
	(cd "$root" && find . | LC_ALL=C sort | cpio -o -H newc -R 0:0 --reproducible --quiet) >"$run/initramfs"
	rm -r "$root"
}

# accelerator ARGUMENT…: /dev/kvm may exist and not work; who has it boots once
# to a panic for the lack of an init, once for each boot of this machine
accelerator()
{
	local known

	known=$CACHE/kvm-$(cat /proc/sys/kernel/random/boot_id)
	if [ "${ACCEL:-}" ]; then
		echo "$ACCEL"
	elif [ ! -w /dev/kvm ] || [ "$kernel" = arm64 ] || [ "$icount" ]; then
		echo tcg
	else
		[ -e "$known" ] || if timeout -k 1 15 "$@" -accel kvm -cpu host </dev/null >/dev/null 2>&1 \
				-append "console=ttyS0,115200 panic=-1 rdinit=/none" &&
				grep -q 'Kernel panic' "$log"; then
			echo kvm >"$known"
		else
			echo tcg >"$known"
		fi
		cat "$known"
	fi
}

qemu=qemu-system-x86_64 cpu=max package=qemu-system-x86
console=ttyS0,115200 out=ttyS1 verdict=ttyS2
if [ "$kernel" = arm64 ]; then
	qemu=qemu-system-aarch64 cpu=cortex-a72 package=qemu-system-arm
	console=ttyAMA0 out=hvc0 verdict=vport
fi
need "$qemu" "$package"
need cpio cpio
need busybox busybox-static
kernels fetch "$kernel"
image=$(kernels image "$kernel")
if [ ! "$module" ]; then
	"$VM/module.sh" "$kernel"
	module=$(build_dir "$kernel")/profil.ko
fi
[ "$module" = none ] || [ -r "$module" ] || die "there is no module $module: check --module"
if own_kernel "$kernel"; then
	[ ! "$root9p$dir" ] || die "our own kernels have no PCI for --dir and --root9p: use KERNEL=6.12"
	# Of ACPI only the timer, at QEMU's address, is worth its time, and is
	# the only clock that a busy host does not spoil.  It has 24 bits, and begins
	# anew after 4.7 s: a busy VM that the host lets stand still for 4.1 to 4.7 s
	# hangs, as 6.12 then moves the next tick on, but not the time.  With
	# tsc=reliable one boot in eight had a clock that was 10 % slow.
	# With five levels of page tables and nohz_full, KASAN complains about an
	# interrupt early in its own boot.
	append="acpi=off pmtmr=0x608 tsc=unstable no_timer_check no5lvl $append"
fi
# of 4,000 accesses it would look at one, and where CPUs take turns few of these meet another
[ "$kernel" != kcsan ] || append="kcsan.skip_watch=400 $append"
if [ ! "$tests" ]; then
	tests=$BUILD/selftests
	[ "$kernel" != arm64 ] || tests+=-arm64
fi
mkdir -p "$BUILD/vm"
run=$(mktemp -d "$BUILD/vm/${kernel##*/}.XXXXXX")
log=$run/console.log
trap 'rm -rf "$run"' EXIT
initramfs "$@"

: "${mem:=$(own_kernel "$kernel" && echo 1024 || echo 512)}"
args=(-nodefaults -no-user-config -display none -no-reboot -m "$mem"
	-kernel "$image" -initrd "$run/initramfs"
	# without ACPI the kernel finds one CPU in each socket
	-smp "$cpus,sockets=$cpus,cores=1"
	-chardev "file,id=console,path=${log//,/,,}"
	-chardev "file,id=verdict,path=${run//,/,,}/verdict"
	-chardev "stdio,id=out,signal=$([ "$interactive" ] && echo off || echo on)")
if [ "$kernel" = arm64 ]; then
	args+=(-M 'virt,gic-version=3' -serial chardev:console -device virtio-serial-pci
		-device 'virtconsole,chardev=out' -device 'virtserialport,chardev=verdict,name=verdict')
else
	args+=(-M pc -serial chardev:console -serial chardev:out -serial chardev:verdict)
fi
# share NAME PATH OPTION
share()
{
	args+=(-fsdev "local,id=$1,path=${2//,/,,},$3,security_model=none,multidevs=remap"
		-device "virtio-9p-pci,fsdev=$1,mount_tag=$1")
}
[ ! "$root9p" ] || share hostroot / readonly=on
if [ "$dir" ]; then
	share hostdir "$dir" "readonly=$([ $dirmode = ro ] && echo on || echo off)"
fi
accel=$(accelerator "$qemu" "${args[@]}")
case $accel in
tcg)
	# with a thread for each CPU, kernels that patch themselves crash now and then
	accel=tcg,thread=single
	;;
kvm) cpu=host ;;
esac
if [ "$icount" ]; then
	[ "$kernel" = arm64 ] || cpu+=,-rdrand,-rdseed
	append="random.trust_bootloader=off $append"
	# A VM that has nothing to do leaps to its next timer.  While it waits for a file of the host
	# minutes would pass so; there, time goes on as the host's does.
	idle=$([ "$root9p$dir" ] && echo on || echo off)
	args+=(-icount "shift=$icount,sleep=$idle" -rtc 'base=2026-01-01,clock=vm' -seed "$seed")
fi
if [ ! "$icount" ]; then
	# a host that stalls is neither a stall of the kernel's nor a broken timer
	append="rcupdate.rcu_cpu_stall_timeout=100 watchdog_thresh=50 workqueue.watchdog_thresh=100 $append"
	[ "$kernel" = arm64 ] || append="no_timer_check $append"
fi
args+=(-accel "$accel" -cpu "$cpu"
	-append "console=$console loglevel=5 panic=-1 oops=panic nokaslr mitigations=off $append")

rc=0 child=''
trap interrupted INT TERM HUP
# --foreground: QEMU stays in our group, which is ended as one
if [ "$interactive" ]; then
	"$qemu" "${args[@]}" 2>"$run/qemu.log" || rc=$?
else
	timeout --foreground -k 5 "$seconds" "$qemu" "${args[@]}" </dev/null 2>"$run/qemu.log" &
	child=$!
	wait "$child" || rc=$?
fi
[ -e "$log" ] || die "QEMU did not start: $(tail -n 1 "$run/qemu.log")"
trap - EXIT INT TERM HUP
rm "$run/initramfs"
[ ! "$copy" ] || cp "$log" "$copy"

splat=$("$VM/splat.sh" "$log") || {
	say "the kernel log has a splat: ${splat%%$'\n'*}; all of it is in $log"
	exit 126
}
victim=$(sed -n 's/.*Out of memory: Killed process [0-9]* (\([^)]*\)).*/\1/p' "$log" | head -n 1)
if [ "$victim" ]; then
	rm -r "$run"
	say "the VM's memory was used up, and its kernel ended $victim: give it more than $mem MB with MEM="
	exit 125
fi
case $rc in
0) ;;
124 | 137) lost "it was still running after $seconds s: give it more with TIMEOUT=" "$log" ;;
*) lost "QEMU ended with status $rc: $(tail -n 1 "$run/qemu.log")" "$log" ;;
esac
read -r word status problem < <(tr -d '\r' <"$run/verdict") || true
[ "$word" = verdict ] || lost 'it died before it gave its verdict' "$log"
[ ! "$problem" ] || { say "$problem; the console of the VM is in $log" && exit 126; }
rm -r "$run"
[ "$status" -le 125 ] || { say "the command ended with status $status" && exit 125; }
exit "$status"
