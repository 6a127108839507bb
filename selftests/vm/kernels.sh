#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Kernels to test on, fetched into the cache and never installed.
#
#   kernels.sh fetch KERNEL…	make them present; silent when they are
#   kernels.sh image KERNEL	print the path of the image
#   kernels.sh headers KERNEL	print the path of the header tree
#   kernels.sh modules KERNEL	print the folder with the modules for the VM
#   kernels.sh busybox KERNEL	print the path of a busybox that runs on it
#   kernels.sh source		print the path of the source tree of 6.12
#
# KERNEL is one of the tags 6.1 6.12 7.2 arm64, of those that debug-kernel.sh
# makes (debug kcsan mainline), a Debian 12 version such as
# 6.12.107+deb12-amd64, or the path of an image whose headers are installed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

KERNELS=$CACHE/kernels

# unpack_image DEB DIR: only what is used
unpack_image()
{
	local name wanted=()

	for name in $MODULES; do
		wanted+=("*/kernel/*/$name.ko*")
	done
	mkdir -p "$2/modules" "$2/image"
	# tar fails when a pattern matches nothing, which is no fault here
	dpkg-deb --fsys-tarfile "$1" |
		tar -x -C "$2/image" --wildcards '*/vmlinuz*' "${wanted[@]}" 2>/dev/null || true
	find "$2/image" -name 'vmlinuz*' -type f -exec mv {} "$2/vmlinuz" \;
	find "$2/image" -name '*.ko*' -exec mv -t "$2/modules" {} +
	find "$2/modules" -name '*.xz' -exec xz -d {} +
	rm -r "$2/image"
	[ -e "$2/vmlinuz" ] || die "there is no kernel in ${1##*/}: choose another with KERNEL="
}

# complete TAG: it is there, with all that is taken out of a package today
complete()
{
	[ "$(cat "$KERNELS/$1/wanted" 2>/dev/null)" = "$MODULES" ]
}

# make_stock TAG META ARCH: a kernel of Debian 12, by the metapackage that
# names the newest, or by itself
make_stock()
{
	local tmp=$KERNELS/tmp.$1 version kbuild common dir

	! complete "$1" || return 0
	rm -rf "$tmp"
	mkdir -p "$tmp/debs"
	cd "$tmp/debs"
	apt_open bookworm "$3"
	version=$(apt_depends "linux-image-$2" 'linux-image-.*' || echo "linux-image-$2")
	version=${version#linux-image-}
	dir=$KERNELS/$version
	common=$(apt_depends "linux-headers-$version" 'linux-headers-.*-common') ||
		die "Debian 12 has no kernel $version: apt-cache search linux-headers-6 lists some"
	kbuild=$(apt_depends "linux-headers-$version" 'linux-kbuild-.*')
	if [ "$3" = amd64 ]; then
		apt_fetch "linux-image-$version" "linux-headers-$version" "$common" "$kbuild"
	else
		apt_fetch "linux-image-$version" "linux-headers-$version" "$common" busybox-static
		dpkg-deb --fsys-tarfile busybox-static_*.deb | tar -xO ./bin/busybox >"$tmp/busybox"
		chmod +x "$tmp/busybox"
		rm busybox-static_*.deb
		# the build tools run here, whatever they build for
		(apt_open bookworm amd64 && apt_fetch "$kbuild")
	fi
	say "unpacking $version"
	unpack_image linux-image-*.deb "$tmp"
	find . -name '*.deb' ! -name 'linux-image-*' -exec dpkg-deb -x {} "$tmp" \;
	# Debian's makefile names /usr/src, where these are not
	sed -i "s,/usr/src/linux-headers,$dir/usr/src/linux-headers," \
		"$tmp/usr/src/linux-headers-$version/Makefile"
	ln -s "usr/src/linux-headers-$version" "$tmp/headers"
	echo "$MODULES" >"$tmp/wanted"
	cd "$KERNELS"
	rm -r "$tmp/debs"
	publish "$tmp" "$dir"
	[ "$1" = "$version" ] || ln -sfn "$version" "$KERNELS/$1"
}

make_source()
{
	local tmp=$CACHE/tmp.source

	[ ! -e "$CACHE/source" ] || return 0
	rm -rf "$tmp"
	mkdir -p "$tmp/tree"
	cd "$tmp"
	apt_open bookworm amd64
	apt_fetch linux-source-6.12
	say 'unpacking linux-source-6.12 (1.3 GB)'
	dpkg-deb --fsys-tarfile linux-source-6.12_*.deb |
		tar -xO --wildcards '*/linux-source-6.12.tar.xz' |
		tar -xJ -C tree --strip-components=1 --exclude='*/drivers/gpu/drm/amd/include/*'
	dpkg-deb -f linux-source-6.12_*.deb Version >tree/.debian-version
	publish "$tmp/tree" "$CACHE/source"
	cd "$CACHE"
	rm -r "$tmp"
}

# installed_headers IMAGE: the boot protocol of x86 says where the version is
installed_headers()
{
	local at version

	at=$(od -An -tu2 -j $((0x20e)) -N 2 "$1")
	version=$(tail -c +$((at + 0x200 + 1)) "$1" | head -c 80 | tr '\0' ' ')
	version=${version%% *}
	[ -e "/lib/modules/$version/build/Makefile" ] ||
		die "the headers of $1 are not installed: apt-get install linux-headers-$version"
	echo "/lib/modules/$version/build"
}

fetch()
{
	case $1 in
	*/*)
		[ -r "$1" ] || die "there is no kernel image $1: check KERNEL="
		;;
	debug | kcsan | mainline)
		"$VM/debug-kernel.sh" "$1" >/dev/null
		;;
	7.2)
		[ -e "$KERNELS/7.2" ] || "$VM/sid.sh" fetch
		;;
	*)
		! complete "$1" || return 0
		case $1 in
		6.1) locked "kernel-$1" make_stock "$1" amd64 amd64 ;;
		6.12) locked "kernel-$1" make_stock "$1" 6.12-amd64 amd64 ;;
		arm64) locked "kernel-$1" make_stock "$1" 6.12-cloud-arm64 arm64 ;;
		*-amd64) locked "kernel-$1" make_stock "$1" "$1" amd64 ;;
		*) die "unknown kernel $1: see the top of $0" ;;
		esac
		;;
	esac
}

# path KERNEL NAME: of its image, headers or modules
path()
{
	fetch "$1"
	case $1:$2 in
	*/*:vmlinuz) echo "$1" ;;
	*/*:headers) installed_headers "$1" ;;
	*/*:modules) die "the modules that --root9p and --swap need are fetched for a kernel by tag or version, not for $1" ;;
	debug:* | kcsan:* | mainline:*) echo "$("$VM/debug-kernel.sh" "$1")/$2" ;;
	*) readlink -f "$KERNELS/$1/$2" ;;
	esac
}

[ $# -gt 0 ] || die "which command? see the top of $0"
need dpkg-deb dpkg
need xz xz-utils
command=$1
shift
case $command in
fetch)
	for kernel; do
		fetch "$kernel"
	done
	;;
image) path "$1" vmlinuz ;;
headers | modules) path "$1" "$command" ;;
busybox)
	case $1 in
	arm64) path "$1" busybox ;;
	*) command -v busybox ;;
	esac
	;;
source)
	[ -e "$CACHE/source" ] || locked source make_source
	echo "$CACHE/source"
	;;
*) die "unknown command $command: see the top of $0" ;;
esac
