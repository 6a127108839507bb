#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# In a root that does not run: what goes wrong when the module is installed ends in a state
# that apt, or the line that it prints, gets out of; and what Debian tests of it.
#
# shellcheck disable=SC2317 # the tests are called by their names
set -eu
# shellcheck source-path=SCRIPTDIR source=lib.sh
. /srv/test/lib.sh

purged_before()
{
	local name

	files_of profil-dkms
	grep /usr/src/profil "$tmp/files"
	apt purge profil-dkms
	clean
	while read -r name; do
		[ ! -f "$name" ] || { echo "$name"; return 1; }
	done <"$tmp/files"
	none find /var/lib/dkms/profil
	none modprobe -S "$newest" -n profil
}

# Else dkms builds for each of two kernels, each time.
one_kernel()
{
	apt purge "linux-headers-$before"
	purged_before
}

install()
{
	apt install /srv/packages/profil-dkms_*.deb
}

mended()
{
	apt -f install
	clean
	built "$newest"
}

# As for a kernel that it cannot be built for.
build_fails()
{
	mkdir -p /etc/dkms
	echo 'MAKE[0]="false"' >/etc/dkms/profil.conf
	none install
	said 'not installed: dkms failed, .*'
	rm /etc/dkms/profil.conf
	mended
}

full_var()
{
	purged_before
	mount -t tmpfs -o size=300k,mode=755 full /var/lib/dkms
	none install
	mount -o remount,size=100m /var/lib/dkms
	mended
	# what was made there has to stay
	cp -a /var/lib/dkms /var/lib/dkms.full
	# what dkms prints dots with may sleep in a folder there for a moment longer
	umount --lazy /var/lib/dkms
	rm -r /var/lib/dkms
	mv /var/lib/dkms.full /var/lib/dkms
}

# A new kernel fits, and its initrd does not; that is not our package's fault, and there is a
# module when apt has ended what it began.  The module is built for another kernel, too: dkms
# of Debian 12 forgets one that is built for none.
full_boot()
{
	local size

	size=$(du -ck --exclude='initrd*' /boot/*"-$newest" | tail -n 1 | cut -f 1)
	apt purge "linux-image-$newest" linux-image-amd64
	mount -t tmpfs -o "size=$((size + 1000))k" full /boot
	none apt install "linux-image-$newest"
	mount -o remount,size=100m /boot
	mended
	umount /boot
}

# Killed while the compiler runs, as by a reset: with all that it has started.
interrupted()
{
	local group

	purged_before
	setsid apt-get -y install /srv/packages/profil-dkms_*.deb >"$tmp/interrupted" 2>&1 &
	group=$!
	until [ -e /var/lib/dkms/profil ] && find /var/lib/dkms/profil/ -name '*.o' | grep -q .; do
		kill -0 $group
		sleep 0.1
	done
	kill -9 -- -$group
	wait $group || :
	none apt -f install
	grep -F 'dpkg --configure -a' "$tmp/apt"
	dpkg --configure -a
	mended
}

# What Debian's machines run of each package of dkms.  It installs by name, from an archive.
dkms_autopkgtest()
{
	local list=/etc/apt/sources.list.d/profil.list

	(cd /srv/packages && dpkg-scanpackages . >Packages)
	echo 'deb [trusted=yes] file:/srv/packages ./' >$list
	apt-get update -o Dir::Etc::sourcelist=$list -o Dir::Etc::sourceparts=- -o APT::Get::List-Cleanup=0
	cd "$tmp"
	/usr/lib/dkms/dkms-autopkgtest profil-dkms 2>&1 | tee summary
	rm $list
	grep '^I: PASS ' summary | grep -F " $newest"
	[ "$(grep -c '^I: \(PASS\|SKIP\|FAIL\) ' summary)" = 1 ]
}

check 'bad: /boot is full' full_boot
check 'bad: purged' one_kernel
check 'bad: dkms cannot build' build_fails
check 'bad: /var is full' full_var
check 'bad: apt is killed' interrupted
check 'bad: purged once more' purged_before
check 'dkms-autopkgtest' dkms_autopkgtest
check 'bad: purged at the end' purged_before
plan
