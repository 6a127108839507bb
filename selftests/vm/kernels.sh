#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Kernels to test on, fetched into the cache and never installed.
#
#   kernels.sh fetch KERNEL…	make them present; silent when they are
#   kernels.sh here KERNEL	is it present?
#   kernels.sh id KERNEL		print what tells it from another one of that name
#   kernels.sh image KERNEL	print the path of the image
#   kernels.sh headers KERNEL	print the path of the header tree
#   kernels.sh modules KERNEL	print the folder with the modules for the VM
#   kernels.sh busybox KERNEL	print the path of a busybox that runs on it
#   kernels.sh source		print the path of the source tree of 6.12
#
# KERNEL is one of the tags
#
#   6.1 6.1-rt 6.12 6.12-rt	the newest of Debian 12
#   arm64			6.12 of Debian 12 for clouds
#   5.10, trixie, 7.2		the newest of Debian 11, Debian 13 and unstable
#   debug kcsan mainline fuzz	made by debug-kernel.sh
#
# or a Debian 12 version such as 6.12.107+deb12-amd64, or the path of an image
# whose headers are installed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

KERNELS=$CACHE/kernels
TAGS='6.1, 6.1-rt, 6.12, 6.12-rt, arm64, 5.10, trixie, 7.2, debug, kcsan, mainline, fuzz'

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
	[ -e "$2/vmlinuz" ] && return
	room "$2" 100
	die "there is no kernel in ${1##*/}: choose another with KERNEL="
}

# unpack DEB DIR
unpack()
{
	dpkg-deb -x "$1" "$2" 2>/dev/null && return
	room "$2" 100
	die "${1##*/} is damaged: try again"
}

# complete TAG: it is there, with all that is taken out of a package today
complete()
{
	[ "$(cat "$KERNELS/$1/wanted" 2>/dev/null)" = "$MODULES" ]
}

# finish TAG VERSION: what was made in its temporary folder is there
finish()
{
	local tmp=$KERNELS/tmp.$1

	echo "$MODULES" >"$tmp/wanted"
	cd "$KERNELS"
	rm -r "$tmp/debs"
	publish "$tmp" "$KERNELS/$2"
	[ "$1" = "$2" ] || ln -sfn "$2" "$KERNELS/$1"
}

# versions ARCH: those that the lists have
versions()
{
	apt-cache pkgnames linux-headers- | grep -xE "linux-headers-[0-9].*-$1" | sed 's/linux-headers-//' |
		sort -V | paste -sd ' '
}

