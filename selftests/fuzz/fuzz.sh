#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Fuzz the module in the debug kernel, guided by KCOV, with faults injected.
#
#   fuzz.sh [--calls N] [--seed S] [--module FILE]
#   fuzz.sh --replay 'PROGRAM…' [--calls N] [--module FILE]
#
#   --calls N	how many; 300000 if it is not given, 20000 of a replay; long runs
#		boot a fresh VM, with the next seed, for every 500000
#   --seed S	what programs are drawn with; the time if it is not given
#   --replay	nothing but these programs, again and again: what a failed run
#		tells to give
#   --module	another build of the module, made for KCOV
#
# At its end the module is removed and the kernel searched for leaks, as after
# any run.  fuzz.c says what a program is.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"

ROUND=500000
calls='' seed=$(date +%s) replay=() module=''
while [ $# -gt 0 ]; do
	case $1 in
	--calls) calls=$2 ;;
	--seed) seed=$2 ;;
	--replay) read -ra replay <<<"$2" ;;
	--module) module=$2 ;;
	*) die "unknown option $1: see the top of $0" ;;
	esac
	shift 2
done
calls=${calls:-$([ ${#replay[@]} = 0 ] && echo 300000 || echo 20000)}
[[ $calls =~ ^[1-9][0-9]*$ && $seed =~ ^[0-9]+$ ]] || die "--calls $calls --seed $seed: both must be numbers"

need gcc-12 gcc-12
if [ ! "$module" ]; then
	COV=1 "$VM/module.sh" debug
	module=$BUILD/k/debug/profil_cov.ko
fi
mkdir -p "$BUILD/fuzz"
run=$(mktemp -d "$BUILD/fuzz/run.XXXXXX")
trap 'rm -rf "$run"' EXIT
gcc-12 -O2 -g -Wall -Wextra -Werror -D_GNU_SOURCE -static -pthread -isystem "$TOP/uapi" \
	-o "$run/fuzz" "$TOP/selftests/fuzz/fuzz.c"
# others may build it anew meanwhile
cp "$module" "$run/module.ko"
places=$(objdump -dr "$run/module.ko" | grep -c '__sanitizer_cov_trace_pc' || true)

# What a panic has printed last, or else what the fuzzer itself did.
suspects()
{
	local log

	log=$(sed -n 's,.* \(/[^ ]*console\.log\)$,\1,p' "$run/err" | head -n 1)
	{
		sed -n 's/^fuzz: running \([0-9a-f.]*\):.*/\1/p' "$run/out"
		[ ! "$log" ] || tr -d '\r' <"$log" | sed -n 's/.*fuzz: starting \([0-9a-f.]*\)$/\1/p' | tail -n 6
	} | awk '!seen[$0]++' | tr '\n' ' '
}

done_calls=0 passed=0 failed=0
while [ "$done_calls" -lt "$calls" ] && [ "$failed" = 0 ]; do
	now=$((calls - done_calls))
	[ "$now" -le $ROUND ] || now=$ROUND
	say "seed $seed, $now calls"
	rc=0
	# a busy host is no stall of the kernel's
	"$VM/run.sh" --kernel debug --module "$run/module.ko" --swap \
		--append 'rcupdate.rcu_cpu_stall_timeout=100 watchdog_thresh=50' \
		--timeout $((1200 + now / 20)) \
		--add "$run/fuzz:/bin/fuzz" -- fuzz "$now" "$seed" ${replay[@]+"${replay[@]}"} \
		2>"$run/err" | tee "$run/out" || rc=$?
	cat "$run/err" >&2
	did=$(sed -n 's/^fuzz: \([0-9]*\) calls.*/\1/p' "$run/out" | tail -n 1)
	did=${did:-0}
	done_calls=$((done_calls + did))
	if [ "$rc" = 0 ] && [ "$did" -ge "$now" ]; then
		passed=$((passed + 1))
		echo "ok - seed $seed: $did calls; $done_calls of $calls in all"
	else
		failed=$((failed + 1))
		echo "not ok - seed $seed: status $rc after $did calls; again:"
		echo "	selftests/fuzz/fuzz.sh --replay '$(suspects)'"
		echo "	selftests/fuzz/fuzz.sh --seed $seed --calls $now"
	fi
	seed=$((seed + 1))
done
echo "fuzz: $done_calls calls; $(sed -n 's/^fuzz: .* \([0-9]*\) places reached.*/\1/p' "$run/out" | tail -n 1) of the module's $places places reached, those of interrupts not among them"
echo "fuzz: $passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
