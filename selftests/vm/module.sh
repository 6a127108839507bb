#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Build the module for kernels.
#
#   module.sh KERNEL…		build/k/KERNEL/profil.ko
#   TEST=1 module.sh KERNEL…	profil_test.ko, which has its race windows widened
#   MUTANT=name module.sh …	profil_mutant_name.ko: profil_test.ko with
#				selftests/race/mutants/name.patch
#   COV=1 module.sh KERNEL	profil_cov.ko, which tells the fuzzer what it ran (KCOV);
#				KERNEL is debug or fuzz
#   COV=1 TEST=1 module.sh …	profil_gcov.ko: profil_test.ko, which tells it to
#				coverage.sh (GCOV)
#   PLANT=1 module.sh …		plant.ko, for selfcheck.sh
#   FLOOR=1 module.sh …		floor.ko, for bench.sh
#   MODULE_MAKE='C=2' module.sh …  once more, with these arguments to make and
#				all of make's output, leaving the above alone; KEEP=1:
#				only for what changed
#
# Silent when nothing changed; warnings of the compiler are always shown.  The
# folder in which make works is kept, so that only what changed is compiled again.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# make_in DIR ARGUMENT…
make_in()
{
	# type information would need pahole, and nobody asks for it
	set -- "$@" CONFIG_DEBUG_INFO_BTF_MODULES= -j"$(nproc)"
	case $kernel in
	trixie | 7.2) "$VM/newer.sh" "$kernel" "$@" ;;
	*) make -C "$headers" M="$1" W=1 "${@:2}" modules ;;
	esac
}

# refresh DIR FOLDER…: DIR has the same files as these folders of the source.  A file
# that did not change keeps its time, and make leaves its object alone.
refresh()
{
	local dir=$1 file
	shift

	(cd "$TOP" && find "$@" -type f) >"$dir.files"
	while read -r file; do
		cmp -s "$TOP/$file" "$dir/$file" ||
			{ mkdir -p "$dir/$(dirname "$file")" && cp "$TOP/$file" "$dir/$file"; }
	done <"$dir.files"
	# what a probe or a rule would still find
	(cd "$dir" && find "$@" -name '*.[chS]' ! -name '*.mod.c' -type f) |
		awk 'NR == FNR { ours[$0]; next } !($0 in ours)' "$dir.files" - | sed "s,^,$dir/," | xargs -r rm
}

# build NAME FOLDER SOURCES ARGUMENT…: build/k/KERNEL/NAME.ko from SOURCES, which lie
# in build/k/KERNEL/FOLDER.d meanwhile, and make's ARGUMENTs
build()
{
	local name=$1 ko=$out/$1.ko work=$out/$2.d sources=$3 patch stamp same rc=0
	patch=${MUTANT:+selftests/race/mutants/$MUTANT.patch}
	shift 3

	same=$(echo "$headers" "$@"; gcc --version | head -n 1)
	# shellcheck disable=SC2086 # SOURCES are words
	stamp=$(cd "$TOP" && { find $sources $patch -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum
				echo "$same"; } | sha256sum)
	[ ! -e "$ko" ] || [ "$(cat "$ko.stamp" 2>/dev/null)" != "$stamp" ] || return 0
	rm -f "$ko.stamp"
	# with another kernel or compiler nothing of it is of use
	[ "$(cat "$work.same" 2>/dev/null)" = "$same" ] || rm -rf "$work"
	mkdir -p "$work"
	echo "$same" >"$work.same"
	# shellcheck disable=SC2086
	refresh "$work" $sources
	[ ! -e "$work/$sources/Kbuild" ] || cp -p "$work/$sources"/* "$work"
	[ -z "$patch" ] || patch -s -F 0 -p 1 -d "$work" <"$TOP/$patch" ||
		die "the mutant $MUTANT does not apply: make $patch anew"
	if [ "$name" = extra ]; then
		# its checks are not repeated for an object that is there
		[ "${KEEP:-}" ] || find "$work" -name '*.o' -exec rm {} +
		make_in "$work" "$@" 2>&1 || rc=$?
		return "$rc"
	fi
	make_in "$work" "$@" >"$work.log" 2>&1 || {
		grep -E -A 3 'error:|Error|ERROR|No space left' "$work.log" | head -n 30 >&2
		die "the module does not build for $kernel: all of make's output is in $work.log"
	}
	grep -F ': warning:' "$work.log" >&2 || true
	cp "$work/${name%%_*}.ko" "$ko.tmp"
	mv "$ko.tmp" "$ko"
	echo "$stamp" >"$ko.stamp"
}

# check_cov NAME SYMBOL: that kbuild took the variable at its word, and the kernel has it
check_cov()
{
	nm "$out/$1.ko" | grep -w "$2" >/dev/null ||
		die "build/k/${out##*/}/$1.ko does not call $2: only the kernels debug and fuzz have KCOV and GCOV_KERNEL, see selftests/vm/config"
}

build_one()
{
	local ours='Kbuild module uapi' test

	test="$ours selftests/race/race.c"

	if [ "${MODULE_MAKE:-}" ]; then
		# shellcheck disable=SC2086 # arguments are words
		build extra extra "$test" $MODULE_MAKE
	elif [ "${MUTANT:-}" ]; then
		need patch patch
		build "profil_mutant_$MUTANT" profil_test "$test" PROFIL_TEST=y
	elif [ "${TEST:-}" ] && [ "${COV:-}" ]; then
		build profil_gcov profil_gcov "$test" PROFIL_TEST=y GCOV_PROFILE=y
		check_cov profil_gcov __gcov_init
	elif [ "${TEST:-}" ]; then
		build profil_test profil_test "$test" PROFIL_TEST=y
	elif [ "${COV:-}" ]; then
		build profil_cov profil_cov "$ours" KCOV_INSTRUMENT=y
		check_cov profil_cov __sanitizer_cov_trace_pc
	elif [ "${PLANT:-}" ]; then
		build plant plant selftests/vm/plant
	elif [ "${FLOOR:-}" ]; then
		build floor floor selftests/bench/floor
	else
		build profil profil "$ours"
	fi
}

[ $# -gt 0 ] || die "for which kernel? see the top of $0"
need make make
for kernel; do
	headers=$("$VM/kernels.sh" headers "$kernel")
	out=$(build_dir "$kernel")
	mkdir -p "$out"
	locked_here "build-$(basename "$out")" build_one
done
