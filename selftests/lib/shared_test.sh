#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The library as others meet it: symbols, LD_PRELOAD, linking, installation.
# Usage: shared_test.sh LIBDIR (with libprofil.so in it)
set -eu

here=$(cd "$(dirname "$0")" && pwd)
lib=$(cd "$1" && pwd)
: "${CC:=cc}"
# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$here/tap.sh"

symbols() {
	nm -D --defined-only "$lib/libprofil.so" | awk '{ print $2, $3 }' | sort >"$tmp/have"
	printf 'T %s\n' profil profil_query profil_start profil_stats profil_stop >"$tmp/want"
	diff -u "$tmp/want" "$tmp/have"
}

soname() {
	readelf -d "$lib/libprofil.so" | grep -F 'SONAME' | grep -F '[libprofil.so.1]'
}

needs_libc_alone() {
	readelf -d "$lib/libprofil.so" >"$tmp/dynamic"
	test "$(grep -c NEEDED "$tmp/dynamic")" = 1
	grep -F 'NEEDED' "$tmp/dynamic" | grep -F libc.so
}

preload() {
	$CC -o "$tmp/whose" "$here/whose.c"
	nm -D "$tmp/whose" | grep -F profil@GLIBC_2
	LD_PRELOAD="$lib/libprofil.so" "$tmp/whose" | grep -F libprofil.so
	# The test itself can fail: without the preload it is the C library's.
	"$tmp/whose" | grep -F libc.so
}

link_shared() {
	$CC -o "$tmp/linked" "$here/whose.c" -L"$lib" -lprofil
	LD_LIBRARY_PATH=$lib "$tmp/linked" | grep -F libprofil.so.1
}

# No message of the linker either: dlsym() in the archive would give one.
link_static() {
	$CC -static -o "$tmp/static" "$here/../../Documentation/examples/ex.c" \
		-L"$lib" -lprofil >"$tmp/link" 2>&1
	test ! -s "$tmp/link"
	nm "$tmp/static" | grep -w 'T profil'
}

install_tree() {
	make -s -C "$here/../../libwrap" O="$lib" DESTDIR="$tmp/root" PREFIX=/usr \
		LIBDIR=/usr/lib/triplet "$1"
}

installed_files() {
	install_tree install
	(cd "$tmp/root" && find . ! -type d | sort) >"$tmp/have"
	cat >"$tmp/want" <<-EOT
		./usr/include/linux/profil.h
		./usr/include/profil.h
		./usr/lib/triplet/libprofil.a
		./usr/lib/triplet/libprofil.so
		./usr/lib/triplet/libprofil.so.1
		./usr/lib/triplet/libprofil.so.1.0.0
		./usr/lib/triplet/pkgconfig/profil.pc
	EOT
	diff -u "$tmp/want" "$tmp/have"
}

# Headers, library and profil.pc alone, as a user of a package has them.  The
# assignments in profil.pc are shell, which saves having pkg-config.
pkg_config() {
	pc=$tmp/root/usr/lib/triplet/pkgconfig/profil.pc
	sed -n 's/^\([a-z]*=\)/\1/p' "$pc" >"$tmp/variables"
	prefix='' libdir='' includedir=''
	# shellcheck disable=SC1091 # written just above
	. "$tmp/variables"
	test "$prefix,$libdir,$includedir" = /usr,/usr/lib/triplet,/usr/include
	eval "set -- $(sed -n 's/^Cflags: //p;s/^Libs: //p' "$pc" | tr '\n' ' ')"
	for flag; do
		shift
		set -- "$@" "$(echo "$flag" | sed "s,^-[IL],&$tmp/root,")"
	done

	printf '#include <profil.h>\nint main(void) { return profil_stop(); }\n' >"$tmp/user.c"
	$CC -std=c90 -pedantic -Wall -Werror -o "$tmp/user" "$tmp/user.c" "$@"
	LD_LIBRARY_PATH=$tmp/root/usr/lib/triplet "$tmp/user"
}

uninstalled() {
	install_tree uninstall
	test -z "$(find "$tmp/root" ! -type d -print)"
}

check "exports its five calls, without a version" symbols
check "is libprofil.so.1" soname
check "needs the C library alone" needs_libc_alone
check "LD_PRELOAD stands before profil@GLIBC" preload
check "-lprofil stands before the C library" link_shared
check "a static program links without a warning" link_static
check "installs seven files under DESTDIR" installed_files
check "profil.pc compiles C90 against them" pkg_config
check "uninstall leaves no file" uninstalled
plan
