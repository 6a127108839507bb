#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What profil-dkms says when it is installed or removed and the module does not come or
# go: its scripts, with all that they ask the system planted; and those of profil.spec.
#
# shellcheck disable=SC2317 # the tests are called by their names
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$here/../lib/tap.sh"

root=$tmp/root bin=$tmp/bin said=$tmp/output

# command_is NAME LINE: what the script finds by that name
command_is() {
	printf '#!/bin/sh\n%s\n' "$2" >"$bin/$1"
	chmod +x "$bin/$1"
}

# A machine where all is well, and the module has been built.
well() {
	rm -rf "$root" "$bin"
	mkdir -p "$root/lib/modules/9.9/build" "$root/proc/1" "$root/run" "$root/sys/module" "$bin"
	: >"$root/lib/modules/9.9/build/Makefile"
	: >"$root/proc/1/environ"
	command_is uname 'echo 9.9'
	command_is ischroot 'exit 1'
	command_is modinfo 'exit 0'
	command_is modprobe "echo modprobe \"\$@\" >>$tmp/modprobe"
	: >"$tmp/modprobe"
}

# run SCRIPT ARGUMENT: in that machine; all that it says is one line that matches
run() {
	sed -E "s/^#DEBHELPER#$/${debhelper:-}/; s,([ \"<])/(run|\.dockerenv|sys|lib/modules|proc)\>,\1$root/\2,g" "$top/debian/profil-dkms.$1" >"$tmp/script"
	local status=0
	PATH=$bin:$PATH sh "$tmp/script" "$2" >"$said" 2>&1 || status=$?
	cat "$said" "$tmp/modprobe"
	return $status
}

# says LINE: that one alone
says() {
	[ "$(cat "$said")" = "profil: $1" ]
}

loads() {
	well
	run postinst configure
	[ ! -s "$said" ]
	[ "$(cat "$tmp/modprobe")" = 'modprobe profil' ]
}

does_not_load_unless_it_is_configured() {
	well
	run postinst abort-upgrade
	[ ! -s "$said" ] && [ ! -s "$tmp/modprobe" ]
}

container() {
	well
	printf 'PATH=/bin\0container=lxc\0' >"$root/proc/1/environ"
	run postinst configure
	says 'not loaded: this is a container; install profil-dkms on the machine that it runs on'
	well
	: >"$root/.dockerenv"
	run postinst configure
	says 'not loaded: this is a container; install profil-dkms on the machine that it runs on'
	[ ! -s "$tmp/modprobe" ]
}

chroot() {
	well
	command_is ischroot 'exit 0'
	run postinst configure
	says 'not loaded: this is a chroot; it will be when this system boots'
	[ ! -s "$tmp/modprobe" ]
}

no_headers() {
	well
	command_is modinfo 'exit 1'
	rm -r "$root/lib/modules/9.9/build"
	run postinst configure
	says 'not loaded: there are no headers for this kernel: apt-get install linux-headers-9.9'
}

not_built() {
	well
	command_is modinfo 'exit 1'
	run postinst configure
	says 'not loaded: dkms did not build it for this kernel, 9.9: see above'
}

# The part of the script that debhelper writes ends it, and apt has to hear of that.
dkms_fails() {
	local status=0
	well
	debhelper='exit 10' run postinst configure || status=$?
	[ $status = 10 ]
	says 'not installed: dkms failed, see above: mend that, then apt -f install; or apt purge profil-dkms'
	[ ! -s "$tmp/modprobe" ]
}

# What kmod says of 6.1 and of 5.10.
secure_boot() {
	local why
	for why in 'Key was rejected by service' 'Required key not available'; do
		well
		command_is modprobe "echo \"modprobe: ERROR: could not insert 'profil': $why\" >&2; exit 1"
		run postinst configure
		says 'not loaded: Secure Boot wants the key of dkms: mokutil --import /var/lib/dkms/mok.pub, then reboot and confirm'
	done
}

another_reason() {
	well
	command_is modprobe "echo \"modprobe: ERROR: could not insert 'profil': Exec format error\" >&2; exit 1"
	run postinst configure
	says "not loaded: modprobe: ERROR: could not insert 'profil': Exec format error"
}

