#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Installs the Debian packages that a task needs, after saying what they are.
#
#   selftests/setup.sh [--yes] GROUP...
#
# The group "command" is what the command and the library are built with; "tool" has what their
# tests need, too.
#
# Says nothing and needs no network when nothing is missing.  Installs after a yes, which
# --yes or YES=1 gives, too; through sudo where it is not root.  Without a terminal there is
# nobody to ask: then root installs, as in a container or by a job at night, and others are
# told the command, with 1 as status.  Debian 12 and 13.

set -eu

# One line a package, then the groups that need it.  Every name must exist on
# both Debian releases: where a library's name changed, take its -dev package.
packages() {
	cat <<'END'
gcc build check debug demo vm programs tool command
make build check debug demo vm programs tool command
libc6-dev build check debug demo vm programs tool command
gcc-12 build
libelf-dev build debug demo tool command deb
qemu-system-x86 vm packages
busybox-static vm
cpio vm
xz-utils vm debug programs tool
bzip2 programs
tcl programs
nodejs programs
pahole check vm
patch check vm
kmod check
mmdebstrap dkms packages
gcc-12-aarch64-linux-gnu check
libc6-dev-arm64-cross check
libc6-dev-i386 test check debug
lib32gcc-12-dev test check debug
qemu-user test check
qemu-system-arm check
sparse check
coccinelle check
libpython3-dev check
shellcheck check
mandoc check
python3 check tool
python3-sphinx check doc
groff-base check
clang check
g++ check tool
perl build check debug tool
valgrind check test programs bench tool
google-perftools tool
chromium tool
tidy tool
jq tool
tmux tool
bc debug
flex debug
bison debug
libssl-dev debug
libsqlite3-dev demo
libdw-dev demo tool command deb
libprotobuf-c-dev demo tool command deb
protobuf-c-compiler demo tool command deb
zlib1g-dev demo tool command deb
libiberty-dev demo tool command deb
libjansson-dev demo tool command deb
libcapstone-dev demo tool command deb
libcurl4-openssl-dev demo tool command deb
openssl tool
systemd tool
prometheus-node-exporter tool
victoria-metrics tool
libncurses-dev demo tool command deb
golang-go tool packages
linux-perf compare
libdebuginfod-dev tool
gnuplot-nox bench
debhelper deb
dh-dkms deb
dpkg-dev deb
lintian deb
e2fsprogs packages
makepkg packages
libarchive-tools packages
rpm packages
END
}

usage() {
	echo "usage: setup.sh [--yes] GROUP...   groups: build test vm check debug demo doc command tool programs bench compare dkms deb packages" >&2
	exit 2
}

yes=${YES:-0}
groups=
for arg; do
	case $arg in
	--yes) yes=1 ;;
	build | test | vm | check | debug | demo | doc | command | tool | programs | bench | compare | dkms | deb | packages) groups="$groups $arg" ;;
	*) usage ;;
	esac
done
[ -n "$groups" ] || usage

wanted=$(packages | awk -v groups="$groups" '
	BEGIN { n = split(groups, g) }
	{ for (i = 1; i <= n; i++) if ((" " $0 " ") ~ (" " g[i] " ")) { printf "%s ", $1; next } }')

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
	echo "setup.sh: this is not Debian; install what these packages hold, then call the scripts in selftests/ directly: $wanted" >&2
	exit 1
fi

# shellcheck disable=SC2086 # package names are words
missing=$({ dpkg-query -W -f='${db:Status-Status} ${Package}\n' $wanted 2>/dev/null || :; } |
	awk -v wanted="$wanted" '
	$1 == "installed" { have[$2] = 1 }
	END { n = split(wanted, w); for (i = 1; i <= n; i++) if (!(w[i] in have)) printf "%s ", w[i] }')
[ -n "$missing" ] || exit 0

as_root=
[ "$(id -u)" = 0 ] || as_root=sudo
install="install --yes --no-install-recommends $missing"

# Lists of yesterday name package files that the mirror has since replaced.
lists_are_fresh() {
	[ -n "$(find /var/lib/apt/lists -maxdepth 1 -name '*Packages*' -mmin -1440 2>/dev/null)" ]
}

log=$(mktemp "${TMPDIR:-/tmp}/profil-setup.XXXXXX")
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# why LOG: of what apt says, what the user can mend
why() {
	if grep -qE 'No space left|enough free space|Disk quota' "$1"; then
		echo "the disk is full: make room"
	elif grep -qE '[Tt]emporary failure|[Cc]ould not (resolve|connect)|[Nn]etwork is unreachable|timed out' "$1"; then
		echo "the mirror is not reached: check the network"
	elif grep -q 'Could not get lock' "$1"; then
		echo "another apt is at work: wait until it ends"
	else
		echo "apt-get says \"$(grep -m 1 '^E:' "$1" || tail -n 1 "$1")\": mend that"
	fi
}

# apt ARGUMENT...: sudo may have a terminal of its own for it, and then Ctrl-C comes to
# apt-get alone; what follows would go on as after a failure.
apt() {
	status=0
	$as_root apt-get "$@" >"$log" 2>&1 || status=$?
	[ "$status" -lt 128 ] || {
		echo "setup.sh: interrupted" >&2
		exit 130
	}
	return "$status"
}

# By itself apt-get takes a network that is down for a passing fault.
stale=
update() {
	echo "setup.sh: updating the package lists"
	apt -qq -o APT::Update::Error-Mode=any update || stale=$(why "$log")
}

# In MB, or nothing when apt cannot tell.
download_size() {
	# shellcheck disable=SC2086
	apt-get install -qq --yes --no-install-recommends --print-uris $missing 2>/dev/null |
		awk '{ sum += $3 } END { if (NR) printf "%d\n", sum / 1e6 + 1 }'
}

if [ "$as_root" = "" ] && ! lists_are_fresh; then
	update
fi
size=$(download_size)
echo "setup.sh: missing for$groups: $missing"
if [ -n "$size" ]; then
	echo "setup.sh: with what they depend on, $size MB to download, about $((1 + size / 150)) min"
else
	echo "setup.sh: how large they are is not known until the package lists are read"
fi

if [ -n "$as_root" ] && ! command -v sudo >/dev/null; then
	answer=n
elif [ "$yes" = 1 ]; then
	answer=y
elif [ -t 0 ]; then
	printf 'setup.sh: install them%s? [y/N] ' "${as_root:+ with sudo}"
	read -r answer || answer=n
elif [ -n "$as_root" ]; then
	answer=n
else
	answer=y
fi
sudo=${as_root:+sudo }
again="run this, then try again: ${sudo}apt-get update && ${sudo}apt-get $install"
case $answer in
y | Y | yes) ;;
*)
	echo "setup.sh: not installed; $again" >&2
	exit 1
	;;
esac
[ -n "$stale" ] || lists_are_fresh || update

export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086
if ! apt $install; then
	cause=$(why "$log")
	update
	if [ -n "$stale" ]; then
		cause=$stale
	elif apt $install; then
		cause=
	else
		cause=$(why "$log")
	fi
	if [ -n "$cause" ]; then
		echo "setup.sh: the packages cannot be installed, $cause, or $again" >&2
		exit 1
	fi
fi
echo "setup.sh: installed"
