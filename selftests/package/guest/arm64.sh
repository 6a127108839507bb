#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# In the machine of arm64, with the module loaded: the command and the library of its packages.
#
#   arm64.sh FOLDER	where they are
#
# gmon.out goes to the host as a remark: there is no gprof here.
#
# shellcheck disable=SC2317 # the tests are called by their names
set -eu
system=$1
mkdir -p /lib
# shellcheck source-path=SCRIPTDIR source=../../lib/tap.sh
. "$system/tap.sh"
tap_note=', arm64'
ln -s "$system/lib/ld-linux-aarch64.so.1" /lib/ld-linux-aarch64.so.1
export LD_LIBRARY_PATH="$system/lib"
chmod 777 "$tmp"
cd "$tmp"

user()
{
	su user -c "cd $tmp; $*"
}

no_complaint()
{
	user "$system/profil" check
	user "$system/profil" check | grep -E '^test .* ok$'
}

# count KEY
count()
{
	awk -F '\t' -v key="$1" '$1 == "count" && $2 == key { print $3 }' tsv
}

script()
{
	user "$system/profil run -o profile -- $system/work"
	"$system/profil" report --tsv profile | tee tsv
	awk -F '\t' '$1 == "function" { print $8; exit }' tsv | grep -Fx hot
	[ "$(count in_slots)" -gt 50 ]
	[ "$(count ticks)" = $(($(count in_slots) + $(count exec) + $(count full) + $(count not_due))) ]
}

gcc_pg()
{
	user "$system/work-pg"
	[ -s gmon.out ]
}

check 'nothing is missing' no_complaint
check 'the hottest function, and sums are equal' script
check 'a program of gcc -pg writes gmon.out' gcc_pg
gzip -c gmon.out | base64 | sed 's/^/# gmon.out: /'
plan
