#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Packs the source.  The same files give the same bytes, whoever packs them, where and when:
# in a checkout, or where such a tar was unpacked.
#
#   packaging/dist.sh VERSION FILE.tar.gz
set -euo pipefail
export LC_ALL=C

cd "$(dirname "$0")/.."
files()
{
	# what is committed, and what may be: builds leave other files behind
	if [ -e .git ]; then
		git -c core.quotePath=off ls-files -co --exclude-standard
	else
		find . -path ./build -prune -o -type f -print | sed 's,^\./,,'
	fi | sort -u | while IFS= read -r file; do
		[ ! -e "$file" ] || printf '%s\n' "$file"
	done
}

[ ! -e .git ] || [ -z "$(git status --porcelain)" ] ||
	echo "dist.sh: ${2##*/} has changes that are not committed" >&2
mkdir -p "$(dirname "$2")"
epoch=$(date -d "$(sed -n 's/^ -- .*>  //p' debian/changelog | head -n 1)" +%s)
files | tar -c --verbatim-files-from -T - --transform "s,^,profil-$1/,S" --format=ustar \
	--mode=u=rwX,go=rX --owner=0 --group=0 --numeric-owner --mtime="@$epoch" |
	gzip -9n >"$2.new"
mv "$2.new" "$2"
