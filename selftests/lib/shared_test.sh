#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The library as others meet it: LD_PRELOAD, linking, installation.
# Usage: shared_test.sh LIBDIR COMPILER... (with libprofil.so in it, for that
# compiler)
set -eu

here=$(cd "$(dirname "$0")" && pwd)
examples=$here/../../Documentation/examples
pages=$here/../../Documentation/man
lib=$(cd "$1" && pwd)
shift
CC="$*"
# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$here/tap.sh"

run=
if readelf -h "$lib/libprofil.so" | grep -q ELF32; then
	tap_note=', with 32 bits' run=$here/run32.sh
fi

compile() {
	$CC -I"$here/../../libwrap" -I"$here/../../uapi" "$@"
}

needs_libc_alone() {
	readelf -d "$lib/libprofil.so" >"$tmp/dynamic"
	test "$(grep -c NEEDED "$tmp/dynamic")" = 1
	grep -F 'NEEDED' "$tmp/dynamic" | grep -F libc.so
}

# Nothing that a forked child or a signal handler may find locked, and nothing
# that touches other descriptors than its own.
needs_no_more_of_it() {
	nm -D --undefined-only "$lib/libprofil.so" >"$tmp/needed"
	grep -wE 'open|open64' "$tmp/needed"
	! grep -E ' (dup|malloc|calloc|realloc|free|atexit|stderr|fopen|.*puts|v?[fd]?printf)' \
		"$tmp/needed"
}

preload() {
	$CC -o "$tmp/whose" "$here/whose.c"
	nm -D "$tmp/whose" | grep -F ' profil@GLIBC_2'
	nm -D "$tmp/whose" | grep -F ' sprofil@GLIBC_2'
	LD_PRELOAD="$lib/libprofil.so" ${run:+"$run"} "$tmp/whose" >"$tmp/ours"
	test "$(grep -c libprofil.so "$tmp/ours")" = 2
	# The test itself can fail: without the preload they are the C library's.
	${run:+"$run"} "$tmp/whose" >"$tmp/theirs"
	test "$(grep -c libc.so "$tmp/theirs")" = 2
}

link_shared() {
	$CC -o "$tmp/linked" "$here/whose.c" -L"$lib" -lprofil
	LD_LIBRARY_PATH=$lib ${run:+"$run"} "$tmp/linked" >"$tmp/ours"
	test "$(grep -c libprofil.so.1 "$tmp/ours")" = 2
}

