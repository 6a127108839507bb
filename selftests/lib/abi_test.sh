#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What programs were built with stays as it is: names, symbols, their versions, and what
# <profil.h> declares, against abi.list.
# Usage: abi_test.sh LIBDIR COMPILER... (with libprofil.so in it, for that compiler)
set -eu

here=$(cd "$(dirname "$0")" && pwd)
lib=$(cd "$1" && pwd)
shift
CC="$*"
# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$here/tap.sh"

list=$here/abi.list
header=$here/../../libwrap/profil.h
readelf -h "$lib/libprofil.so" >"$tmp/elf"
case $(cat "$tmp/elf") in
*ELF32*) tap_note=', with 32 bits' machines='all|32' ;;
*X86-64*) machines='all|64|x86_64' ;;
*) machines='all|64' ;;
esac

# listed KIND: what the list has of it for this machine, without the machine
listed() {
	sed -nE "s/^($machines) ($1 )/\2/p" "$list" | LC_ALL=C sort
}

# Both libraries, where there are both.
libraries() {
	for library in libprofil.so libprofil_bb.so; do
		[ ! -e "$lib/$library.1" ] || echo "$library"
	done
}

sonames() {
	for library in $(libraries); do
		readelf -d "$lib/$library.1" | sed -nE "s/.*\(SONAME\).*\[(.*)\]/soname $library \1/p"
	done | LC_ALL=C sort
}

# Of one library.  An old version of a symbol, which new programs do not get, has a single @.
symbols() {
	nm -D --defined-only --with-symbol-versions "$lib/$1.1" | awk -v library="$1" '
		$2 == "A" { next }
		{
			node = name = $NF
			sub(/@.*/, "", name)
			if (!sub(/[^@]*@+/, "", node))
				node = "Base"
			print "symbol", library, node, name
		}'
}

# names PATTERN: of what a line of the header defines
names() {
	sed -nE "s/$1/\1/p" "$tmp/profil.h"
}

# A size for each number: what was compiled need not run.  A size of 0 is none: so, one more.
probes() {
	echo '#include <profil.h>'
	for struct in $(names '^struct ([a-z_]+) \{$'); do
		echo "char struct_X_${struct}[sizeof(struct $struct) + 1];"
	done
	awk '/^struct [a-z_]+ [{]$/ { name = $2 }
		/^}/ { name = "" }
		/^\t.*;/ && name {
			sub(/[;[].*/, "")
			sub(/.*[ *]/, "")
			print name, $0
		}' "$tmp/profil.h" | while read -r struct member; do
		echo "char member_X_${struct}_X_${member}_X_at[__builtin_offsetof(struct $struct, $member) + 1];"
		echo "char member_X_${struct}_X_${member}_X_bytes[sizeof(((struct $struct *)0)->$member) + 1];"
	done
	for constant in $(names '^	(PROF_[A-Z_]+)[	 ]*=.*'); do
		echo "char constant_X_${constant}[$constant + 1];"
	done
}

# declared WHOSE: ours is what stands in where the C library has no <sys/profil.h>; theirs has
# to be the same, for programs pass its structure.
declared() {
	mkdir -p "$tmp/include"
	sed 's,__has_include("sys/profil.h"),0,' "$header" >"$tmp/profil.h"
	if cmp -s "$tmp/profil.h" "$header"; then
		echo "libwrap/profil.h asks in another way for <sys/profil.h>: change this test"
		return 1
	fi
	cp "$tmp/profil.h" "$tmp/include"
	[ "$1" = ours ] || cp "$header" "$tmp/include"
	probes >"$tmp/probe.c"
	$CC -I"$tmp/include" -I"$here/../../uapi" -c -fno-common -o "$tmp/probe.o" "$tmp/probe.c"
	nm -S "$tmp/probe.o" | sort -k 4 | while read -r _ bytes _ name; do
		echo "$name $((0x$bytes - 1))"
	done | sed 's/_X_/ /g' | awk '
		$1 == "member" && $4 == "at" { at = $5; next }
		$1 == "member" { print $1, $2, $3, at, $5; next }
		{ print }' | LC_ALL=C sort
}

