#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A few tests on 6.12, at once: make quick T='rate_test fork'
#
#   selftests/quick.sh WORD…	the programs of that name, with or without _test; else
#				all tests with WORD in their name.  KERNEL= and PARAMS=
#				(of the module) choose where
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/vm/lib.sh"

cd "$TOP/selftests/kernel"
kernel=${KERNEL:-6.12}
wanted=()
for word; do
	program=''
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
	[ "$found" ] || die "no program and no test has \"$word\" in its name; the programs are $(printf '%s ' *_test.c *_test.sh | sed 's/_test\.[a-z]*//g')"
done

"$TOP/selftests/setup.sh" build test vm
counted=()
own_kernel "$kernel" || [ "$kernel" = 6.1 ] || counted=(--icount 3 --append profil_exact=1)
exec "$VM/suite.sh" "$kernel" "${counted[@]}" --params "${PARAMS:-}" "${wanted[@]}"
