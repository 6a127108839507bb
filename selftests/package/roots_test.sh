#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The cache of Debian's roots: one is made once, and anew where another list of packages
# goes into it.  Here, a root is a file.
#
# shellcheck disable=SC2317 # the tests are called by their names
set -eu

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$here/../lib/tap.sh"
export PROFIL_CACHE=$tmp/cache
# shellcheck source-path=SCRIPTDIR
. "$here/roots.sh"
trap 'rm -rf "$tmp"' EXIT

mirrors()
{
	:
}

room()
{
	:
}

build_depends()
{
	cat "$tmp/list"
}

make_build()
{
	echo "$1" >>"$tmp/made"
	build_depends >"$tmp/content"
	tar -cf "$2" -C "$tmp" content
}

# unpacked SUITE: what was in the list when it was made
unpacked()
{
	rm -rf "$tmp/root"
	root "$1" build "$tmp/root"
	cat "$tmp/root/content"
}

once()
{
	echo gcc >"$tmp/list"
	[ "$(unpacked trixie)" = gcc ]
	[ "$(unpacked trixie)" = gcc ]
	[ "$(unpacked bookworm)" = gcc ]
	[ "$(cat "$tmp/made")" = $'trixie\nbookworm' ]
}

another_list()
{
	echo gcc,make >"$tmp/list"
	[ "$(unpacked trixie)" = gcc,make ]
	[ "$(cat "$tmp/made")" = $'trixie\nbookworm\ntrixie' ]
}

one_of_each()
{
	ls "$ROOTS"
	[ "$(find "$ROOTS" -type f | wc -l)" = 2 ]
	echo gcc >"$tmp/list"
	[ "$(unpacked bookworm)" = gcc ]
	[ "$(wc -l <"$tmp/made")" = 3 ]
}

check 'a root is made once' once
check 'another list of packages is another root' another_list
check 'the old one is gone, and no other' one_of_each
plan
