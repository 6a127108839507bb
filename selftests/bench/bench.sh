#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What profiling costs, in instructions of the guest, by us and by others.
#
#   bench.sh KERNEL…		all of it: build/bench/KERNEL.json and a table
#   bench.sh --check KERNEL…	only costs, and no more than baseline/RELEASE.json
#				has for that very kernel, or else for the
#				newest of its series, by 10 % and 25
#   bench.sh --baseline KERNEL…	all of it, and write that
#   bench.sh --doc		write Documentation/performance.rst and its charts
#				from all of baseline
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"

BENCH=$TOP/selftests/bench
OUT=$BUILD/bench
COSTS='plain loaded ftrace kprobe hrtimer timer deferred instead session floor again'
GROWTH='regions text processes threads fork calls disturb'
CPUS='exact tries accuracy' # of two

# programs KERNEL: those for its machine; prints their folder
programs() {
	local out=$OUT/programs compiler=gcc-12
	if [ "$1" = arm64 ]; then
		out+=-arm64
		compiler=aarch64-linux-gnu-gcc-12
	fi
	make -s -C "$BENCH" OUT="$out" CC=$compiler >&2 || die "the programs do not build: see above"
	echo "$out"
}

# boot KERNEL CPUS PART…: what the guest prints
boot() {
	local kernel=$1 cpus=$2 dir append=
	dir=$(build_dir "$1")
	"$VM/module.sh" "$kernel"
	TEST=1 "$VM/module.sh" "$kernel"
	FLOOR=1 "$VM/module.sh" "$kernel"
	# with several CPUs, those of x86 would pass the time instead of skipping it
	[ "$kernel" = arm64 ] || append=idle=halt
	"$VM/run.sh" --kernel "$kernel" --cpus "$cpus" --icount 0 --append "$append" --timeout 2700 --module none \
		--tests "$(programs "$kernel")" --add "$BENCH/guest:/vm/guest" \
		--add "$dir/profil.ko:/vm/profil.ko" --add "$dir/floor.ko:/vm/floor.ko" \
		--add "$dir/profil_test.ko:/vm/profil_test.ko" \
		-- sh /vm/guest release "${@:3}"
}

# mcount: the rows of a call of gcc -pg, by libprofil and by the C library, which
# need no kernel
mcount() {
	local threads here=$TOP/selftests/lib lib=$BUILD/lib tmp=$OUT/mcount
	need valgrind valgrind
	make -s -C "$TOP/libwrap" >&2 || die "libprofil does not build: see above"
	mkdir -p "$tmp"
	# shellcheck source=../lib/mcount.sh
	. "$here/mcount.sh"
	mcount_build gcc-12
	for threads in 1 2 4 8; do
		echo "mcount.profil.$threads $(mcount_cost "$lib/libprofil.so" $threads) $threads"
		echo "mcount.glibc.$threads $(mcount_cost '' $threads) $threads"
	done
}

# more KERNEL: the rows that are not of the short form, but for those of $GROWTH
more() {
	# where instructions are counted, 6.1 waits in its boot for a second CPU that does not come
	if [ "$1" != 6.1 ]; then
		# shellcheck disable=SC2086 # parts are words
		boot "$1" 2 $CPUS && boot "$1" 4 tries || return
	fi
	if [ "$1" != arm64 ]; then
		mcount=${mcount:-$(mcount)} && echo "$mcount"
	fi
}

# measure KERNEL [more]: into $OUT/KERNEL.json; sets $release
measure() {
	say "measuring on $1"
	# shellcheck disable=SC2086
	boot "$1" 1 $COSTS ${2:+$GROWTH} >"$OUT/$1.out" ||
		die "the VM with $1 failed: $(tail -n 1 "$OUT/$1.out")"
	[ -z "${2:-}" ] || more "$1" >>"$OUT/$1.out" ||
		die "the VM with $1 and more CPUs failed: $(tail -n 1 "$OUT/$1.out")"
	awk -f "$BENCH/json.awk" "$OUT/$1.out" >"$OUT/$1.json"
	release=$(sed -n 's/^"release": "\([^"]*\)".*/\1/p' "$OUT/$1.json")
}

