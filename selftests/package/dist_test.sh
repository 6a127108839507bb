#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make dist: the same files give the same bytes.
#
# shellcheck disable=SC2317 # the tests are called by their names
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$here/../lib/tap.sh"

packed() {
	"$top/packaging/dist.sh" 9.9.9 "$tmp/first.tar.gz"
	tar -tzf "$tmp/first.tar.gz" | grep -Fx profil-9.9.9/module/main.c
	! tar -tzf "$tmp/first.tar.gz" | grep -E '\.git/|^profil-9.9.9/build/|\.o$|^/'
}

# Another day, place, language and umask; and files that a build left.
same_bytes() {
	(umask 077 && tar -xzf "$tmp/first.tar.gz" -C "$tmp" && mkdir "$tmp/profil-9.9.9/build" &&
		touch "$tmp/profil-9.9.9/build/left")
	find "$tmp/profil-9.9.9" -exec touch -d '2001-02-03' {} +
	TZ=Asia/Kathmandu LC_ALL=C.UTF-8 "$tmp/profil-9.9.9/packaging/dist.sh" 9.9.9 "$tmp/second.tar.gz"
	cmp "$tmp/first.tar.gz" "$tmp/second.tar.gz"
}

other_bytes() {
	echo >>"$tmp/profil-9.9.9/Kbuild"
	"$tmp/profil-9.9.9/packaging/dist.sh" 9.9.9 "$tmp/third.tar.gz"
	! cmp "$tmp/first.tar.gz" "$tmp/third.tar.gz"
}

check 'the source is packed, and nothing else' packed
check 'the tar packs itself to the same bytes' same_bytes
check 'a changed file gives others' other_bytes
plan