# What processors check of jumps and returns is on in a process if each object in it agrees.
# The C library's own start-up files do so only where that was built for it.
control_flow_marks() {
	make -s -C "$here/../../libwrap" O="$tmp/cet" CC="$CC" CFLAGS='-O2 -fcf-protection'
	for object in "$tmp"/cet/*.o; do
		echo "$object"
		readelf -n "$object" | grep 'x86 feature: IBT, SHSTK$'
	done
	objdump -d "$tmp/cet/mcount_x86_64.o" >"$tmp/code"
	for name in mcount __fentry__; do
		grep -E -A 1 "<_?$name>:" "$tmp/code" | grep endbr64
	done
}

# No message of the linker either: dlsym() in the archive would give one.
link_static() {
	for example in ex sprofil; do
		$CC -static -o "$tmp/static" "$examples/$example.c" \
			-L"$lib" -lprofil >"$tmp/link" 2>&1
		test ! -s "$tmp/link"
		nm "$tmp/static" | grep -wE 'T s?profil'
	done
}

# Each in its own member: a program's own profil() does not stand in the way.
own_profil() {
	cat >"$tmp/own.c" <<-EOT
		#include <profil.h>
		int profil(unsigned short *b, size_t n, size_t o, unsigned int s);
		int profil(unsigned short *b, size_t n, size_t o, unsigned int s)
		{
			return !b + !n + !o + !s;
		}
		int main(void) { return sprofil(0, profil(0, 0, 0, 0) - 4, 0, 0); }
	EOT
	compile -static -o "$tmp/own" "$tmp/own.c" -L"$lib" -lprofil
	${run:+"$run"} "$tmp/own"
}

# uses_all HEADER...: a source that includes them and uses what they promise
uses_all() {
	printf '#include <%s>\n' "$@"
	cat <<-EOT
		struct prof range;
		int flags = PROF_USHORT | PROF_UINT | PROF_FAST;
		void use(void);
		void use(void)
		{
			struct timeval period;
			profil(0, 0, 0, 0);
			sprofil(&range, 1, &period, flags);
			profil_stop();
		}
	EOT
}

c90() {
	compile -std=c90 -D_DEFAULT_SOURCE -pedantic -Wall -Werror -Wno-nonnull -fsyntax-only "$@"
}

# In any order with the header that has nearly its name, and without it, where
# the C library has none.
# What a program may write, in C and in C++; -m32 has no headers of C++.
dialects() {
	for order in 'profil.h unistd.h' 'unistd.h profil.h' 'profil.h'; do
		{
			# shellcheck disable=SC2086 # words
			printf '#include <%s>\n' $order
			echo 'static unsigned short buf[100];'
			echo 'int main(void) { return profil(buf, sizeof(buf), 0, 65536) || profil_stop(); }'
		} >"$tmp/dialect.c"
		for std in c89 c99 c11 c17 c2x gnu89 gnu99 gnu17 gnu2x; do
			compile -std=$std -Wall -Wextra -Wpedantic -Werror -fsyntax-only "$tmp/dialect.c"
		done
		# no function hides a structure
		sed -nE 's/^struct (prof[a-z_]*) [{]$/\1 *a_\1;/p' \
			"$here/../../libwrap/profil.h" "$here/../../uapi/linux/profil.h" >"$tmp/tags"
		test "$(wc -l <"$tmp/tags")" -ge 5
		cat "$tmp/tags" >>"$tmp/dialect.c"
		for std in c++11 c++14 c++17 c++20 gnu++20; do
			g++ -x c++ -std=$std -Wall -Wextra -Wpedantic -Werror -fsyntax-only \
				-I"$here/../../libwrap" -I"$here/../../uapi" "$tmp/dialect.c"
		done
	done
}

# The sanitizer ends the program when it has something to report.
clean_ends() {
	{
		printf '#include <%s>\n' unistd.h profil.h
		echo 'int main(void) { unsigned short buf[1]; return profil_stop() || profil(buf, 0, 0, 0); }'
	} >"$tmp/ends.c"
	compile -O2 -Wall -Wextra -Wnonnull -Werror -fsanitize=undefined -fno-sanitize-recover=all \
		-o "$tmp/ends" "$tmp/ends.c" -L"$lib" -lprofil -Wl,-rpath,"$lib"
	$run "$tmp/ends"
}

headers() {
	uses_all unistd.h profil.h >"$tmp/1.c"
	uses_all profil.h sys/profil.h unistd.h >"$tmp/2.c"
	uses_all sys/profil.h unistd.h profil.h >"$tmp/3.c"
	for source in "$tmp"/[123].c; do
		c90 "$source"
	done

	mkdir "$tmp/include"
	cp -rs "/usr/include/$(cc -print-multiarch)/." "$tmp/include"
	cp -rsn /usr/include/*.h /usr/include/linux /usr/include/asm-generic "$tmp/include"
	rm "$tmp/include/sys/profil.h"
	uses_all profil.h >"$tmp/4.c"
	CC=cc c90 -nostdinc -isystem "$(cc -print-file-name=include)" \
		-isystem "$tmp/include" "$tmp/4.c"
}

# What a manual page shows of a file is in it, word for word: shown PAGE FILE N
shown() {
	awk -v from="From Documentation/examples/$2:" -v part="$tmp/part" '
		index($0, from) { file = part (++n) }
		/^\.Ed/ { file = inside = "" }
		inside { gsub(/\\e/, "\\"); print >file }
		/^\.Bd -literal/ { inside = file }' "$pages/$1"
	for n in $(seq "$3"); do
		part=$(cat "$tmp/part$n")
		case $(cat "$examples/$2") in
		*"$part"*) ;;
		*)
			echo "this part of $1 is not in $2:"
			echo "$part"
			return 1
			;;
		esac
	done
	rm "$tmp"/part*
}

examples() {
	for example in ex sprofil; do
		$CC -O2 -Wall -Wextra -Werror -o "$tmp/$example" "$examples/$example.c" \
			-L"$lib" -lprofil
	done
	shown profil.3 ex.c 1
	shown sprofil.3 sprofil.c 2
}

install_tree() {
	make -s -C "$here/../../libwrap" O="$lib" CC="$CC" DESTDIR="$tmp/root" PREFIX=/usr \
		LIBDIR=/usr/lib/triplet "$1"
}

installed_files() {
	install_tree install
	(cd "$tmp/root" && find . ! -type d | LC_ALL=C sort) >"$tmp/have"
	cat >"$tmp/want" <<-EOT
		./usr/include/linux/profil.h
		./usr/include/profil.h
		./usr/lib/triplet/libprofil.a
		./usr/lib/triplet/libprofil.so
		./usr/lib/triplet/libprofil.so.1
		./usr/lib/triplet/libprofil.so.1.0.0
		./usr/lib/triplet/pkgconfig/profil.pc
	EOT
	if [ -z "${tap_note:-}" ]; then
		printf './usr/lib/triplet/libprofil_bb.%s\n' a so so.1 so.1.0.0 >>"$tmp/want"
	fi
	LC_ALL=C sort -o "$tmp/want" "$tmp/want"
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
	LD_LIBRARY_PATH=$tmp/root/usr/lib/triplet ${run:+"$run"} "$tmp/user"
}

uninstalled() {
	install_tree uninstall
	test -z "$(find "$tmp/root" ! -type d -print)"
}

check "needs the C library alone" needs_libc_alone
check "needs no stdio, no malloc, no dup of it" needs_no_more_of_it
if readelf -h "$lib/libprofil.so" | grep -q X86-64; then
	check "with -fcf-protection all of it has the marks" control_flow_marks
fi
check "LD_PRELOAD stands before profil@GLIBC and sprofil@GLIBC" preload
check "-lprofil stands before the C library" link_shared
check "a static program links without a warning" link_static
check "a program may have a profil() of its own beside sprofil()" own_profil
check "<profil.h> is at peace with <sys/profil.h>, and replaces it" headers
check "both are without a warning in each C and C++" dialects
check "what ends profiling is clean for compilers and sanitizers" clean_ends
check "the examples compile, and the manual pages show them" examples
check "installs its files under DESTDIR" installed_files
check "profil.pc compiles C90 against them" pkg_config
check "uninstall leaves no file" uninstalled
plan