# compare BASELINE RESULTS: one TAP line a row
compare() {
	awk -v parts="$COSTS" -f "$BENCH/compare.awk" "$@"
}

# baseline RELEASE: its own, or the newest of the same series for the same machine
baseline() {
	local series
	series=$(sed -E 's/^([0-9]+\.[0-9]+).*/\1/' <<<"$1")
	if [ -e "$BENCH/baseline/$1.json" ]; then
		echo "$BENCH/baseline/$1.json"
	else
		find "$BENCH/baseline" -name "$series.*-${1##*-}.json" | sort -V | tail -n 1
	fi
}

check() {
	local before
	measure "$1"
	before=$(baseline "$release")
	[ "$before" ] ||
		die "there is no baseline for $release: selftests/bench/bench.sh --baseline $1 writes one"
	[ "$(basename "$before")" = "$release.json" ] ||
		say "the baseline is that of $(basename "$before" .json): selftests/bench/bench.sh --baseline $1 writes one for $release"
	limits "$before" && compare "$before" "$OUT/$1.json"
}

# limits RESULTS.json: whether what is published keeps to its limits, also in rows that take long
limits() {
	if table "$1" | grep FAILS; then
		say "$(basename "$1") breaks these limits of selftests/bench/targets: make the row cheaper, or say in doc.rst why it cannot be"
		return 1
	fi
}

# charts RESULTS.json PREFIX
charts() {
	need gnuplot gnuplot-nox
	sed -n 's/^"\(.*\)": { "value": \([-0-9]*\),.*/\1 \2/p' "$1" >"$OUT/rows"
	# as the table of a sample has them: in its order, and with its words
	awk -F '\t' 'FILENAME ~ /rows$/ { split($0, row, " "); value[row[1]] = row[2]; next }
		$1 in value && $1 ~ /^(ftrace|kprobe|hrtimer|timer|deferred|instead|floor|session\.(member|machine)$)/ {
			print $4 "\t" value[$1]
		}' "$OUT/rows" "$BENCH/targets" >"$OUT/costs"
	sed -n -E 's/^((regions|processes|threads\.[a-z]*)\.?)\.([0-9]+) /\1 \3 /p' "$OUT/rows" >"$OUT/growth"
	[ ! -s "$OUT/growth" ] ||
		gnuplot -e "costs='$OUT/costs'; growth='$OUT/growth'; out='$2'" "$BENCH/charts.gp"
	sed -i '1a <!-- SPDX-License-Identifier: GPL-2.0-only -->' "$2"-*.svg
}

doc() {
	local results=("$BENCH"/baseline/*.json)
	awk -f "$BENCH/doc.awk" "$BENCH/targets" "$BENCH/doc.rst" "${results[@]}" >"$TOP/Documentation/performance.rst"
	charts "$BENCH"/baseline/6.12.*-amd64.json "$TOP/Documentation/performance"
}

# table RESULTS.json: of the kernels for which there are limits, those of this one
table() {
	awk -v RELEASE="$release" -f "$BENCH/table.awk" "$BENCH/targets" "$1"
}

main() {
	local kernel failed=0 mode=all
	mkdir -p "$OUT"
	for kernel; do
		case $mode:$kernel in
		*:--doc) doc ;;
		*:--check | *:--baseline) mode=${kernel#--} ;;
		check:*) check "$kernel" || failed=1 ;;
		baseline:*)
			measure "$kernel" more
			cp "$OUT/$kernel.json" "$BENCH/baseline/$release.json"
			;;
		*)
			measure "$kernel" more
			table "$OUT/$kernel.json" || failed=1
			charts "$OUT/$kernel.json" "$OUT/$kernel"
			say "charts: build/bench/$kernel-cost.svg and build/bench/$kernel-growth.svg"
			;;
		esac
	done
	exit "$failed"
}

[ $# -gt 0 ] || die "on which kernel? see the top of $0"
main "$@"
