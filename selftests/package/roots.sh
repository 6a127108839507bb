# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Debian's file systems of a release, made by mmdebstrap and kept in the cache as tars, with
# all packages in them that are installed later: once they are there, no network is needed.

. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"
ROOTS=$CACHE/roots

# build_depends: packages that debian/control names, without versions
build_depends()
{
	sed -n '/^Build-Depends/,/^[^ B]/p' "$TOP/debian/control" | grep -E '^(Build-Depends| )' |
		sed -E 's/^[^:]*://; s/\([^)]*\)//g' | tr -s ', \n' ,  | sed 's/^,//; s/,$//'
}

# kernels_of SUITE: the version before its newest, and the newest
kernels_of()
(
	apt_open "$1" amd64
	newest=$(apt_depends linux-image-amd64 'linux-image-.*')
	before=$(apt-cache pkgnames linux-image-6 | grep -E -- '-[0-9.-]+([+]deb[0-9.]+)?-amd64$' | sort -V |
		grep -xF -B 1 "$newest" | head -n 1)
	[ "$before" != "$newest" ] || die "Debian $1 has no kernel beside $newest: try again after its next update"
	echo "${before#linux-image-} ${newest#linux-image-}"
)

# debootstrap SUITE TAR OPTION…
debootstrap()
{
	apt-config dump | grep '^Acquire::' >"$scratch/aptopt" || :
	echo 'Acquire::Check-Valid-Until "false";' >>"$scratch/aptopt"
	TMPDIR=$scratch mmdebstrap --mode=root --aptopt="$scratch/aptopt" --dpkgopt=force-unsafe-io --skip=cleanup/apt,essential/unlink \
		"${@:3}" "$1" "$scratch/root.tar" "deb $mirror $1 main" "deb $mirror_security $1-security main" \
		>"$scratch/log" 2>&1 ||
		die "mmdebstrap cannot make a root of $1: $(grep -m 1 '^E:' "$scratch/log" || tail -n 1 "$scratch/log")"
	publish "$scratch/root.tar" "$2"
}

# make_build SUITE TAR: packages are built in it
make_build()
{
	scratch "$CACHE/tmp.root-$1"
	say "making a root of $1 to build in"
	debootstrap "$1" "$2" --variant=buildd --include="$(build_depends),lintian"
}

# make_cross SUITE TAR: packages of arm64 are built in it, with the libraries of that machine
make_cross()
{
	scratch "$CACHE/tmp.root-$1"
	say "making a root of $1 to build for arm64 in"
	debootstrap "$1" "$2" --variant=buildd --architectures=amd64,arm64 \
		--include="$(build_depends | sed -E 's/([^,]*-dev)(,|$)/\1:arm64\2/g'),crossbuild-essential-arm64,lintian"
}

# make_system SUITE TAR: what a user has, with a kernel before the newest
make_system()
{
	local kernels before newest

	scratch "$CACHE/tmp.root-$1"
	kernels=$(kernels_of "$1") || exit
	read -r before newest <<<"$kernels"
	say "making a root of $1 to boot, with $before"
	# shellcheck disable=SC2016 # expanded there
	debootstrap "$1" "$2" --variant=apt \
		--include="systemd-sysv,udev,kmod,man-db,python3,e2fsprogs,initramfs-tools,linux-image-$before" \
		--customize-hook="APT_CONFIG=\$MMDEBSTRAP_APT_CONFIG apt-get -qq -y --no-install-recommends --download-only install \
			dkms gcc libc6-dev openssl linux-headers-$before linux-image-$newest linux-headers-$newest linux-image-amd64 linux-headers-amd64 \
			$(build_depends | tr , '\n' | grep -- '-dev$' | tr '\n' ' ')" \
		--customize-hook="echo $before $newest >\"\$1/etc/kernels\""
}

# made WHAT SUITE TAR: unless another run has made it meanwhile
made()
{
	[ ! -e "$3" ] || return 0
	"make_$1" "$2" "$3"
	find "$ROOTS" -name "$2-$1*.tar" ! -path "$3" -delete
}

# root SUITE build|cross|system FOLDER: unpack it there
root()
{
	local tar

	# what it is made of is its name: where debian/control asks for more, another one is made
	tar=$ROOTS/$1-$2-$({ build_depends; declare -f "make_$2"; } | sha256sum | cut -c 1-12).tar
	mirrors
	mkdir -p "$ROOTS" "$3"
	[ -e "$tar" ] || room "$CACHE" 6000
	[ -e "$tar" ] || locked "root-$1" made "$2" "$1" "$tar" || exit
	tar -x --numeric-owner -f "$tar" -C "$3"
}
