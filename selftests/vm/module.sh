#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Build the module for kernels.
#
#   module.sh KERNEL…		build/k/KERNEL/profil.ko, and profil_test.ko with
#				its race windows widened
#   MUTANT=name module.sh …	build/k/KERNEL/profil_mutant_name.ko: profil_test.ko
#				with selftests/race/mutants/name.patch
#   COV=1 module.sh KERNEL	build/k/KERNEL/profil_cov.ko, which tells the fuzzer
#				(KCOV) and coverage.sh (GCOV) what it ran; KERNEL is
#				debug or fuzz
#   PLANT=1 module.sh …		build/k/KERNEL/plant.ko, for selfcheck.sh
#   FLOOR=1 module.sh …		build/k/KERNEL/floor.ko, for bench.sh
#   MODULE_MAKE='C=2' module.sh …  once more, with these arguments to make and
#				all of make's output, leaving the above alone
#
# Silent when nothing changed; warnings of the compiler are always shown.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# make_in DIR ARGUMENT…
make_in()
{
	# type information would need pahole, and nobody asks for it
	set -- "$@" CONFIG_DEBUG_INFO_BTF_MODULES=
	case $kernel in
	trixie | 7.2) "$VM/newer.sh" "$kernel" "$@" ;;
	*) make -C "$headers" M="$1" W=1 "${@:2}" modules ;;
	esac
}

# build NAME SOURCES ARGUMENT…: build/k/KERNEL/NAME.ko from the copied SOURCES
build()
{
	local ko=$out/$1.ko work=$out/$1.d stamp name=$1 sources=$2 rc=0
	shift 2

	# shellcheck disable=SC2086 # SOURCES are words
	stamp=$(cd "$TOP" && { find $sources ${MUTANT:+selftests/race/mutants/$MUTANT.patch} -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum
				echo "$headers" "$@"; } | sha256sum)
	[ ! -e "$ko" ] || [ "$(cat "$work.stamp" 2>/dev/null)" != "$stamp" ] || return 0
	rm -rf "$work"
	mkdir -p "$work"
	# shellcheck disable=SC2086
	(cd "$TOP" && cp -r --parents $sources "$work")
	[ ! -e "$work/$sources/Kbuild" ] || mv "$work/$sources"/* "$work"
	[ -z "${MUTANT:-}" ] || patch -s -p 1 -d "$work" <"$TOP/selftests/race/mutants/$MUTANT.patch" ||
		die "the mutant $MUTANT does not apply: make selftests/race/mutants/$MUTANT.patch anew"
	if [ "$name" = extra ]; then
		make_in "$work" "$@" 2>&1 || rc=$?
		return "$rc"
	fi
	make_in "$work" "$@" >"$work.log" 2>&1 || {
		grep -E -A 3 'error:|Error|ERROR' "$work.log" | head -n 30 >&2
		die "the module does not build for $kernel: all of make's output is in $work.log"
	}
	grep -F ': warning:' "$work.log" >&2 || true
	mv "$work/${name%%_*}.ko" "$ko"
	echo "$stamp" >"$work.stamp"
}

# That kbuild took the two variables at their word, and the kernel has both.
check_cov()
{
	local symbol

	for symbol in __sanitizer_cov_trace_pc __gcov_init; do
		nm "$out/profil_cov.ko" | grep -w "$symbol" >/dev/null ||
			die "build/k/${out##*/}/profil_cov.ko does not call $symbol: only the kernels debug and fuzz have KCOV and GCOV_KERNEL, see selftests/vm/config"
	done
}

build_all()
{
	local ours='Kbuild module uapi'

	if [ "${MODULE_MAKE:-}" ]; then
		# shellcheck disable=SC2086 # arguments are words
		build extra "$ours" $MODULE_MAKE
	elif [ "${MUTANT:-}" ]; then
		need patch patch
		build "profil_mutant_$MUTANT" "$ours" PROFIL_TEST=y
	elif [ "${COV:-}" ]; then
		build profil_cov "$ours" KCOV_INSTRUMENT=y GCOV_PROFILE=y
		check_cov
	elif [ "${PLANT:-}" ]; then
		build plant selftests/vm/plant
	elif [ "${FLOOR:-}" ]; then
		build floor selftests/bench/floor
	else
		build profil "$ours"
		build profil_test "$ours" PROFIL_TEST=y
	fi
}

[ $# -gt 0 ] || die "for which kernel? see the top of $0"
need make make
for kernel; do
	headers=$("$VM/kernels.sh" headers "$kernel")
	out=$(build_dir "$kernel")
	mkdir -p "$out"
	locked "build-$(basename "$out")" build_all
done
