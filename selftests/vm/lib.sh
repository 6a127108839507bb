# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the scripts of this folder share: where things are, how they complain,
# and an apt that sees Debian suites other than the machine's own.

VM=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TOP=$(cd "$VM/../.." && pwd)
# shellcheck disable=SC2034 # for the scripts that source this file
BUILD=$TOP/build
CACHE=${PROFIL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/profil}
# 9p and what it stands on; a kernel that has one of them built in lacks the file
# shellcheck disable=SC2034
NINEP='virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci netfs fscache 9pnet 9pnet_virtio 9p'
# and all that the VM may insert, with the ram disk to swap to
# shellcheck disable=SC2034
MODULES="$NINEP brd"

say()
{
	local text="$*"

	# as the user knows it, see without_blanks()
	text=${text//"$TOP"/"${PROFIL_TOP:-$TOP}"}
	echo "${0##*/}: ${text//"$CACHE"/"${PROFIL_CACHED:-$CACHE}"}" >&2
}

die()
{
	say "$@"
	exit 1
}

# without_blanks SCRIPT ARGUMENT…: make and kbuild take no path with a blank in it.  Where
# the source or the cache has one, the script runs again where it is at another place, too,
# which is there for it and its children alone.  A cache without one stays where it is,
# as kernels in it name their own place.
without_blanks()
{
	local place how=(--mount) blank=$TOP mend='use a folder without one'

	[[ $TOP =~ [[:space:]] ]] || blank=$CACHE mend='name a folder without one in PROFIL_CACHE'
	place=/tmp/profil-without-blanks.$(id -u)
	[ "$(id -u)" = 0 ] || how+=(--map-current-user --keep-caps)
	mkdir -p "$place/tree" "$place/cache" "$CACHE" || exit
	export PROFIL_TOP=$TOP PROFIL_CACHED=$CACHE PROFIL_CACHE=$CACHE
	[[ ! $CACHE =~ [[:space:]] ]] || PROFIL_CACHE=$place/cache
	# not in containers without that right, nor after chroot
	# (the folders stay: one that is removed is no longer mounted for others that run here)
	unshare "${how[@]}" mount --bind "$TOP" "$place/tree" 2>/dev/null ||
		die "there is a blank in $blank, and this machine does not let you mount it at another place: $mend"
	# shellcheck disable=SC2016 # expanded there
	exec unshare "${how[@]}" bash -c '
		mount --bind "$PROFIL_TOP" "$0/tree" && mount --bind "$PROFIL_CACHED" "$0/cache" || exit
		case $PWD in "$PROFIL_TOP"*) cd "$0/tree${PWD#"$PROFIL_TOP"}" ;; esac
		exec "$@"' "$place" "$place/tree/${1#"$TOP/"}" "${@:2}"
}

[[ ! $TOP$CACHE =~ [[:space:]] ]] ||
	without_blanks "$(cd "$(dirname "$0")" && pwd)/${0##*/}" "$@"

# need COMMAND PACKAGE
need()
{
	command -v "$1" >/dev/null || PATH=$PATH:/usr/sbin:/sbin command -v "$1" >/dev/null ||
		die "$1 is not installed: run selftests/setup.sh vm, or apt-get install $2"
}

# room FOLDER MB: what fills the disk fails at a place that says nothing of it
room()
{
	local free

	free=$(df -Pm "$1" | awk 'NR == 2 { print $4 }')
	[ "${free:-0}" -ge "$2" ] || die "only $free MB are free where $1 is: make room, $2 MB are needed"
}

# locked NAME COMMAND…: two runs may fill the cache at once, and each piece of
# it is made by one of them
locked()
(
	mkdir -p "$CACHE" || die "cannot create the cache $CACHE: name another in PROFIL_CACHE"
	locked_by "$CACHE/lock.$1" "${@:2}"
)

# locked_here NAME COMMAND…: the same for what is built in this tree; others do not wait
locked_here()
(
	mkdir -p "$BUILD/locks"
	locked_by "$BUILD/locks/$1" "${@:2}"
)

locked_by()
{
	exec {fd}>"$1"
	flock "$fd"
	shift
	"$@"
}

# publish TEMPORARY FINAL: an interrupted run leaves no half piece behind
publish()
{
	rm -rf "$2"
	mv "$1" "$2"
}

# wait_any: until a job of this shell's ends; its process is $pid then, and its status that of this
wait_any()
{
	local status

	pid=''
	# bash 5.2 finds no job where the last one ends as it looks, and finds it the next time
	for _ in 1 2; do
		status=0
		wait -n -p pid || status=$?
		[ ! "${pid:-}" ] || return $status
	done
	die 'a job is gone, and nothing says how it ended'
}

# The mirrors of this machine, as its own apt configuration names them.
mirrors()
{
	local uris

	# shellcheck disable=SC1091
	codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	uris=$(apt-get update --print-uris 2>/dev/null)
	mirror=$(sed -n "s,^'\(.*\)/dists/$codename-updates/InRelease'.*,\1,p" <<<"$uris" | head -n 1)
	[ "$mirror" ] ||
		mirror=$(sed -n "s,^'\(.*/debian\)/*/dists/[a-z]*/InRelease'.*,\1,p" <<<"$uris" | head -n 1)
	[ "$mirror" ] ||
		die "apt knows no Debian mirror: add one to /etc/apt/sources.list.d/debian.sources"
	mirror_security=$(sed -n "s,^'\(.*\)/dists/$codename-security/InRelease'.*,\1,p" <<<"$uris" | head -n 1)
	[ "$mirror_security" ] || mirror_security=${mirror%/}-security
}

