#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Run the kselftest programs in one VM; KTAP on stdout, the sum in its last line.
#
#   suite.sh KERNEL [OPTION…] [PROGRAM…]
#
#   --i386		as programs of 32 bits, on a kernel for x86-64
#   --test-module	with the module whose race windows are widened
#   --mutant NAME	with that one, and selftests/race/mutants/NAME.patch
#   --params STRING, --cpus N, --timeout SECONDS, --append STRING, --icount SHIFT
#			as run.sh
#   --booted REGEX	the machine has to be so: see what suite-guest says of it
#   PROGRAM[:TEST,…]…	only these, and of them only these tests
#
# A test that is skipped has failed, unless the file skips says why it may be;
# so has a program that did not do all the tests it planned, or none.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

kernel=${1:?"which kernel? see the top of $0"}
shift
params='' run=(--kernel "$kernel") booted='' i386='' test_module='' mutant='' programs=() timeout=3600
! own_kernel "$kernel" || timeout=10800
while [ $# -gt 0 ]; do
	case $1 in
	--booted) booted=$2 && shift ;;
	--i386) i386=i386 ;;
	--test-module) test_module=1 ;;
	--mutant) mutant=$2 && shift ;;
	--params) params=$2 && shift ;;
	--timeout) timeout=$2 && shift ;;
	--cpus | --append | --icount) run+=("$1" "$2") && shift ;;
	-*) die "unknown option $1: see the top of $0" ;;
	*) programs+=("$1") ;;
	esac
	shift
done

# what is alone on such a CPU has no samples, and the other programs wait for some
if [[ ${run[*]} == *nohz_full=* && $params != *nohz_full=tick* && ${programs[*]} != nohz_isolated ]]; then
	die "with nohz_full= on the kernel's command line these programs would not end: add --params nohz_full=tick"
fi

# the modules of an image that is named by its path are not at hand
[ "$kernel" != "${kernel#*/}" ] || run+=(--swap)
out=$(test_programs "${i386:-$kernel}" "${programs[@]%%:*}")
if [ ${#programs[@]} = 0 ]; then
	for program in "$out"/*_test "$out"/*_test.sh; do
		# few kernels can have allocations fail: this one has to be named
		[ "${program##*/}" = fault_test ] || programs+=("${program##*/}")
	done
fi
TEST=$test_module MUTANT=$mutant "$VM/module.sh" "$kernel"
module=$(build_dir "$kernel")/profil${test_module:+_test}${mutant:+_mutant_$mutant}.ko
per_program=$(sed -n 's/^timeout=//p' "$TOP/selftests/kernel/settings")
! own_kernel "$kernel" || per_program=$((per_program * 6))

mkdir -p "$BUILD/vm"
tap=$(mktemp "$BUILD/vm/tap.XXXXXX")
trap 'rm -f "$tap"' EXIT
rc=0
"$VM/run.sh" "${run[@]}" --module "$module" --params "$params" --timeout "$timeout" \
	--tests "$out" --add "$VM/suite-guest:/vm/suite" -- sh /vm/suite "$per_program" "${programs[@]}" | tee "$tap" || rc=$?
read -r passed failed skipped < <("$VM/ktap.sh" "$kernel" ${#programs[@]} "$tap")
bad()
{
	echo "not ok - $1"
	failed=$((failed + 1))
}
[ "$rc" = 0 ] || bad "the VM ended with status $rc"
if grep -q '^# uname: ' "$tap"; then
	# a parameter that a kernel does not know changes nothing
	grep -qE "^# (boot|uname): .*$booted( |$|,|-)" "$tap" ||
		bad "it booted otherwise than $booted: $(grep '^# boot: ' "$tap")"
	exports=$([ "$kernel" = mainline ] || echo 1)
	[ "$(nm -u "$module" | grep -cw task_work_add)" = "${exports:-0}" ] ||
		bad "the probe for task_work_add is wrong: only mainline does not export it"
fi
echo "suite $kernel${i386:+ (i386)}${test_module:+ (test module)}${mutant:+ (mutant $mutant)}${params:+ $params}: $passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
