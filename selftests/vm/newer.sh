#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Build a module for a kernel that came with its own compiler, in the root
# folder that kernels.sh unpacked for it.
#
#   newer.sh KERNEL DIR ARGUMENT…	the module in DIR
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# in_root COMMAND…: with /dev and /proc where we may mount; a container may
# allow chroot and mknod alone, and that will do as well
in_root()
{
	local mapped=()

	[ "$(id -u)" = 0 ] || mapped=(--map-root-user)
	if unshare ${mapped[@]+"${mapped[@]}"} --mount true 2>/dev/null; then
		# shellcheck disable=SC2016
		unshare ${mapped[@]+"${mapped[@]}"} --mount sh -c '
			mount --rbind /dev "$1/dev" && mount --rbind /proc "$1/proc" && exec chroot "$@"
			' sh "$root" "$@"
	else
		[ -e "$root/dev/null" ] || mknod -m 666 "$root/dev/null" c 1 3
		# objtool looks up its own stack there, to tell when it overflows
		mkdir -p "$root/proc/self"
		cat /proc/self/maps >"$root/proc/self/maps"
		chroot "$root" "$@"
	fi
}

[ $# -gt 1 ] || die "for which kernel, which module? see the top of $0"
headers=$("$VM/kernels.sh" headers "$1")
root=${headers%/usr/src/*}
dir=$2
shift 2
# The same name each time, as it is in the commands that kbuild compares; and files
# keep their times.  The caller holds a lock for the kernel in this source tree.
work=$root/tmp/build.$(sha256sum <<<"$dir" | cut -c 1-12)
rm -rf "$work"
trap 'rm -rf "$work"' EXIT
cp -a "$dir" "$work"
rc=0
# comments are checked with other kernels: that needs perl, or python
in_root env -i PATH=/usr/bin make -C "${headers#"$root"}" M="${work#"$root"}" W=1 cmd_checkdoc= "$@" modules || rc=$?
cp -a "$work/." "$dir"
exit "$rc"
