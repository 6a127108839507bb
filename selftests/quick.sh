#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A few tests on 6.12, at once: make quick T='rate_test fork'
#
#   selftests/quick.sh WORD…	the programs of that name, with or without _test, in the VM
#				or on the host; else all tests of the VM with WORD in
#				their name.  KERNEL= and PARAMS= (of the module) choose
#				where
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/vm/lib.sh"

cd "$TOP/selftests/kernel"
kernel=${KERNEL:-6.12}
wanted=() host=()
for word; do
	program=''
	for file in ../lib/"$word".{c,sh} ../lib/"${word}_test".{c,sh}; do
		[[ ! -e $file || $file != *_test.* ]] || program=${file##*/}
	done
	if [ "$program" ]; then
		host+=("${program%.c}")
		continue
	fi
	for file in "$word".{c,sh} "${word}_test".{c,sh}; do
		[[ ! -e $file || $file != *_test.* ]] || program=${file%.c}
	done
	if [ "$program" ]; then
		wanted+=("$program")
		continue
	fi
	found=''
	for file in *_test.c; do
		tests=$(sed -nE 's/^TEST(_F)?\(([a-z0-9_]+, *)?([a-z0-9_]+)\).*/\3/p' "$file" | grep -F -- "$word" | paste -sd ,) || continue
		found=1
		wanted+=("${file%.c}:$tests")
	done
	[ "$found" ] || die "no program and no test has \"$word\" in its name; the programs are $(printf '%s ' {.,../lib}/*_test.{c,sh} | sed 's,[^ ]*/,,g; s/_test\.[a-z]*//g')"
done

"$TOP/selftests/setup.sh" build test vm
status=0
[ ${#host[@]} = 0 ] || make -s -C "$TOP/selftests/lib" named TESTS="${host[*]}" || status=1
[ ${#wanted[@]} -gt 0 ] || exit "$status"
counted=()
own_kernel "$kernel" || [ "$kernel" = 6.1 ] || counted=(--icount 3 --append profil_exact=1)
"$VM/suite.sh" "$kernel" "${counted[@]}" --params "${PARAMS:-}" "${wanted[@]}" || status=1
exit "$status"