# What is to be done about a line that is only in the list (-), or only here (+).
advise() {
	while read -r sign kind what; do
		case $sign$kind in
		-soname)
			echo "gone: soname $what.  No program that is linked with it starts any more." \
				"Set SOVERSION in libwrap/Makefile back." ;;
		+soname)
			echo "new: soname $what.  Set SOVERSION in libwrap/Makefile back to 1.*." ;;
		-symbol)
			echo "gone: symbol $what.  Programs that use it do not start any more." \
				"Put it back, with this version, in libwrap/*.map." ;;
		+symbol)
			# shellcheck disable=SC2086 # words
			new_symbol $what ;;
		-*)
			echo "gone: $kind $what.  Programs are compiled with it." \
				"Put it back in libwrap/profil.h." ;;
		*)
			echo "new: $kind $what.  If it stands in the place of what is gone, put that" \
				"back; if there is nothing gone, add the line to selftests/lib/abi.list." ;;
		esac
	done
}

# new_symbol LIBRARY NODE NAME
new_symbol() {
	if listed symbol | grep -q "^symbol $1 $2 "; then
		echo "new: symbol $*.  $2 is a version that is closed: a program that uses the" \
			"symbol would start with an older library, and end amid its work." \
			"Put it into a new version, as selftests/lib/abi.list says at its end;" \
			"or, if it is no call for programs, leave PROFIL_API out."
	else
		echo "new: symbol $*.  If $2 is right, add the line to selftests/lib/abi.list," \
			"and to debian/libprofil1.symbols."
	fi
}

# same WANT HAVE: both are sorted
same() {
	test -s "$1"
	LC_ALL=C comm -23 "$1" "$2" | sed 's/^/- /' >"$tmp/lines"
	LC_ALL=C comm -13 "$1" "$2" | sed 's/^/+ /' >>"$tmp/lines"
	advise <"$tmp/lines"
	test ! -s "$tmp/lines"
}

same_sonames() {
	listed soname >"$tmp/want"
	sonames >"$tmp/have"
	same "$tmp/want" "$tmp/have"
}

same_symbols() {
	listed symbol >"$tmp/want"
	for library in $(libraries); do
		symbols "$library"
	done | LC_ALL=C sort >"$tmp/have"
	same "$tmp/want" "$tmp/have"
}

same_layout() {
	listed '(struct|member|constant)' >"$tmp/want"
	for whose in ours theirs; do
		declared $whose >"$tmp/have"
		same "$tmp/want" "$tmp/have"
	done
}

same_calls() {
	listed call >"$tmp/calls"
	while read -r _ name type; do
		printf '#include <profil.h>\n_Static_assert(__builtin_types_compatible_p(%s, %s), "%s");\n' \
			"__typeof__($name)" "$type" \
			"the type of $name() changed: put it back, and give what is new another name"
	done <"$tmp/calls" >"$tmp/calls.c"
	test -s "$tmp/calls.c"
	$CC -I"$here/../../libwrap" -I"$here/../../uapi" -fsyntax-only "$tmp/calls.c"
}

# What Debian's packages have their dependencies from: the same, for both machines.
same_debian() {
	sed -nE 's/^(all|64|x86_64) symbol (.*)/\1 \2/p' "$list" |
		sed 's/^x86_64/amd64/; s/^\(all\|64\)/any/' | LC_ALL=C sort >"$tmp/want"
	awk '/^[^# *]/ { library = $1; sub(/\.1$/, "", library) }
		/^ / {
			machine = sub(/\(arch=amd64\)/, "") ? "amd64" : "any"
			split($1, part, "@")
			print machine, library, part[2], part[1]
		}' "$here/../../debian/libprofil1.symbols" | LC_ALL=C sort >"$tmp/have"
	diff --label selftests/lib/abi.list --label debian/libprofil1.symbols -U 0 \
		"$tmp/want" "$tmp/have"
}

check "each library has the name that programs look for" same_sonames
check "each symbol and its version is as in abi.list" same_symbols
check "structures and constants are, ours and the C library's" same_layout
check "the types of calls are" same_calls
check "Debian's list of symbols is" same_debian
plan
