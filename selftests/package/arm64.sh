#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The packages of arm64: cross-built in a root of Debian 13; the module that they bring the
# source of, the command and the library run in a machine of arm64.  It needs to be root.
#
# shellcheck disable=SC2317 # the tests are called by their names
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR
. "$here/roots.sh"
# shellcheck source-path=SCRIPTDIR
. "$here/inside.sh"
[ "$(id -u)" = 0 ] || die 'a Debian root can only be made by root: sudo selftests/package/arm64.sh'
need mmdebstrap mmdebstrap
out=$BUILD/package/arm64
rm -rf --one-file-system "$out"
mkdir -p "$out"
# mounts go with this script; it begins anew where they are its own
[ "${PROFIL_MOUNTS:-}" ] || PROFIL_MOUNTS=1 exec unshare --mount "$0"
export TMPDIR=$out
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$TOP/selftests/lib/tap.sh"
tap_note=', arm64'
build=$out/build system=$out/system
version=$(sed -n 's/^VERSION.*= //p' "$TOP/Makefile")

builds()
{
	packages_in "$build" -a arm64
}

# Whoever has arm64 has no other names of packages, and no other files but the library's.
as_on_amd64()
{
	local package

	for package in profil libprofil1 libprofil-dev; do
		dpkg-deb -c "$out/packages/${package}_$version-1_arm64.deb"
		[ "$(dpkg-deb -f "$out/packages/${package}_$version-1_arm64.deb" Architecture)" = arm64 ]
	done
	[ -e "$out/packages/profil-dkms_$version-1_all.deb" ]
	dpkg-deb --fsys-tarfile "$out/packages/profil_$version-1_arm64.deb" | tar -xOf - ./usr/bin/profil >"$tmp/profil"
	readelf -h "$tmp/profil" | grep -E 'Machine: +AArch64'
	readelf -l "$tmp/profil" | grep -F /lib/ld-linux-aarch64.so.1
}

# The root that they were built in has all that they need to run, too.
unpacked()
{
	local package

	mkdir -p "$system/tests/lib"
	for package in "$out"/packages/*.deb; do
		dpkg-deb -x "$package" "$build"
	done
	cp "$here/guest/work.c" "$system"
	cp "$here/guest/arm64.sh" "$TOP/selftests/lib/tap.sh" "$system/tests"
	cp -r "$build/usr/src/profil-$version" "$system/module"
	mkdir "$build/srv/system"
	mount --bind "$system" "$build/srv/system"
	inside "$build" aarch64-linux-gnu-gcc -g -O1 -o /srv/system/tests/work /srv/system/work.c
	inside "$build" aarch64-linux-gnu-gcc -g -O1 -pg -o /srv/system/tests/work-pg /srv/system/work.c -lprofil
	cp -a "$build"/usr/lib/aarch64-linux-gnu/*.so* "$system/tests/lib"
	cp "$build/usr/bin/profil" "$system/tests"
}

module()
{
	"$VM/kernels.sh" fetch arm64
	make -C "$("$VM/kernels.sh" headers arm64)" M="$system/module" -j"$(nproc)" modules
	modinfo -F version "$system/module/profil.ko" | grep -Fx "$version"
}

# That kernel has no folders of the host: what it needs is in its initramfs.
runs()
{
	prlimit --cpu=600 "$VM/run.sh" --kernel arm64 --mem 1024 --timeout 3000 --module "$system/module/profil.ko" \
		--tests "$system/tests" -- /bin/sh /tests/arm64.sh /tests >"$out/guest.tap"
}

# gmon.out of arm64, by the gprof for it
gprof()
{
	sed -n 's/^# gmon.out: //p' "$out/guest.tap" | base64 -d | gzip -d >"$system/gmon.out"
	inside "$build" aarch64-linux-gnu-gprof -b -p /srv/system/tests/work-pg /srv/system/gmon.out | tee "$tmp/flat"
	awk '/^ *[0-9]/ { print $NF; exit }' "$tmp/flat" | grep -Fx hot
}

root trixie cross "$build"
{
	check 'the packages are cross-built, and lintian is silent' builds
	check 'they are of that machine' as_on_amd64
	check 'programs are compiled with the library' unpacked
	check 'the module is built from the source in profil-dkms' module
	check 'the machine boots and ends' runs
	check 'gprof' gprof
	plan
} >"$out/host.tap"
touch "$out/guest.tap"
rm -rf --one-file-system "$tmp"
umount "$build/srv/system" || :
rm -rf --one-file-system "$build" "$system"
exec "$TOP/selftests/lib/prove.pl" 1 "cat $out/host.tap" "cat $out/guest.tap"
