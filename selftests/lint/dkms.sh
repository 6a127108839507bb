#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Builds and installs the module by dkms.conf in a fresh Debian root, made for
# this and removed afterwards; and wants a kernel it is not for to be refused.
#
#   selftests/lint/dkms.sh [SUITE]	the suite of this machine, or another
set -euo pipefail

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$TOP/selftests/vm/lib.sh"
number=0 failed=0

# ok WHAT COMMAND...
ok() {
	local log=$tmp/log
	number=$((number + 1))
	if "${@:2}" >"$log" 2>&1; then
		echo "ok $number dkms: $1"
	else
		failed=$((failed + 1))
		echo "not ok $number dkms: $1"
		tail -n 30 "$log" | sed 's/^/# /'
	fi
}

inside() {
	chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

installed() {
	find "$root/lib/modules/$version" -name 'profil.ko*' | grep -q .
}

gone() {
	! installed
}

# refused WORDS OPTION...: dkms does not begin to build, and one line says why
refused() {
	! inside dkms build "profil/$release" "${@:2}" >"$tmp/refused" 2>&1 || return
	cat "$tmp/refused"
	[ "$(grep -c "$1" "$tmp/refused")" = 1 ] && ! grep -q '^make\|make.log' "$tmp/refused"
}

need mmdebstrap mmdebstrap
[ "$(id -u)" = 0 ] || die "a Debian root can only be made by root: sudo selftests/lint/dkms.sh"
mirrors
suite=${1:-$codename}
release=$(sed -n 's/^VERSION.*= //p' "$TOP/Makefile")
tmp=$(mktemp -d)
root=$tmp/root
trap 'umount "$root/proc" 2>/dev/null || :; rm -rf --one-file-system "$tmp"' EXIT
say "making a Debian $suite root with dkms (about 150 MB)"
mmdebstrap --quiet --aptopt='Acquire::Check-Valid-Until "false"' --mode=root --variant=apt --include=dkms,linux-headers-amd64 \
	"$suite" "$root" "$mirror" >"$tmp/mmdebstrap.log" 2>&1 ||
	die "mmdebstrap failed: $(grep -m 1 '^E:' "$tmp/mmdebstrap.log")"
mount -t proc proc "$root/proc"
version=$(basename "$(dirname "$(find "$root/lib/modules/" -maxdepth 2 -name build)")")

echo "TAP version 13"
ok "make install-dkms" make -s -C "$TOP" install-dkms DESTDIR="$root"
ok "dkms add" inside dkms add "profil/$release"
ok "dkms install for $version" inside dkms install "profil/$release" -k "$version"
ok "it is in /lib/modules/$version" installed
ok "modinfo finds it" inside modinfo -k "$version" profil
ok "an old kernel is refused" refused 'profil: .*it needs Linux 5.10 or later' -k 5.9.0-1-amd64
mkdir "$root/tmp/headers"
: >"$root/tmp/headers/.config"
ok "a kernel that cannot unload modules is refused" refused 'profil: .*it needs CONFIG_MODULE_UNLOAD=y' \
	-k 9.9.9-amd64 --kernelsourcedir /tmp/headers
ok "a kernel without headers is refused" refused 'headers for kernel 9.9.9-amd64 cannot be found' -k 9.9.9-amd64
ok "dkms remove" inside dkms remove "profil/$release" --all
ok "it is gone" gone
echo "1..$number"
echo "# $((number - failed)) passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
