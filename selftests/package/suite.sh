#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Builds the packages in a release of Debian, installs them in another root of it, boots
# that twice, and takes them away; for packages.sh, in a mount namespace of its own.
#
#   selftests/package/suite.sh SUITE
#
# What was tested, and how it went, is in build/package/SUITE/*.tap.
#
# shellcheck disable=SC2317 # the tests are called by their names
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR
. "$here/roots.sh"
# shellcheck source-path=SCRIPTDIR
. "$here/inside.sh"
suite=$1
out=$BUILD/package/$suite
export TMPDIR=$out
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$TOP/selftests/lib/tap.sh"
tap_note=", in $suite"
build=$out/build system=$out/system image=$out/image
version=$(sed -n 's/^VERSION.*= //p' "$TOP/Makefile")

# step WHAT: how long the others took is seen, too, and what of that was work
step()
{
	local cpu

	times >"$out/times"
	cpu=$(tr ms '  ' <"$out/times" | awk '{ sum += 60 * ($1 + $3) + $2 + $4 } END { printf "%d", sum }')
	say "$suite: $1 ($SECONDS s, $cpu s of CPU time)"
}

builds()
{
	packages_in "$build"
}

# The same module once more, as the next version of its package.
next()
{
	dpkg-deb -R "$out"/packages/profil-dkms_*.deb "$tmp/next"
	sed -i 's/^Version: .*/&+next/' "$tmp/next/DEBIAN/control"
	mkdir "$system/srv/next"
	dpkg-deb --root-owner-group -b "$tmp/next" "$system/srv/next/profil-dkms.deb"
}

# fewer_drivers: depmod reads all that there are, and an initrd has most of them, each time
# that dkms or a kernel comes or goes; in a machine that is emulated this takes minutes
fewer_drivers()
{
	local folder

	for folder in sound drivers/{gpu,hid,iio,infiniband,input,media,mmc,mtd,net,scsi,staging,usb}; do
		rm -rf "$system"/usr/lib/modules/*/kernel/"$folder"
		echo "path-exclude=*/modules/*/kernel/$folder/*"
	done >"$system/etc/dpkg/dpkg.cfg.d/drivers"
	echo MODULES=list >"$system/etc/initramfs-tools/conf.d/modules"
	printf '%s\n' virtio_pci virtio_blk ext4 >>"$system/etc/initramfs-tools/modules"
	inside "$system" depmod "$before"
	inside "$system" update-initramfs -u -k "$before"
}

prepare()
{
	root "$suite" system "$system"
	mkdir -p "$system/srv/test" "$system/home/user"
	cp "$here"/guest/* "$TOP/selftests/lib/tap.sh" "$system/srv/test"
	cp -r "$out/packages" "$TOP/debian/tests" "$system/srv"
	next
	echo user:x:1000:1000::/home/user:/bin/bash >>"$system/etc/passwd"
	echo user:x:1000: >>"$system/etc/group"
	chown 1000:1000 "$system/home/user"
	mv "$system"/srv/test/*.service "$system/etc/systemd/system"
	ln -s ../profil-root.service "$system/etc/systemd/system/multi-user.target.wants"
	# the index of manual pages would be made at each installation, in the machine that is emulated, too
	rm -f "$system/var/lib/man-db/auto-update"
	read -r before newest <"$system/etc/kernels"
	fewer_drivers
}

# boot NUMBER KERNEL: with its own init, until it powers itself off; jobs that the system
# does at times would hold locks that ours need.  It takes 300 s of CPU time.  How long that
# is depends on what else this machine does.
boot()
{
	local status=0

	echo "BOOT=$1" >"$system/srv/test/boot"
	rm -f "$image"
	mke2fs -q -t ext4 -d "$system" "$image" 6G
	prlimit --cpu=1500 timeout --foreground -k 5 6000 \
		qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot \
		-M pc -m 1024 -smp 2 -accel tcg,thread=single -cpu max \
		-kernel "$system/boot/vmlinuz-$2" -initrd "$system/boot/initrd.img-$2" \
		-drive "file=$image,format=raw,if=virtio,cache=unsafe" \
		-serial "file:$out/console-$1.log" -serial "file:$tmp/user" -serial "file:$tmp/root" \
		-append "root=/dev/vda rw console=ttyS0,115200 loglevel=5 panic=-1 oops=panic mitigations=off no_timer_check systemd.show_status=0 \
			rcupdate.rcu_cpu_stall_timeout=100 watchdog_thresh=50 \
			systemd.mask=apt-daily.timer systemd.mask=apt-daily-upgrade.timer systemd.mask=man-db.timer \
			systemd.mask=dpkg-db-backup.timer systemd.mask=fstrim.timer systemd.mask=e2scrub_all.timer" \
		</dev/null || status=$?
	tr -d '\r' <"$tmp/user" >"$out/user-$1.tap"
	tr -d '\r' <"$tmp/root" >"$out/root-$1.tap"
	"$VM/splat.sh" "$out/console-$1.log" && return $status
}

# What one user wrote, Go's reader reads on this machine.
read_by_go()
{
	debugfs -R "dump /home/user/profile.pb.gz $tmp/profile.pb.gz" "$image"
	go tool pprof -top -nodecount=1 "$tmp/profile.pb.gz" | tee "$tmp/top"
	tail -n 1 "$tmp/top" | grep -w adler32_z
	go tool pprof -raw "$tmp/profile.pb.gz" | grep 'ticks'
}

step 'the root to build in'
root "$suite" build "$build"
step 'building'
check 'the packages are built, and lintian is silent' builds >"$out/build.tap"
plan >>"$out/build.tap"
[ -d "$out/packages" ] || exit
rm -r "$build"
step 'the root to boot'
prepare
step 'installing'
inside "$system" /srv/test/install.sh >"$out/install.tap"
step 'the first boot'
{
	tap_count=0
	check "$before boots and ends" boot 1 "$before"
	check "$before go tool pprof" read_by_go
	step "upgrading to $newest"
	inside "$system" /srv/test/upgrade.sh >"$out/upgrade.tap"
	step 'the second boot'
	check "$newest boots and ends" boot 2 "$newest"
	check "$newest go tool pprof" read_by_go
	plan
} >"$out/boot.tap"
rm "$image"
step 'bad input'
inside "$system" /srv/test/bad.sh >"$out/bad.tap"
step 'done'
