#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Packages for other distributions, built by makepkg and rpmbuild as Debian has them: they
# build, and what they install is what Debian's packages do.
#
# shellcheck disable=SC2317 # the tests are called by their names
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$here/../lib/tap.sh"
version=$(sed -n 's/^VERSION.*= //p' "$top/Makefile")
machine=$(gcc -print-multiarch)

# paths: on standard input, as all of them have it: without what each distribution has its
# own places for
paths()
{
	sed -E "s,^\.?/,,; s,usr/lib(64|/$machine)/,usr/lib/,; s,(/man./.*)\.gz$,\1," |
		grep -E '^usr/.*[^/]$' | grep -vE '^usr/(share/(doc|licenses|lintian)|lib/\.build-id|src/[^/]*/(COPYING|LICENSES))(/|$)' | sort -u
}

# The packages of make deb, without lintian.
debian()
{
	local package

	mkdir "$tmp/deb"
	tar -xzf "$tmp/profil-$version.tar.gz" -C "$tmp/deb"
	(cd "$tmp/deb/profil-$version" && DEB_BUILD_OPTIONS=noautodbgsym dpkg-buildpackage -us -uc -b -d)
	for package in "$tmp"/deb/*.deb; do
		dpkg-deb --fsys-tarfile "$package" | tar -t
	done | paths >"$tmp/debian"
	[ -s "$tmp/debian" ]
}

arch()
{
	local package

	mkdir "$tmp/arch"
	cp "$tmp/profil-$version.tar.gz" "$top/packaging/arch/PKGBUILD" "$tmp/arch"
	chmod 755 "$tmp"
	chown -R nobody "$tmp/arch"
	# it does not work as root, nor without a pacman, which Debian has not
	(cd "$tmp/arch" && PKGEXT=.pkg.tar PACMAN=true setpriv --reuid=nobody --clear-groups \
		env HOME="$tmp/arch" makepkg --nodeps --force --skipinteg)
	for package in "$tmp"/arch/*.pkg.tar; do
		tar -tf "$package"
	done | paths | diff "$tmp/debian" -
}

fedora()
{
	rpmbuild -ba --nodeps --define "_topdir $tmp/rpm" --define "_sourcedir $tmp" \
		--define 'debug_package %{nil}' --define '_unitdir /usr/lib/systemd/system' "$top/packaging/profil.spec"
	# folders of it, too, are listed
	rpm -qp --qf '[%{FILEMODES:perms} %{FILENAMES}\n]' "$tmp"/rpm/RPMS/*/*.rpm |
		sed -n 's/^[^d][^ ]* //p' | paths | diff "$tmp/debian" -
}

"$top/packaging/dist.sh" "$version" "$tmp/profil-$version.tar.gz"
check "Debian's packages, to compare with" debian
check 'PKGBUILD: makepkg builds it, and the files are the same' arch
check 'profil.spec: rpmbuild builds it, and the files are the same' fedora
plan
