#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Build the debug kernel, unless the cache holds the very same one, and print
# its folder: vmlinuz, and headers to build modules with.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

source=$("$VM/kernels.sh" source)
fragments=("$VM/config/vm.config" "$VM/config/debug.config")
# what it is made of is its name; a module wants the compiler of its kernel
hash=$(cat "$source/.debian-version" "${fragments[@]}" - <<<"$(gcc -dumpfullversion)" | sha256sum | cut -c 1-12)
dir=$CACHE/kernels/debug-$hash
out=$dir/headers

# A fragment's line that contradicts another or lacks what it depends on is
# dropped without a word.
check_config()
{
	local line missing=

	while read -r line; do
		case $line in
		CONFIG_*=*) grep -qx "$line" "$out/.config" || missing+=" $line" ;;
		'# CONFIG_'*' is not set')
			line=${line#\# } line=${line%% *}
			! grep -q "^$line=" "$out/.config" || missing+=" $line=n"
			;;
		esac
	done < <(cat "${fragments[@]}")
	[ ! "$missing" ] || die "the debug kernel cannot have$missing: mend selftests/vm/config"
}

build()
{
	[ ! -e "$dir/vmlinuz" ] || return 0
	say 'building the debug kernel, once (6 to 8 minutes with two CPUs)'
	mkdir -p "$out" "$dir/modules"
	{
		make -C "$source" O="$out" tinyconfig
		"$source/scripts/kconfig/merge_config.sh" -m -O "$out" "$out/.config" "${fragments[@]}"
		make -C "$source" O="$out" olddefconfig
	} >"$dir/log" 2>&1 || die "the debug kernel cannot be configured: see $dir/log"
	check_config
	nice make -C "$source" O="$out" -j"$(nproc)" bzImage modules >>"$dir/log" 2>&1 ||
		die "the debug kernel does not build: see $dir/log"
	# half a gigabyte that a module does not need
	find "$out" -name scripts -prune -o -path '*/tools/objtool' -prune -o \
		\( -name '*.o' -o -name '*.a' -o -name 'vmlinux*' -o -name '.*.cmd' \) -type f -exec rm {} +
	mv "$out/arch/x86/boot/bzImage" "$dir/vmlinuz.tmp"
	mv "$dir/vmlinuz.tmp" "$dir/vmlinuz"
}

need gcc gcc
need bc bc
need flex flex
need bison bison
[ -e "$dir/vmlinuz" ] || locked debug build
echo "$dir"
