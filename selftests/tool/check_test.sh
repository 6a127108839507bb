#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# profil check, and what run says where check has to be asked; on planted systems.
set -eu
. "$(dirname "$0")/lib.sh"

cd "$tmp"
table >"$PROFIL_FAKE"

loaded='mount -t tmpfs none /sys/module; mkdir /sys/module/profil'
not_loaded='mount -t tmpfs none /sys/module'
# /lib/modules may not be there on this system, and is empty afterwards
modules='mkdir over; mount -t tmpfs none over; mkdir over/upper over/work
	mount -t overlay -o lowerdir=/usr/lib,upperdir=over/upper,workdir=over/work none /usr/lib
	mkdir -p /lib/modules; mount -t tmpfs none /lib/modules'
no_device='mount -t tmpfs none /dev; mknod /dev/null c 1 3 || :'
# dkms, and the source that it builds
dkms='mount -t tmpfs none /usr/sbin; touch /usr/sbin/dkms'
version=$(profil --version | awk '{ print $2 }')
source="mount -t tmpfs none /usr/src; mkdir /usr/src/profil-$version; touch /usr/src/profil-$version/dkms.conf"
no_source='mount -t tmpfs none /usr/src'
# what is no module of ours, but opens
other_device='touch device; mount --bind /dev/zero device; mount -t tmpfs none /dev; touch /dev/profil; mount --bind device /dev/profil'

# state NAME: of the row of this name
state() {
	awk -v name="$1" '$1 == name { print $NF }' out
}

all_there() {
	says 0 planted_system "$loaded" profil check
	[ "$(state kernel)$(state module)$(state device)" = okokok ]
	grep -E '^module +profil is loaded +ok$' out
	grep -E '^device +/dev/profil opens, interface 1 +ok$' out
}

not_loaded() {
	says 1 planted_system "$not_loaded" profil check
	[ "$(state module)" = FAIL ]
	grep -A 1 '^module' out | grep -F sudo
	# the first that fails explains the rest
	[ "$(awk '$NF == "FAIL" { print $1; exit }' out)" = module ]
}

# Each way to be not installed has its own command.
not_installed() {
	local folder headers
	folder=/lib/modules/$(uname -r)
	headers="mkdir -p $folder/build; touch $folder/build/Makefile"
	says 1 planted_system "$not_loaded; $modules; $dkms; $source" profil check
	grep -F "sudo apt-get install linux-headers-$(uname -r), then sudo dkms install profil/$version" out
	rmdir over
	says 1 planted_system "$not_loaded; $modules; $dkms; $source; $headers" profil check
	grep -E '^module +profil is not installed for this kernel +FAIL$' out
	grep -Ex " +sudo dkms install profil/$version" out
	rmdir over
	says 1 planted_system "$not_loaded; $modules; $dkms; $no_source; $headers" profil check
	grep -Ex " +in profil's source: sudo make install-dkms && sudo dkms install profil/$version; or install the package profil-dkms" out
	rmdir over
	says 1 planted_system "$not_loaded; $modules; mount -t tmpfs none /usr/sbin; $source; $headers" profil check
	grep -Ex " +sudo apt-get install dkms, then sudo dkms install profil/$version" out
	rmdir over
	says 1 planted_system "$not_loaded; $modules; mkdir -p $folder/updates; touch $folder/updates/profil.ko" profil check
	grep -F 'sudo modprobe profil' out
	none grep -F dkms out
}

device() {
	says 1 planted_system "$no_device" profil-real check
	[ "$(state device)" = FAIL ]
	grep -F '/dev/profil: No such file or directory' out
	says 1 planted_system "$loaded; $no_device" profil-real check
	grep -F 'in a container: start it with --device /dev/profil' out
	says 1 planted_system "$loaded; $other_device" profil-real check
	grep -F "another program's module has the name" out
}

sessions() {
	says 1 planted_system "$loaded" env PROFIL_FAKE_FLAGS=0 profil check
	[ "$(state sessions)" = FAIL ]
	grep -F 'max_sessions_user' out
}

machine() {
	says 0 planted_system "$loaded" profil check
	grep -E '^machine +the whole machine can be profiled \(run -a\) +ok$' out
	PROFIL_FAKE_ERROR=1 says 1 planted_system "$loaded" profil check
	[ "$(state machine)" = note ]
	grep -A 1 '^machine ' out | grep -F 'sudo profil run -a …'
	PROFIL_FAKE_ERROR=95 PROFIL_FAKE_FLAGS=15 says 1 planted_system "$loaded" profil check
	grep -E '^machine +this module is too old for the whole machine \(run -a\) +note$' out
	PROFIL_FAKE_ERROR=28 says 1 planted_system "$loaded" profil check
	grep -A 1 '^machine ' out | grep -F 'end another profil run -a'
	PROFIL_FAKE_FLAGS=0 says 1 planted_system "$loaded" profil check
	none grep '^machine' out
}

