#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Sixty-four profiled processes live and die in every way, for minutes, and each
# of their ticks is accounted for; soak.c says how.  Beside them, sessions of processes
# (sessions.c) and of the machine (machine.c) count, programs of gcc -pg write their files
# (written.c), memory is short and CPU 1 goes and comes (trouble.c).  In a VM, in rounds of
# half a minute, each with the module anew and with other parameters.
#
#   soak.sh [OPTION…]
#
#   --minutes N		5 if it is not given
#   --seed N		of all that is chosen at random; it is printed
#   --kernel KERNEL	as run.sh; $KERNEL, else 6.12
#   --module FILE	instead of the freshly built profil.ko
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"

minutes=5 seed=$((RANDOM * 32768 + RANDOM + 1)) kernel=${KERNEL:-6.12} module=''
while [ $# -gt 0 ]; do
	case $1 in
	--minutes | --seed | --kernel | --module) printf -v "${1#--}" %s "${2:?"a value for $1"}" ;;
	*) die "unknown option $1: see the top of $0" ;;
	esac
	shift 2
done
[[ $minutes$seed =~ ^[0-9]+$ && $minutes -gt 0 && $seed -gt 0 ]] ||
	die "--minutes $minutes --seed $seed: both must be whole numbers above 0"

out=$BUILD/soak
locked_here soak make -s -C "$TOP/selftests/stress" OUT="$out" CC=gcc-12 \
	HARNESS="$("$VM/kernels.sh" source)/tools/testing/selftests" || die 'the programs do not build: see above'
echo "# soak $kernel: $minutes minutes, --seed $seed"
mkdir -p "$BUILD/vm"
tap=$(mktemp "$BUILD/vm/soak.XXXXXX")
trap 'rm -f "$tap"' EXIT
rc=0
# the ends of rounds take their time: twice as long, and more on a slow kernel
"$VM/run.sh" --kernel "$kernel" --mem 1024 --swap --timeout $((minutes * 240 + 900)) \
	${module:+--module "$module"} --tests "$out" --append 'slub_debug=F,kmalloc-cg-*,mm_struct' \
	--add "$TOP/selftests/stress/soak-guest:/vm/soak" -- sh /vm/soak $((minutes * 60)) "$seed" |
	tee "$tap" || rc=$?
awk '/^# sums / {
	for (i = 3; i <= NF; i++) {
		split($i, sum, "=")
		if (!(sum[1] in total))
			names[++n] = sum[1]
		total[sum[1]] += sum[2]
	}
}
END {
	printf "# in all"
	for (i = 1; i <= n; i++)
		printf " %s=%.0f", names[i], total[names[i]]
	print ""
}' "$tap"
passed=$(grep -c '^ok ' "$tap" || :)
failed=$(grep -c '^not ok ' "$tap" || :)
if [ "$rc" -gt 1 ] || { [ "$rc" = 1 ] && [ "$failed" = 0 ]; }; then
	echo "not ok - the VM ended with status $rc"
	failed=$((failed + 1))
fi
echo "soak $kernel: $passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
