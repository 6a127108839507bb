# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034 # for who has this file
# For the tests that run in a Debian system, booted or not.

# shellcheck source-path=SCRIPTDIR source=../../lib/tap.sh
. /srv/test/tap.sh
read -r before newest </etc/kernels
packages='profil profil-dkms profil-watch libprofil-dev libprofil1'
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 PAGER=cat

# none COMMAND…: it fails.  Behind a bare ! the shell would go on.
none()
{
	! "$@"
}

# apt ARGUMENT…: what it says is in the file apt, too
apt()
{
	apt-get -y -o Dpkg::Use-Pty=0 --no-install-recommends "$@" >"$tmp/apt" 2>&1 || {
		cat "$tmp/apt"
		return 1
	}
	cat "$tmp/apt"
}

# said LINE: apt did, in one line
said()
{
	grep -Ex "profil: $1" "$tmp/apt"
}

# built KERNEL: dkms says so, and the kernel's modprobe would find it
built()
{
	dkms status profil | tee "$tmp/dkms"
	grep -F ", $1, " "$tmp/dkms" | grep -E ': installed$'
	modinfo -k "$1" profil | grep -E '^signer: +DKMS'
}

# clean: dpkg has nothing to finish
clean()
{
	[ -z "$(dpkg --audit)" ]
	apt-get check
}

# left_over: what dpkg or a folder of the system has of our packages
left_over()
{
	dpkg-query -W -f '${db:Status-Status} ${Package}\n' '*profil*' | grep -v '^not-installed' || :
	find /usr/src /lib/modules /var/lib/dkms /var/lib/dpkg/info /etc -xdev \
		\( -name profil -o -name 'profil[.-]*' -o -name 'libprofil*' \) ! -path '/etc/systemd/system/*'
	while read -r name; do
		[ ! -f "$name" ] || echo "$name"
	done <"$tmp/files"
} 2>/dev/null

# files_of PACKAGE…: of these left_over() takes notice, too
files_of()
{
	dpkg -L "$@" | sort -u >"$tmp/files"
}

# nothing COMMAND…: it says nothing
nothing()
{
	"$@" >"$tmp/something" || { cat "$tmp/something"; return 1; }
	cat "$tmp/something"
	[ ! -s "$tmp/something" ]
}

# autopkgtest NAME: as Debian's machines would run it
autopkgtest()
{
	mkdir -p "$tmp/autopkgtest"
	AUTOPKGTEST_TMP=$tmp/autopkgtest "/srv/tests/$1" 2>&1
}
