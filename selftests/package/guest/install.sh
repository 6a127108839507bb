#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# In a Debian root that does not run: the packages, first without the kernel's headers.
#
# shellcheck disable=SC2317 # the tests are called by their names
set -eu
# shellcheck source-path=SCRIPTDIR source=lib.sh
. /srv/test/lib.sh

no_headers()
{
	apt install /srv/packages/*.deb gcc libc6-dev openssl
	said 'not loaded: this is a chroot; it will be when this system boots'
	clean
	none modinfo -k "$before" profil
}

headers()
{
	apt install "linux-headers-$before"
	clean
	built "$before"
}

# In KB: the package, and what comes with it on a system that has none of it
small()
{
	[ "$(dpkg-deb -f /srv/packages/profil_*.deb Installed-Size | tee /dev/stderr)" -lt 500 ]
	apt -s install /srv/packages/profil_*.deb
	awk '$1 == "Inst" && $2 != "profil" { print $2 }' "$tmp/apt" | tee "$tmp/others"
	[ -s "$tmp/others" ]
	xargs apt-cache show --no-all-versions <"$tmp/others" |
		awk '/^Installed-Size:/ { sum += $2 } END { print sum; exit sum >= 10000 }'
}

check "the command is small" small
check "no headers: all but the module is installed" no_headers
check "headers come later, and dkms builds" headers
check "autopkgtest: report" autopkgtest report
check "autopkgtest: gprof" autopkgtest gprof
plan
