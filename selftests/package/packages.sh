#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Packages as users of Debian meet them: built in each release, installed, booted, upgraded,
# broken and purged.  It needs to be root, and nothing of it is installed on this machine.
#
#   selftests/package/packages.sh [SUITE…]	bookworm and trixie
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR
. "$here/../vm/lib.sh"

[ "$(id -u)" = 0 ] || die 'a Debian root can only be made by root: sudo make check-packages'
need mmdebstrap mmdebstrap
need qemu-system-x86_64 qemu-system-x86
need go golang-go
[ $# -gt 0 ] || set -- bookworm trixie
for suite; do
	[[ $suite = bookworm || $suite = trixie ]] || die "there are no tests for $suite: give bookworm, trixie, or nothing for both"
done
results=() running=()
# all that a suite has started ends with it; unshare leaves other signals to the suite
trap 'kill -KILL "${!running[@]}" 2>/dev/null; exit 130' INT TERM HUP
# at once: of each, the machine that is emulated has one processor of ours
for suite; do
	out=$BUILD/package/$suite
	rm -rf --one-file-system "$out"
	mkdir -p "$out"
	room "$out" 8000
	unshare --mount --pid --mount-proc --fork --kill-child "$here/suite.sh" "$suite" &
	running[$!]=$suite
	for part in build install boot user-1 root-1 upgrade user-2 root-2 bad; do
		results+=("cat $out/$part.tap")
	done
done
for job in "${!running[@]}"; do
	wait "$job" || say "${running[$job]}: not all was tested"
done
for suite; do
	rm -rf --one-file-system "$BUILD/package/$suite"/{build,system,image,tmp.*}
done
exec "$TOP/selftests/lib/prove.pl" 1 "${results[@]}"
