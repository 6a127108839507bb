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

# In KB, of the command with all that comes with it on a system that has none of it
size()
{
	dpkg-query -W -f '${Installed-Size}\n' profil | tee "$tmp/size"
	[ "$(cat "$tmp/size")" -lt 500 ]
}

check "no headers: all but the module is installed" no_headers
check "headers come later, and dkms builds" headers
check "the command is small" size
check "autopkgtest: report" autopkgtest report
check "autopkgtest: gprof" autopkgtest gprof
plan