stays_loaded_after_an_upgrade() {
	well
	mkdir "$root/sys/module/profil"
	run postinst configure
	says 'the module that was loaded before is in use and stays, until it is removed by rmmod profil and loaded by modprobe profil'
	[ ! -s "$tmp/modprobe" ]
}

unloads() {
	well
	mkdir "$root/sys/module/profil"
	run prerm remove
	[ ! -s "$said" ]
	[ "$(cat "$tmp/modprobe")" = 'modprobe -q -r profil' ]
}

leaves_the_machine_of_a_chroot_alone() {
	well
	mkdir "$root/sys/module/profil"
	command_is ischroot 'exit 0'
	run prerm remove
	[ ! -s "$said" ] && [ ! -s "$tmp/modprobe" ]
}

# A machine's module is seen in its containers, and a privileged one could unload it.
leaves_the_machine_of_a_container_alone() {
	well
	mkdir "$root/sys/module/profil"
	printf 'PATH=/bin\0container=lxc\0' >"$root/proc/1/environ"
	run prerm remove
	[ ! -s "$said" ] && [ ! -s "$tmp/modprobe" ]
}

# A session that is not mapped, or the device itself, is in use as well.
in_use() {
	well
	mkdir -p "$root/sys/module/profil" "$root"/proc/4{2,3,4,5,6}/fd
	echo '7f0000000000-7f0000001000 ---s 00000000 00:05 100 /dev/profil' >"$root/proc/42/maps"
	echo '7f0000000000-7f0000001000 r--s 00000000 00:0e 100 anon_inode:[profil]' >"$root/proc/43/maps"
	echo '7f0000000000-7f0000001000 r-xp 00000000 08:01 100 /usr/bin/profil' >"$root/proc/44/maps"
	ln -s 'anon_inode:[profil]' "$root/proc/43/fd/3"
	ln -s /dev/profil "$root/proc/45/fd/4"
	ln -s /dev/profile "$root/proc/46/fd/3"
	command_is modprobe 'exit 1'
	run prerm remove
	says 'the module is in use and stays loaded: rmmod profil removes it when these processes have ended: 42 43 45'
	run prerm upgrade
	[ ! -s "$said" ]
}

# rpm's number is how many versions of the package there will be.  dkms compares versions
# itself, where it is told that rpm calls it.
spec_removes() {
	well
	command_is dkms "echo dkms \"\$@\" >>$tmp/modprobe"
	sed -n '/^%preun -n dkms-profil$/,/^%files$/p' "$top/packaging/profil.spec" |
		sed 's/^%.*//; s/%{version}/9.9.9/g' >"$tmp/script"
	PATH=$bin:$PATH sh "$tmp/script" "$1"
	cat "$tmp/modprobe"
}

spec() {
	spec_removes 1
	[ "$(cat "$tmp/modprobe")" = 'dkms remove -q profil/9.9.9 --all --rpm_safe_upgrade' ]
	spec_removes 0
	[ "$(cat "$tmp/modprobe")" = $'modprobe -q -r profil\ndkms remove -q profil/9.9.9 --all --rpm_safe_upgrade' ]
}

check 'the module is loaded' loads
check 'not when it is not configured' does_not_load_unless_it_is_configured
check 'not loaded: a container' container
check 'not loaded: a chroot' chroot
check 'not loaded: no headers' no_headers
check 'not loaded: not built' not_built
check 'not installed: dkms fails' dkms_fails
check 'not loaded: Secure Boot' secure_boot
check 'not loaded: another reason' another_reason
check 'one that is in use stays after an upgrade' stays_loaded_after_an_upgrade
check 'the module is unloaded' unloads
check 'a chroot does not unload the module of its machine' leaves_the_machine_of_a_chroot_alone
check 'a container does not unload the module of its machine' leaves_the_machine_of_a_container_alone
check 'one that is in use stays loaded' in_use
check 'profil.spec: an upgrade leaves the module, and removal takes it' spec
plan
