#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# How the price of profiling grows: with CPUs, members, places and programs, on 6.12.
#
#   scale.sh		measure: build/bench/scale.json, and a table of it
#   scale.sh --keep	the same; keep it in scale, and write the document
#   scale.sh --doc	write Documentation/scale.rst from what is kept
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"

BENCH=$TOP/selftests/bench
OUT=$BUILD/bench

# boot CPUS MB PART…: what the guest prints.  CPUs whose ticks do not coincide take turns.
boot() {
	say "measuring with $1 CPUs"
	"$VM/run.sh" --kernel 6.12 --cpus "$1" --mem "$2" --icount 0 --append 'idle=halt skew_tick=1' \
		--timeout 2700 --module none --tests "$OUT/programs" --add "$BENCH/scale/guest:/vm/guest" \
		--add "$(build_dir 6.12)/profil.ko:/vm/profil.ko" -- sh /vm/guest release "${@:3}"
}

measure() {
	local cpus
	make -s -C "$BENCH" OUT="$OUT/programs" >&2 || die 'the programs do not build: see above'
	"$VM/module.sh" 6.12
	{
		boot 1 1024 board
		boot 1 3072 cpus memory locks programs slots members
		for cpus in 2 16 64; do
			boot "$cpus" 1024 cpus
		done
	} >"$OUT/scale.out" || die "the VM failed: $(tail -n 1 "$OUT/scale.out")"
	awk -f "$BENCH/scale/paper.awk" "$OUT/scale.out" | awk -f "$BENCH/json.awk" >"$OUT/scale.json"
}

doc() {
	awk -f "$BENCH/doc.awk" "$BENCH/scale/targets" "$BENCH/scale/doc.rst" "$BENCH"/scale/*.json
}

case ${1:-} in
--doc) ;;
'' | --keep)
	mkdir -p "$OUT"
	measure
	release=$(sed -n 's/^"release": "\([^"]*\)".*/\1/p' "$OUT/scale.json")
	awk -v RELEASE="$release" -f "$BENCH/table.awk" "$BENCH/scale/targets" "$OUT/scale.json"
	;;
*) die "unknown option $1: see the top of $0" ;;
esac
case ${1:-} in
--keep)
	rm -f "$BENCH"/scale/*.json
	cp "$OUT/scale.json" "$BENCH/scale/$release.json"
	;;&
--keep | --doc) doc >"$TOP/Documentation/scale.rst" ;;
esac
