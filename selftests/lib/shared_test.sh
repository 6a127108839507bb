#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The library as others meet it: symbols, LD_PRELOAD, linking, installation.
# Usage: shared_test.sh LIBDIR (with libprofil.so in it)
set -eu

here=$(cd "$(dirname "$0")" && pwd)
lib=$(cd "$1" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
count=0
: "${CC:=cc}" "${CXX:=c++}"

# check NAME COMMAND...: one result; what the command said is shown if it fails
check() {
	count=$((count + 1))
	name=$1
	shift
	# Not as the condition of an if: there the shell forgets its -e.
	set +e
	(set -e; "$@") >"$tmp/out" 2>&1
	status=$?
	set -e
	if [ $status = 0 ]; then
		echo "ok $count - $name"
	else
		sed 's/^/# /' "$tmp/out"
		echo "not ok $count - $name"
	fi
}

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

# Headers, library and pkg-config file alone, as a user of a package has them.
pkg_config() {
	PKG_CONFIG_LIBDIR=$tmp/root/usr/lib/triplet/pkgconfig \
	PKG_CONFIG_SYSROOT_DIR=$tmp/root PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 \
		pkg-config --cflags --libs profil >"$tmp/flags"
	grep -F "$tmp/root/usr/include" "$tmp/flags"
	printf '#include <profil.h>\nint main(void) { return profil_stop(); }\n' >"$tmp/user.c"
	# shellcheck disable=SC2046 # several words
	$CC -std=c90 -pedantic -Wall -Werror -o "$tmp/user" "$tmp/user.c" $(cat "$tmp/flags")
	LD_LIBRARY_PATH=$tmp/root/usr/lib/triplet "$tmp/user"
	cp "$tmp/user.c" "$tmp/user.cc"
	# shellcheck disable=SC2046
	$CXX -Wall -Werror -o "$tmp/user" "$tmp/user.cc" $(cat "$tmp/flags")
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
check "pkg-config compiles C90 and C++ against them" pkg_config
check "uninstall leaves no file" uninstalled
echo "1..$count"
