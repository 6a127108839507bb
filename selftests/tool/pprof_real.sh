#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Profiles of real programs: go tool pprof says of each address and function what profil
# report says.
#
#   pprof_real.sh FOLDER	of the command, and of profiles
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$here/../lib/tap.sh"
. "$here/pprof_lib.sh"
O=$1
PATH=$O:$PATH
unset DEBUGINFOD_URLS

cd "$tmp"
addresses() {
	same_addresses "$O/profiles/$1.pb.gz"
	[ "$(wc -l <ours)" -gt 20 ]
}

functions() {
	same_functions "$O/profiles/$1.pb.gz"
	[ "$(wc -l <ours)" -gt 4 ]
}

for program in make redis node; do
	check "pprof: each address of $program" addresses $program
	check "pprof: each function of $program" functions $program
done
plan
