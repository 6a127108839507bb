#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The command with the module, in a VM whose time is the count of instructions.
#
#   vm.sh guest		whom it follows, and that it counts all
set -eu
. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"

here=$TOP/selftests/tool
O=$BUILD/tool-vm

prepare_guest() {
	gcc -g -O1 -o "$O/burn" "$here/burn.c" -pthread
	gcc -g -O1 -static -o "$O/burn-static" "$here/burn.c" -pthread
	CGO_ENABLED=0 GO111MODULE=off GOCACHE=$O/go-cache go build -o "$O/go-static" "$here/spin.go"
}

what=${1:-guest}
make -s -C "$TOP/tools" O="$O"
"prepare_$what"
"$VM/run.sh" --kernel "${KERNEL:-6.12}" --cpus 1 --mem 1024 --icount 3 --timeout 1800 \
	--append cryptomgr.notests --root9p --dir "$O" -- "$here/$what.sh" >"$O/$what.tap"
exec "$TOP/selftests/lib/prove.pl" 1 "cat $O/$what.tap"
