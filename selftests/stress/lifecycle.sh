#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The module comes and goes under load, and does not go while a session is open; CPUs come
# and go, and profiled processes are killed for their memory.  In a VM whose time is the
# count of instructions, root switches its hook off.  In a third one rmmod races START,
# SESSION, fork and exit, with the module that has its race windows widened.
#
#   lifecycle.sh [OPTION…]
#
#   --quick		100 cycles of insmod and rmmod, and few of all others;
#			else 1,000 and many
#   --kernel KERNEL	as run.sh; $KERNEL, else 6.12
#   --module FILE	instead of the freshly built modules
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"

form=long off=off races=races kernel=${KERNEL:-6.12} module=''
while [ $# -gt 0 ]; do
	case $1 in
	--quick)
		form=quick off=off-quick races=races-quick
		shift
		continue
		;;
	--kernel | --module) printf -v "${1#--}" %s "${2:?"a value for $1"}" ;;
	*) die "unknown option $1: see the top of $0" ;;
	esac
	shift 2
done

out=$BUILD/soak
locked_here soak make -s -C "$TOP/selftests/stress" OUT="$out" CC=gcc-12 \
	HARNESS="$("$VM/kernels.sh" source)/tools/testing/selftests" "$out/lifecycle" || die 'the programs do not build: see above'
if [ ! "$module" ]; then
	"$VM/module.sh" "$kernel"
	TEST=1 "$VM/module.sh" "$kernel"
	modules=("$(build_dir "$kernel")/profil.ko" "$(build_dir "$kernel")/profil_test.ko")
else
	modules=("$module" "$module")
fi
mkdir -p "$BUILD/vm"
tap=$(mktemp "$BUILD/vm/lifecycle.XXXXXX")
trap 'rm -f "$tap" "$tap.guest"' EXIT

# guest MODULE FORM [OPTION…]: a VM that does not end well is one more failure.  Status 1 is
# the guest's, who has said why, or there was no VM
guest()
{
	local rc=0

	"$VM/run.sh" --kernel "$kernel" --timeout 14400 --swap --module "$1" --tests "$out" \
		--append 'log_buf_len=2M slub_debug=F,kmalloc-cg-*' "${@:3}" \
		--add "$TOP/selftests/stress/lifecycle-guest:/vm/lifecycle" -- sh /vm/lifecycle "$2" |
		tee "$tap.guest" || rc=$?
	[ "$rc" = 0 ] || { [ "$rc" = 1 ] && grep -q '^not ok ' "$tap.guest"; } ||
		echo "not ok - the VM ended with status $rc"
}

{
	guest "${modules[0]}" "$form"
	guest "${modules[0]}" "$off" --icount 3
	guest "${modules[1]}" "$races"
} | tee "$tap"
passed=$(grep -c '^ok ' "$tap" || :)
failed=$(grep -c '^not ok ' "$tap" || :)
echo "lifecycle $kernel: $passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
