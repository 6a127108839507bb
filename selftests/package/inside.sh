# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # $out and $version are of who has this file
# Commands in a root of Debian, and packages that are built there.

# inside ROOT COMMAND…: what it mounts is gone afterwards
inside()
{
	# shellcheck disable=SC2016 # expanded there
	unshare --mount sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" \
		env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C.UTF-8 "$@"' "$@" </dev/null
}

# packages_in ROOT [OPTION OF dpkg-buildpackage…]: as an ordinary user, with lintian at the end
packages_in()
{
	"$TOP/packaging/dist.sh" "$version" "$1/srv/profil.tar.gz"
	tar -xzf "$1/srv/profil.tar.gz" -C "$1/srv"
	chown -R 1000:1000 "$1/srv"
	# shellcheck disable=SC2016
	inside "$1" setpriv --reuid=1000 --regid=1000 --clear-groups \
		sh -c 'cd "/srv/profil-$1" && shift && packaging/deb.sh "$@"' sh "$version" "$version" "${@:2}"
	mkdir "$out/packages"
	mv "$1/srv/profil-$version"/build/deb/*.deb "$out/packages"
}
