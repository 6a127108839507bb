#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# In the booted system, after the user: how the module came, and how all of it goes.
#
#   root.sh 1|2	which boot it is
#
# shellcheck disable=SC2317 # the tests are called by their names
set -eu
# shellcheck source-path=SCRIPTDIR source=lib.sh
. /srv/test/lib.sh
name=$(uname -r):

running()
{
	[ "$(uname -r)" = "$1" ]
}

no_unit_failed()
{
	nothing systemctl --failed --no-legend --plain
}

for_everybody()
{
	[ "$(stat -c '%F %a' /dev/profil)" = 'character special file 666' ]
}

# That it is of no kernel's source says the kernel, not we.
one_line()
{
	dmesg | grep -E 'profil(\[[0-9]*\])?: ' | grep -vE 'taint|verification failed' | tee "$tmp/lines"
	[ "$(wc -l <"$tmp/lines")" -le 1 ]
}

# session: one that runs until it is told, as a user's
session()
{
	# shellcheck disable=SC2016
	setpriv --reuid=1000 --regid=1000 --clear-groups sh -c 'cd /home/user; exec profil run -o during.pb.gz -- sh -c "
		touch begun; until [ -e enough ]; do sleep 0.1; done"' >"$tmp/session" 2>&1 &
	session=$!
	until [ -e /home/user/begun ]; do
		sleep 0.1
	done
}

session_ends()
{
	touch /home/user/enough
	wait "$session"
	cat "$tmp/session"
	grep -E '^ +ticks +[1-9]' "$tmp/session"
}

purge()
{
	# shellcheck disable=SC2086 # words
	files_of $packages
	# shellcheck disable=SC2086
	apt purge $packages
}

nothing_left()
{
	nothing left_over
	[ ! -e /sys/module/profil ]
	[ ! -e /dev/profil ]
	none modprobe -n profil
	no_unit_failed
}

# Whoever is in it stays in it.  What dkms compiled before the boot it does not compile once
# more, which an emulated machine would need many minutes for.
upgrade_in_use()
{
	session
	mkdir -p /etc/dkms
	echo 'MAKE[0]="cp /srv/next/profil.ko ."' >/etc/dkms/profil.conf
	apt install /srv/next/*.deb
	said 'the module that was loaded before is in use and stays, until .*'
	[ "$(grep -c '^profil: ' "$tmp/apt")" = 1 ]
	[ -e /sys/module/profil ]
	[ "$(dpkg-query -W -f '${Version}' profil-dkms | grep -o next)" = next ]
	rm /etc/dkms/profil.conf
	session_ends
	built "$(uname -r)"
	rmmod profil
	modprobe profil
}

purge_in_use()
{
	rm -f /home/user/begun /home/user/enough
	session
	purge
	said "the module is in use and stays loaded: rmmod profil removes it when these processes have ended: $session"
	session_ends
	rmmod profil
}

check "$name its kernel" running "$([ "$1" = 1 ] && echo "$before" || echo "$newest")"
check "$name no unit failed" no_unit_failed
check "$name the device is for everybody" for_everybody
check "$name one line in the log" one_line
if [ "$1" = 1 ]; then
	chmod 755 "$tmp"
	check "$name autopkgtest: run" autopkgtest run
	check "$name purged" purge
else
	check "$name upgraded while it is in use" upgrade_in_use
	check "$name purged while it is in use" purge_in_use
fi
check "$name nothing is left" nothing_left
plan