# scratch FOLDER: made anew for what is fetched or built there, and gone when this shell
# ends, however it ends.  In a subshell, as locked() makes one.
scratch()
{
	scratch=$1
	trap 'rm -rf "$scratch"' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	rm -rf "$scratch"
	mkdir -p "$scratch"
}

# apt_failed WHAT LOG: with apt's own reason, and what mends it
apt_failed()
{
	local reason

	reason=$(grep -m 1 '^E:' "$2" || grep -m 1 '^W:' "$2" || tail -n 1 "$2")
	if grep -qE 'No space left|enough free space|Disk quota' "$2"; then
		die "$1: the disk is full where $CACHE is: make room, or name another folder in PROFIL_CACHE"
	elif grep -qE '[Tt]emporary failure|[Cc]ould not (resolve|connect)|[Nn]etwork is unreachable|timed out' "$2"; then
		die "$1: $mirror is not reached: check the network, then try again ($reason)"
	fi
	die "$1: apt says \"$reason\": mend that, then try again"
}

# apt_open SUITE ARCH: from here on $APT_CONFIG makes apt see only that suite,
# with lists and archives in the cache, and no package installed.  ARCH may be
# source, for source packages.  For use in a subshell: it holds a lock until the
# shell ends.
apt_open()
{
	local dir=$CACHE/apt/$1-$2 keys kind=deb arch=$2

	need apt-get apt
	export APT_CONFIG=
	mirrors
	for keys in /usr/share/keyrings/debian-archive-keyring.{pgp,gpg}; do
		[ ! -e "$keys" ] || break
	done
	[ -e "$keys" ] || die "$keys is missing: apt-get install debian-archive-keyring"
	[ "$2" != source ] || kind=deb-src arch=amd64
	mkdir -p "$dir/lists/partial" "$dir/archives/partial"
	: >"$dir/status"
	{
		echo "$kind [signed-by=$keys] $mirror $1 main"
		[ "$1" = sid ] || echo "$kind [signed-by=$keys] $mirror_security $1-security main"
	} >"$dir/sources.list"
	{
		# the machine's own way to the mirror: proxies, certificates, dates
		apt-config dump | grep '^Acquire::'
		cat <<-END
			Dir::Etc::Parts "/dev/null";
			Dir::Etc::Main "/dev/null";
			Dir::Etc::SourceList "$dir/sources.list";
			Dir::Etc::SourceParts "/dev/null";
			Dir::State::Lists "$dir/lists";
			Dir::State::status "$dir/status";
			Dir::Cache "$dir";
			APT::Architecture "$arch";
			APT::Architectures { "$arch"; };
			APT::Sandbox::User "root";
			APT::Install-Recommends "false";
			Acquire::Languages "none";
			# a mirror may lag; signatures are checked all the same
			Acquire::Check-Valid-Until "false";
			Acquire::Retries "3";
		END
	} >"$dir/apt.conf"
	APT_CONFIG=$dir/apt.conf
	say "reading the package lists of $1 ($2)"
	exec {lists}>"$dir/lock"
	flock "$lists"
	# by itself it takes a network that is down for a passing fault, and says all is well
	apt-get -qq -o APT::Update::Error-Mode=any update >"$dir/log" 2>&1 ||
		apt_failed "cannot read the package lists of $1" "$dir/log"
}

# apt_depends PACKAGE PATTERN: its first dependency that matches
apt_depends()
{
	apt-cache depends "$1" 2>/dev/null | sed -n 's/^ *Depends: //p' | grep -m 1 -E "^$2\$"
}

# apt_fetch PACKAGE…: the .debs, into the current folder
apt_fetch()
{
	local sizes log=${APT_CONFIG%/*}/log

	sizes=$(apt-cache show --no-all-versions "$@" | awk '/^Size:/ { n += $2 } END { printf "%.0f", n / 1e6 }')
	say "downloading $* ($sizes MB)"
	apt-get -qq download "$@" >"$log" 2>&1 || apt_failed "cannot download $*" "$log"
}

# test_programs KERNEL|i386 [PROGRAM…]: build the programs of selftests/kernel for the machine
# of that kernel, all or these; print their folder
test_programs()
{
	local out=$BUILD/selftests compiler=gcc-12 targets=all

	case $1 in
	arm64)
		out+=-arm64 compiler=aarch64-linux-gnu-gcc-12
		need aarch64-linux-gnu-gcc-12 gcc-12-aarch64-linux-gnu
		;;
	i386)
		# the one compiler that can build for 32 bits on Debian 12 and 13; the kernel's
		# headers are the same for both, and where those of 64 bits are
		out+=-i386 compiler='gcc-12 -m32 -isystem /usr/include/x86_64-linux-gnu'
		[ -e /usr/lib32/libc.a ] || die "there is no C library of 32 bits: apt-get install libc6-dev-i386 lib32gcc-12-dev"
		;;
	esac
	shift
	[ $# = 0 ] || targets="helpers ${*/#/$out/}"
	# shellcheck disable=SC2086 # targets are words
	locked_here selftests make -s -j"$(nproc)" -C "$TOP/selftests/kernel" OUT="$out" CC="$compiler" \
		HARNESS="$("$VM/kernels.sh" source)/tools/testing/selftests" $targets >&2 ||
		die "the test programs do not build: see above"
	echo "$out"
}

# own_kernel KERNEL: one that debug-kernel.sh makes, small and slow
own_kernel()
{
	case $1 in
	debug | kcsan | mainline | fuzz) ;;
	*) return 1 ;;
	esac
}

# build_dir KERNEL: where its modules are built
build_dir()
{
	case $1 in
	*/*) echo "$BUILD/k/$(basename "$1")" ;;
	*) echo "$BUILD/k/$1" ;;
	esac
}
