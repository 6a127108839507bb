#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# In the root that has been installed: another kernel beside its own.
#
# shellcheck disable=SC2317 # the tests are called by their names
set -eu
# shellcheck source-path=SCRIPTDIR source=lib.sh
. /srv/test/lib.sh

upgraded()
{
	apt install linux-image-amd64 linux-headers-amd64
	clean
	built "$newest"
	# for root.sh
	cp "$(modinfo -k "$newest" -n profil)" /srv/next
	[ ! -e /srv/next/profil.ko.xz ] || xz -d /srv/next/profil.ko.xz
}

still()
{
	built "$before"
}

check "dkms builds for $newest" upgraded
check "and $before has its module" still
plan
