#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The newest kernel of Debian's unstable, and the compiler it was built with:
# neither its build tools nor its headers work with the C library of a stable
# release.  Everything is unpacked, nothing installed.
#
#   sid.sh fetch		into the cache, as kernel 7.2
#   sid.sh make DIR ARGUMENT…	build the module in DIR
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

KERNELS=$CACHE/kernels

fetch()
{
	local tmp=$KERNELS/tmp.sid version deb

	[ ! -e "$KERNELS/7.2" ] || return 0
	rm -rf "$tmp"
	mkdir -p "$tmp/debs" "$tmp/root"/{proc,dev,tmp} "$tmp/modules"
	cd "$tmp/debs"
	apt_open sid amd64
	version=$(apt_depends linux-headers-amd64 'linux-headers-.*')
	version=${version#linux-headers-}
	apt_fetch "linux-binary-$version"
	dpkg-deb --fsys-tarfile linux-binary-*.deb | tar -xO --wildcards '*/vmlinuz*' >"$tmp/vmlinuz"
	rm linux-binary-*.deb
	# older ones cannot read these headers; what it depends on, its other tools use
	apt_fetch sparse
	say "downloading the compiler and headers of $version (about 100 MB)"
	apt-get -qq -y --download-only -o Dir::Cache::archives="$PWD" install base-files bash coreutils \
		dash findutils gcc grep "linux-headers-$version" make mawk sed >"$tmp/log" 2>&1 ||
		die "cannot download the compiler of $version: $(grep -m 1 '^E:' "$tmp/log"); check the network"
	say "unpacking $version"
	# the links from /bin and /lib to /usr come with base-files
	for deb in base-files_*.deb $(find . -name '*.deb' ! -name 'base-files_*'); do
		dpkg-deb -x "$deb" "$tmp/root"
	done
	ln -sf mawk "$tmp/root/usr/bin/awk"
	ln -s "root/usr/src/linux-headers-$version" "$tmp/headers"
	cd "$KERNELS"
	rm -r "$tmp/debs"
	publish "$tmp" "$KERNELS/$version"
	ln -sfn "$version" "$KERNELS/7.2"
}

# in_sid COMMAND…: with /dev and /proc where we may mount; a container may allow
# chroot and mknod alone, and that will do as well
in_sid()
{
	local root=$KERNELS/7.2/root mapped=()

	[ "$(id -u)" = 0 ] || mapped=(--map-root-user)
	if unshare ${mapped[@]+"${mapped[@]}"} --mount true 2>/dev/null; then
		# shellcheck disable=SC2016
		unshare ${mapped[@]+"${mapped[@]}"} --mount sh -c '
			mount --rbind /dev "$1/dev" && mount --rbind /proc "$1/proc" && exec chroot "$@"
			' sh "$root" "$@"
	else
		[ -e "$root/dev/null" ] || mknod -m 666 "$root/dev/null" c 1 3
		# objtool looks up its own stack there, to tell when it overflows
		mkdir -p "$root/proc/self"
		cat /proc/self/maps >"$root/proc/self/maps"
		chroot "$root" "$@"
	fi
}

make_in_sid()
{
	local root=$KERNELS/7.2/root work rc=0

	work=$(mktemp -d "$root/tmp/build.XXXXXX")
	cp -r "$1/." "$work"
	in_sid env -i PATH=/usr/bin make -C "/usr/src/$(basename "$(readlink -f "$KERNELS/7.2/headers")")" \
		M="${work#"$root"}" W=1 "${@:2}" modules || rc=$?
	cp -r "$work/." "$1"
	rm -rf "$work"
	return "$rc"
}

case ${1:-} in
fetch) locked kernel-7.2 fetch ;;
make)
	shift
	make_in_sid "$@"
	;;
*) die "unknown command ${1:-}: see the top of $0" ;;
esac