run_points_here() {
	says 125 planted_system "$no_device" profil-real run true
	grep -Fx 'profil: /dev/profil cannot be opened: No such file or directory; profil check says what is missing' err
	[ "$(wc -l <err)" = 1 ]
	says 125 planted_system "$other_device" profil-real run true
	grep -E '^profil: this module has no sessions: .*; profil check says what is missing$' err
	[ "$(wc -l <err)" = 1 ]
}

# Where modules need a signature, what has the machine trust the key of dkms.
signature() {
	local firmware='mount -t tmpfs none /sys/firmware; mkdir -p /sys/firmware/efi/efivars'
	local variable=/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c
	local lockdown='mount -t tmpfs none /sys/kernel; mkdir /sys/kernel/security'

	says 1 planted_system "$not_loaded; $firmware; printf '\\006\\000\\000\\000\\001' >$variable" profil check
	[ "$(state signature)" = note ]
	grep -F 'Secure Boot is on' out
	grep -F 'sudo mokutil --import /var/lib/dkms/mok.pub' out
	says 1 planted_system "$not_loaded; $firmware; $lockdown; echo 'none [integrity] confidentiality' >/sys/kernel/security/lockdown" profil check
	grep -F 'the kernel is locked down' out
	grep -F 'sudo mokutil --import /var/lib/dkms/mok.pub' out
	says 1 planted_system "$not_loaded; $firmware; $lockdown; printf '\\006\\000\\000\\000\\000' >$variable" profil check
	none grep -F mokutil out
}

names() {
	says 1 planted_system "$not_loaded" env -u DEBUGINFOD_URLS profil check
	[ "$(state names)" = note ]
	grep -F 'DEBUGINFOD_URLS is not set' out
	grep -A 1 '^names ' out | grep -Ex ' +export DEBUGINFOD_URLS=https://[a-z.]+'
	DEBUGINFOD_URLS='' says 1 planted_system "$not_loaded" profil check
	[ "$(state names)" = note ]
	grep -F 'DEBUGINFOD_URLS is empty' out
	grep -A 1 '^names ' out | grep -Ex ' +export DEBUGINFOD_URLS=https://[a-z.]+'
	DEBUGINFOD_URLS=http://127.0.0.1:9 says 1 planted_system "$not_loaded" profil check
	[ "$(state names)" = ok ]
	says 1 planted_system "$not_loaded; $no_debuginfod" profil check
	grep -A 1 '^names ' out | grep -E ' +sudo apt-get install libdebuginfod1 && export DEBUGINFOD_URLS='
}

# What cannot be looked at has its line, and what follows has its own.
cut_short() {
	mkdir -p spool
	echo text >spool/20261128T020000.000Z.pb.gz
	says 1 planted_system "$loaded; mount --bind spool /var/lib; mkdir /var/lib/profil-watch;
		mv /var/lib/2* /var/lib/profil-watch" profil check
	grep -E '^watch +/var/lib/profil-watch/20261128T020000.000Z.pb.gz is no profile: .* FAIL$' out
	grep -E '^test .* ok$' out
	PROFIL_FAKE=nofile says 1 planted_system "$loaded" profil check
	grep -E '^test +PROFIL_FAKE: No such file or directory +FAIL$' out
	[ ! -s err ]
	PROFIL_FAKE=nofile says 1 planted_system "$loaded" profil check --json
	jq -e '.[-1] | .name == "test" and .state == "FAIL"' out
}

json() {
	says 1 planted_system "$not_loaded" profil check --json
	python3 - <<-END
		import json
		rows = json.load(open("out"))
		assert rows[0]["name"] == "kernel" and rows[0]["state"] == "ok"
		assert [row for row in rows if row["state"] == "FAIL"][0]["mend"].startswith("sudo ")
	END
	says 125 profil check --nothing
}

check 'check: all is there' all_there
check 'check: the module is not loaded' not_loaded
check 'check: the module is not installed' not_installed
check 'check: the device' device
check 'check: a module without sessions' sessions
check 'check: the whole machine' machine
check 'check: Secure Boot and lockdown' signature
check 'check: where names come from' names
check 'check: what cannot be looked at' cut_short
check 'check: JSON' json
check 'check: run points here' run_points_here
plan