# make_stock TAG SUITE ARCH META: the kernel that a metapackage names, or META
# by itself; the compiler of Debian 12 serves
make_stock()
{
	local tmp=$KERNELS/tmp.$1 version kbuild common dir headers deb

	! complete "$1" || return 0
	scratch "$tmp"
	mkdir -p "$tmp/debs"
	room "$tmp" 800
	cd "$tmp/debs"
	apt_open "$2" "$3"
	version=$(apt_depends "linux-image-$4" 'linux-image-.*' || echo "linux-image-$4")
	version=${version#linux-image-}
	dir=$KERNELS/$version headers=usr/src/linux-headers-$version
	common=$(apt_depends "linux-headers-$version" 'linux-headers-.*-common.*') ||
		die "Debian $2 has no kernel $version: give KERNEL= one of $(versions "$3")"
	kbuild=$(apt_depends "linux-headers-$version" 'linux-kbuild-.*')
	if [ "$3" = amd64 ]; then
		apt_fetch "linux-image-$version" "linux-headers-$version" "$common" "$kbuild"
	else
		apt_fetch "linux-image-$version" "linux-headers-$version" "$common" busybox-static
		dpkg-deb --fsys-tarfile busybox-static_*.deb | tar -xO ./bin/busybox >"$tmp/busybox"
		chmod +x "$tmp/busybox"
		rm busybox-static_*.deb
		# the build tools run here, whatever they build for
		(apt_open "$2" amd64 && apt_fetch "$kbuild")
	fi
	say "unpacking $version"
	unpack_image linux-image-*.deb "$tmp"
	while read -r deb; do
		unpack "$deb" "$tmp"
	done < <(find . -name '*.deb' ! -name 'linux-image-*')
	# Debian's makefile names /usr/src, where these are not
	sed -i "s,/usr/src/linux-headers,$dir/usr/src/linux-headers," "$tmp/$headers/Makefile"
	# nor is gcc 10 there for that of Debian 11
	sed -i 's/gcc-10/gcc-12/' "$tmp/$headers/.kernelvariables"
	ln -s "$headers" "$tmp/headers"
	finish "$1" "$version"
}

# make_newer TAG SUITE: of a Debian that is newer than 12, with the compiler it
# was built with: neither its build tools nor its headers work with an older C
# library.  newer.sh builds with that.
make_newer()
{
	local tmp=$KERNELS/tmp.$1 version image compiler deb

	! complete "$1" || return 0
	scratch "$tmp"
	mkdir -p "$tmp/debs" "$tmp/root"/{proc,dev,tmp}
	room "$tmp" 1500
	cd "$tmp/debs"
	apt_open "$2" amd64
	version=$(apt_depends linux-headers-amd64 'linux-headers-.*')
	version=${version#linux-headers-}
	# where they are packages of their own, modules take 110 MB
	image=linux-binary-$version
	apt-cache show "$image" >/dev/null 2>&1 || image=linux-image-$version
	apt_fetch "$image"
	unpack_image "$image"_*.deb "$tmp"
	rm "$image"_*.deb
	compiler=$(apt_depends "linux-headers-$version" 'gcc-[0-9].*')
	# older ones cannot read these headers; what it depends on, its other tools use
	apt_fetch sparse "linux-headers-$version" "$(apt_depends "linux-headers-$version" 'linux-headers-.*-common')"
	say "downloading the compiler of $version (about 100 MB)"
	apt-get -qq -y --download-only -o Dir::Cache::archives="$PWD" install base-files bash coreutils \
		dash findutils "$compiler" grep "$(apt_depends "linux-headers-$version" 'linux-kbuild-.*')" \
		make mawk sed >"$tmp/log" 2>&1 ||
		apt_failed "cannot download the compiler of $version" "$tmp/log"
	say "unpacking $version"
	# the links from /bin and /lib to /usr come with base-files
	for deb in base-files_*.deb $(find . -name '*.deb' ! -name 'base-files_*'); do
		unpack "$deb" "$tmp/root"
	done
	ln -sf mawk "$tmp/root/usr/bin/awk"
	ln -s "root/usr/src/linux-headers-$version" "$tmp/headers"
	finish "$1" "$version"
}

make_source()
{
	local tmp=$CACHE/tmp.source

	[ ! -e "$CACHE/source" ] || return 0
	scratch "$tmp"
	mkdir -p "$tmp/tree"
	room "$tmp" 2000
	cd "$tmp"
	apt_open bookworm amd64
	apt_fetch linux-source-6.12
	say 'unpacking linux-source-6.12 (1.3 GB)'
	dpkg-deb --fsys-tarfile linux-source-6.12_*.deb |
		tar -xO --wildcards '*/linux-source-6.12.tar.xz' |
		tar -xJ -C tree --strip-components=1 --exclude='*/drivers/gpu/drm/amd/include/*' 2>log ||
		die "cannot unpack linux-source-6.12: $(head -n 1 log)"
	dpkg-deb -f linux-source-6.12_*.deb Version >tree/.debian-version
	publish "$tmp/tree" "$CACHE/source"
}

# installed_headers IMAGE: the boot protocol of x86 says where the version is
installed_headers()
{
	local at version

	at=$(od -An -tu2 -j $((0x20e)) -N 2 "$1")
	version=$(head -c $((at + 0x200 + 80)) "$1" | tail -c 80 | tr "\0" " ")
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
	debug | kcsan | mainline | fuzz)
		"$VM/debug-kernel.sh" "$1" >/dev/null
		;;
	*)
		! complete "$1" || return 0
		case $1 in
		5.10) locked "kernel-$1" make_stock "$1" bullseye amd64 amd64 ;;
		6.1) locked "kernel-$1" make_stock "$1" bookworm amd64 amd64 ;;
		6.1-rt) locked "kernel-$1" make_stock "$1" bookworm amd64 rt-amd64 ;;
		6.12 | 6.12-rt) locked "kernel-$1" make_stock "$1" bookworm amd64 "$1-amd64" ;;
		arm64) locked "kernel-$1" make_stock "$1" bookworm arm64 6.12-cloud-arm64 ;;
		trixie) locked "kernel-$1" make_newer "$1" trixie ;;
		7.2) locked "kernel-$1" make_newer "$1" sid ;;
		*-amd64) locked "kernel-$1" make_stock "$1" bookworm amd64 "$1" ;;
		*) die "there is no kernel $1: give $TAGS, a version such as 6.12.107+deb12-amd64, or the path of an image" ;;
		esac
		;;
	esac
}

# here KERNEL: without fetching it
here()
{
	case $1 in
	*/*) [ -r "$1" ] ;;
	*) if own_kernel "$1"; then "$VM/debug-kernel.sh" --here "$1"; else complete "$1"; fi ;;
	esac
}

# id KERNEL: of its image, of what it exports, and of the compiler that came with it.  The image
# of an own kernel says when it was built; the name of its folder, what of.
id()
{
	local headers

	if own_kernel "$1"; then
		basename "$("$VM/debug-kernel.sh" "$1")"
		return
	fi
	headers=$(path "$1" headers)
	{
		cat "$(path "$1" vmlinuz)" "$headers/Module.symvers"
		cat "${headers%/usr/src/*}"/usr/libexec/gcc/x86_64-linux-gnu/*/cc1 2>/dev/null || true
	} | sha256sum
}

# path KERNEL NAME: of its image, headers or modules
path()
{
	fetch "$1"
	case $1:$2 in
	*/*:vmlinuz) echo "$1" ;;
	*/*:headers) installed_headers "$1" ;;
	*/*:modules) die "the modules that --root9p and --swap need are fetched for a kernel by tag or version, not for $1" ;;
	debug:* | kcsan:* | mainline:* | fuzz:*) echo "$("$VM/debug-kernel.sh" "$1")/$2" ;;
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
here) here "$1" ;;
id) id "$1" ;;
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
