#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Builds the Debian packages, source and binary, in build/deb, and has lintian look at them.
#
#   packaging/deb.sh VERSION [OPTION OF dpkg-buildpackage…]
set -euo pipefail

cd "$(dirname "$0")/.."
out=build/deb log=build/deb/build.log
rm -rf "$out"
mkdir -p "$out"
packaging/dist.sh "$1" "$out/profil_$1.orig.tar.gz"
tar -xzf "$out/profil_$1.orig.tar.gz" -C "$out"
echo "deb.sh: building in $out; all output is in $log"
(cd "$out/profil-$1" && DEB_BUILD_OPTIONS="noautodbgsym ${DEB_BUILD_OPTIONS:-}" exec dpkg-buildpackage -us -uc "${@:2}") >"$log" 2>&1 ||
	{ tail -n 30 "$log" >&2; echo "deb.sh: the packages do not build: see above" >&2; exit 1; }
rm -r "$out/profil-$1"
# A newer Debian has a newer policy: one package is for two of them.  Debian 13's lintian has no
# rule of scripts of init any more, and says so of each override.
quiet='out-of-date-standards-version'
[ -e /usr/share/lintian/tags/p/package-supports-alternative-init-but-no-init.d-script.tag ] ||
	quiet+=,alien-tag
lintian --display-info --pedantic --fail-on error,warning,info,pedantic \
	--suppress-tags "$quiet" --allow-root "$out"/*.changes
ls -1 "$out"/*.deb
