#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the package profil-watch has systemd do when it is installed, upgraded, removed and
# purged: its scripts as debhelper makes them, with all that they ask the system planted.  And
# how profil-dkms has it load the module.
#
# shellcheck disable=SC2317 # the tests are called by their names
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$here/../lib/tap.sh"

root=$tmp/root bin=$tmp/bin source=$tmp/source

made() {
	mkdir -p "$source" "$bin"
	cp -r "$top/debian" "$source"
	cd "$source"
	debian/rules override_dh_installsystemd
	dh_installdeb -pprofil-watch
	# shellcheck disable=SC2016 # expanded there
	printf '#!/bin/sh\necho "${0##*/} $*" >>%s\n' "$tmp/asked" >"$bin/deb-systemd-invoke"
	printf '#!/bin/sh\nexit 0\n' >"$bin/systemctl"
	cp "$bin/systemctl" "$bin/deb-systemd-helper"
	chmod +x "$bin"/*
}

# run SCRIPT ARGUMENT…: in a machine with systemd, and nothing of this one is touched; what it
# asks of services is in the file asked
run() {
	local script=$source/debian/profil-watch/DEBIAN/$1

	mkdir -p "$root/run/systemd/system"
	: >"$tmp/asked"
	# a package may do without
	[ -e "$script" ] || return 0
	sed -E "s,(^|[^[:alnum:]/._-])/(run|var)\>,\1$root/\2,g" "$script" >"$tmp/script"
	DPKG_ROOT='' PATH=$bin:$PATH sh "$tmp/script" "${@:2}"
	cat "$tmp/asked"
}

asked() {
	[ "$(cat "$tmp/asked")" = "$1" ]
}

nothing_starts() {
	run preinst install
	asked ''
	run postinst configure ''
	asked ''
}

# Only try-restart leaves one alone that does not run, enabled or not.
goes_on() {
	run prerm upgrade 2.0
	asked ''
	run preinst upgrade 1.0
	asked ''
	run postinst configure 1.0
	asked 'deb-systemd-invoke try-restart profil-watch.service'
}

ends() {
	run prerm remove
	asked 'deb-systemd-invoke stop profil-watch.service'
}

# As systemd makes them for a user that exists only while the service runs.
purged() {
	local folder

	for folder in lib cache; do
		mkdir -p "$root/var/$folder"/{private/profil-watch,private/other}
		touch "$root/var/$folder/private/profil-watch/file"
		ln -s private/profil-watch "$root/var/$folder/profil-watch"
	done
	run postrm remove
	[ -e "$root/var/lib/profil-watch/file" ]
	[ -e "$root/var/cache/profil-watch/file" ]
	run postrm purge
	find "$root/var" -name 'profil-watch*' | tee "$tmp/left"
	[ ! -s "$tmp/left" ]
	[ "$(find "$root/var" -name other | wc -l)" = 2 ]
	run postrm purge
}

# A module that is missing or refused must not be a unit that failed.
at_boot() {
	local system=$source/debian/profil-dkms/usr/lib/systemd/system

	cd "$source"
	dh_install -pprofil-dkms
	find debian/profil-dkms -name modules-load.d | tee "$tmp/left"
	[ ! -s "$tmp/left" ]
	[ "$(sed -n 's/^Wants=//p' "$system/sysinit.target.d/profil.conf")" = modprobe@profil.service ]
	grep -E '^ExecStart=-[^ ]*modprobe ' '/usr/lib/systemd/system/modprobe@.service'
	cp /usr/lib/systemd/system/sysinit.target "$system"
	systemd-analyze verify --man=no "$system/sysinit.target" 2>&1 | tee "$tmp/verify"
	[ "$(grep -c 'sysinit.target.d' "$tmp/verify")" = 0 ]
	# that it would say so
	echo 'Planted=1' >>"$system/sysinit.target.d/profil.conf"
	systemd-analyze verify --man=no "$system/sysinit.target" 2>&1 | grep 'sysinit.target.d'
}

check 'profil-watch: debhelper makes its scripts' made
check 'profil-watch: off until somebody turns it on' nothing_starts
check 'profil-watch: after an upgrade it runs again if it ran' goes_on
check 'profil-watch: it ends when the package is removed' ends
check 'profil-watch: what it wrote goes when the package is purged, and not before' purged
check 'profil-dkms: at boot, the module is asked for, and not required' at_boot
plan
