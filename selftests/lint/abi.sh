#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The binary interface of uapi/linux/profil.h as text: each member of each structure, and the
# value of each macro, as pahole reads them from what clang compiles for a machine.
#
#   abi.sh [TARGET]	as clang calls the machine; x86_64-linux-gnu if it is not given
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
target=${1:-x86_64-linux-gnu}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# the other headers are this machine's, whatever the target
compile()
{
	clang --target="$target" -Iuapi -isystem "/usr/include/$(gcc -print-multiarch)" -x c "$@" -
}

# macros HEADER...: as they are defined once these are included
macros()
{
	printf '#include <%s>\n' "$@" | compile -E -dM | sort
}

# What has no name for its values would not be found below.
if grep -nE '^[[:space:]]*(typedef|enum|union)\b' uapi/linux/profil.h; then
	echo 'abi.sh: the interface has no types but structures, and its numbers are macros: write it so'
	exit 1
fi

# The guard against a second inclusion has no value.
mapfile -t numbers < <(comm -23 <(macros linux/profil.h) <(macros linux/ioctl.h linux/types.h) |
	awk 'NF > 2 { print $2 }')
{
	echo '#include <linux/profil.h>'
	echo 'enum abi {'
	printf '%s\n' "${numbers[@]}" | sed 's/.*/abi_& = &,/'
	echo '} abi;'
} | compile -g -fno-eliminate-unused-debug-types -c -Wall -Wextra -Wpadded -Werror -o "$tmp/abi.o"

pahole "$tmp/abi.o" | awk '
	/^struct/ { type = $2 }
	/;.*\/\* +[0-9]+ +[0-9]+ \*\// {
		sub(/ *__attribute__.*;/, ";")
		match($0, /[^[:space:]]+;/)
		name = substr($0, RSTART, RLENGTH - 1)
		of = substr($0, 1, RSTART - 1)
		gsub(/^[[:space:]]+|[[:space:]]+$/, "", of)
		printf "%-37s%s, %d bytes at %d\n", type "." name, of, $(NF - 1), $(NF - 2)
	}'
pahole --hex -C abi "$tmp/abi.o" | awk '/abi_/ { printf "%-37s%s\n", substr($1, 5), substr($3, 1, length($3) - 1) }'
