#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# profil beside other profilers, on programs that nobody here wrote, in a VM whose time is the
# count of instructions.  Prints what Documentation/comparison.rst shows.
#
#   compare.sh [--doc] [PROGRAM…]	of all, or of these anew, and of the others as it was seen
#					last; "users" is who may.  --doc also writes it there
set -eu
. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"
. "$TOP/selftests/programs/source"

here=$TOP/selftests/compare
O=$BUILD/compare
doc=$TOP/Documentation/comparison.rst

# sqlite_in DIR: its own benchmark, with names
sqlite_in() {
	locked program-sqlite source_of sqlite
	[ ! -e "$1/sqlite" ] || return 0
	rm -rf "$1/source"
	cp -a "$CACHE/programs/sqlite" "$1/source"
	say 'building sqlite'
	(
		cd "$1/source"
		./configure --disable-tcl
		make -s sqlite3.c
		gcc -g -O2 -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -I. -o "$1/sqlite" \
			sqlite3.c test/speedtest1.c -lm
	) >"$1/sqlite.log" 2>&1 || die "sqlite does not build: see $1/sqlite.log"
}

parts=(python3 sqlite redis gcc users)
option=${1:-}
[ "$option" != --doc ] || shift
for part in "$@"; do
	[[ " ${parts[*]} " == *" $part "* ]] || die "there is no comparison with $part: they are ${parts[*]}"
done
mkdir -p "$O"
make -s -C "$TOP/tools" O="$O"
redis_in "$O"
sqlite_in "$O"
if [ $# = 0 ]; then
	rm -f "$O"/results.*
	set -- "${parts[@]}"
fi
for part in "$@"; do
	say "$part"
	"$VM/run.sh" --kernel 6.12 --cpus 1 --mem 2048 --icount 3 --timeout 5400 \
		--append cryptomgr.notests --root9p --dir "$O:rw" -- "$here/guest.sh" "$part" >"$O/new"
	mv "$O/new" "$O/results.$part"
done
awk -f "$here/tables.awk" "${parts[@]/#/$O/results.}" >"$O/tables"
cat "$O/tables"
if [ "$option" = --doc ]; then
	awk -f "$here/doc.awk" "$O/tables" "$doc" >"$O/doc"
	cat "$O/doc" >"$doc"
fi
