#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Fuzz the module in a kernel with KASAN, guided by KCOV, with faults injected.
#
#   fuzz.sh [OPTION…]
#   fuzz.sh --replay 'PROGRAM…' [OPTION…]
#   fuzz.sh --replay @FILE [OPTION…]
#
#   --calls N	how many; 300000 if it is not given, 20000 of a replay; long runs
#		boot a fresh VM, with the next seed, for every 500000
#   --seed S	what programs are drawn with; the time if it is not given
#   --replay	nothing but these programs, again and again, and each once at
#		least: what a failed run tells to give
#   --kernel K	debug, if it is not given; or fuzz, in which a call takes half as
#		long, and which has no lockdep and no kmemleak
#   --leaks	all of them in a kernel that is searched for leaks when the module
#		is removed.  kmemleak makes each call slow: without this, only
#		10000 calls after the others are searched
#   --module	another build of the module, made for KCOV of that kernel
#
# fuzz/fuzz.h says what a program is, and what a run of some length should have done.
#
# A run that fails says which programs to replay: those that were running when
# the kernel complained, and those that the same processes ran before; or, when
# it complained only after the last one, all of them.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"

ROUND=500000
LEAKS=10000
EACH=4		# suspects of each process, at most
calls='' seed=$(date +%s) replay='' kernel=debug module='' leaks=''
while [ $# -gt 0 ]; do
	case $1 in
	--leaks)
		leaks=1
		shift
		continue
		;;
	--calls) calls=$2 ;;
	--seed) seed=$2 ;;
	--replay) replay=$2 ;;
	--kernel) kernel=$2 ;;
	--module) module=$2 ;;
	*) die "unknown option $1: see the top of $0" ;;
	esac
	shift 2
done
calls=${calls:-$([ "$replay" ] && echo 20000 || echo 300000)}
[[ $calls =~ ^[1-9][0-9]*$ && $seed =~ ^[0-9]+$ ]] || die "--calls $calls --seed $seed: both must be numbers"
[ "${replay#@}" = "$replay" ] || [ -r "${replay#@}" ] || die "there is no file ${replay#@}: check --replay"

[ "$kernel" = debug ] || [ "$kernel$leaks" = fuzz ] || die "--kernel $kernel${leaks:+ --leaks}: kmemleak is in debug, KCOV in debug and in fuzz"

need gcc-12 gcc-12
with=" --kernel $kernel${module:+ --module $module}"
if [ ! "$module" ]; then
	COV=1 "$VM/module.sh" "$kernel"
	module=$BUILD/k/$kernel/profil_cov.ko
fi
mkdir -p "$BUILD/fuzz"
run=$(mktemp -d "$BUILD/fuzz/run.XXXXXX")
trap 'rm -rf "$run"' EXIT
gcc-12 -O2 -g -Wall -Wextra -Werror -D_GNU_SOURCE -static -pthread -isystem "$TOP/uapi" \
	-o "$run/fuzz" "$TOP"/selftests/stress/fuzz/*.c
# others may build it anew meanwhile
cp "$module" "$run/module.ko"
places=$(objdump -dr "$run/module.ko" | grep -c '__sanitizer_cov_trace_pc' || true)
args=(--kernel "$kernel" --module "$run/module.ko" --swap --log "$run/console" --add "$run/fuzz:/bin/fuzz")
listed=()
if [ "$replay" ]; then
	case $replay in
	@*) cat "${replay#@}" ;;
	*) echo "$replay" ;;
	esac >"$run/listed"
	args+=(--add "$run/listed:/listed")
	listed=(/listed)
fi

# Which programs were started, by what came out before the end and by what a
# panic printed of its log: slot, name, calls before it.  A VM that is lost may
# have swallowed the last of either.
started()
{
	tr -d '\r' <"$run/console" | cat "$run/out" - |
		sed -n 's/.*fuzz: slot \([0-9]*\) starts \([0-9a-f.]*\) after \([0-9]*\) calls.*/\1 \2 \3/p' |
		awk '!seen[$0]++' | sort -s -n -k 3
}

suspects()
{
	started | tac | awk -v each=$EACH 'n[$1]++ < each' | tac | sort -s -n -k 1 |
		awk '{ printf "%s%s", NR == 1 ? "" : " ", $2 }'
}

# Calls made, at least.
made()
{
	{
		started | awk '{ print $3 }'
		sed -n 's/^fuzz: \([0-9]*\) calls.*/\1/p' "$run/out"
	} | sort -n | tail -n 1
}

# failure STATUS OPTION…: what to do to see it again
failure()
{
	local all=$BUILD/fuzz/programs.$seed again="selftests/stress/fuzz.sh$with${*:2}"

	echo "not ok - seed $seed: status $1 after $did calls; again:"
	if grep -q '^fuzz: [0-9]* calls in the end' "$run/out"; then
		started | awk '{ print $2 }' >"$all"
		echo "	$again --replay '@${all#"$TOP/"}'"
	else
		echo "	$again --replay '$(suspects)'"
	fi
	echo "	$again --seed $seed --calls $now"
}

# part LEAKS CALLS: in a VM of its own
part()
{
	local append='' now=$2 did rc=0 start=$SECONDS

	[ "$1" ] || append=kmemleak=off
	say "seed $seed, $now calls${1:+, with a search for leaks}"
	: >"$run/console"
	"$VM/run.sh" "${args[@]}" --append "$append" --timeout $((2700 + now / 15)) \
		-- fuzz "$now" "$seed" ${listed[@]+"${listed[@]}"} \
		2>"$run/err" | tee "$run/out" | sed -u '/^fuzz: slot/d' || rc=$?
	cat "$run/err" >&2
	did=$(made)
	did=${did:-0}
	total=$((total + did))
	if [ "$rc" = 0 ] && [ "$did" -ge "$now" ]; then
		passed=$((passed + 1))
		echo "ok - seed $seed: $did calls${1:+ searched for leaks} in $((SECONDS - start)) s"
	else
		failed=$((failed + 1))
		failure "$rc" ${1:+" --leaks"}
	fi
	seed=$((seed + 1))
}

total=0 passed=0 failed=0
while [ "$total" -lt "$calls" ] && [ "$failed" = 0 ]; do
	part "$leaks" $((calls - total < ROUND ? calls - total : ROUND))
done
# a replay is of one kind or the other
[ "$leaks$replay" ] || [ "$kernel" = fuzz ] || [ "$failed" != 0 ] || part 1 $LEAKS
reached=$(sed -n 's/^fuzz: .* \([0-9]*\) places reached.*/\1/p' "$run/out" | tail -n 1)
echo "fuzz: $total calls; ${reached:-an unknown number} of the module's $places places reached at last, those of interrupts not among them"
# it reaches more in half of them
if [ ! "$replay" ] && [ "$calls" -ge 10000 ] && [ $((3 * ${reached:-0})) -lt "$places" ]; then
	failed=$((failed + 1))
	echo "not ok - less than a third of them"
fi
echo "fuzz: $passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
