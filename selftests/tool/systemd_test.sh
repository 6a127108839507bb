#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The service of the package profil-watch, as systemd reads it.
set -eu
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

unit=$here/../../debian/profil-watch.service
cd "$tmp"

# 20 is 2.0: what systemd-analyze calls OK begins below 5.
exposure() {
	systemd-analyze security --offline=true --no-pager --threshold=20 "$unit"
}

# The program is where the package has it; all else is to be known to systemd.
verified() {
	sed "s,^ExecStart=/usr/bin/profil ,ExecStart=$O/profil ," "$unit" >profil-watch.service
	systemd-analyze verify --man=no ./profil-watch.service 2>&1 | tee verify
	none grep -F 'profil-watch.service' verify
}

# With what the package says of network, by its example.
pushing() {
	mkdir -p profil-watch.service.d
	cp "$here/../../debian/examples/push.conf" profil-watch.service.d
	cat "$unit" profil-watch.service.d/push.conf >profil-watch.service
	systemd-analyze security --offline=true --no-pager --threshold=30 ./profil-watch.service
}

# Before the service: DeviceAllow= is of a device that is there.
module_first() {
	grep -x 'Wants=modprobe@profil\.service' "$unit"
	grep -E '^After=(.* )?modprobe@profil\.service( |$)' "$unit"
}

check 'systemd: the service is hardened' exposure
check 'systemd: all that the service says is known' verified
check 'systemd: the module is loaded before the service' module_first
check 'systemd: what it is with a network' pushing
plan
