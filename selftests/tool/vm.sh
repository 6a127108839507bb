#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The command with the module, in a VM whose time is the count of instructions.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
O=$top/build/tool-vm

make -s -C "$top/tools" O="$O"
gcc -g -O1 -o "$O/burn" "$here/burn.c" -pthread
gcc -g -O1 -static -o "$O/burn-static" "$here/burn.c" -pthread
"$top/selftests/vm/run.sh" --kernel "${KERNEL:-6.12}" --cpus 1 --icount 3 --timeout 1200 \
	--append cryptomgr.notests --root9p --dir "$O" -- "$here/guest.sh" >"$O/tap"
exec "$top/selftests/lib/prove.pl" 1 "cat $O/tap"
