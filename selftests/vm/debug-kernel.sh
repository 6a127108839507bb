#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Build a kernel that looks for bugs, unless the cache holds the very same one,
# and print its folder: vmlinuz, and headers to build modules with.
#
#   debug-kernel.sh [debug]	KASAN, lockdep and more: config/debug.config
#   debug-kernel.sh mainline	the same, but modules have no task_work_add(),
#				which Debian exports and Linux does not
#   debug-kernel.sh kcsan	races: config/kcsan.config
#   debug-kernel.sh fuzz	KASAN and little else: config/fuzz.config
#
#   debug-kernel.sh --here KERNEL	is it in the cache?
#
# debug and mainline differ in one object, and are made together.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

look=''
if [ "${1:-}" = --here ]; then
	look=1
	shift
	# without the source there is none, and it need not be fetched to know that
	[ -e "$CACHE/source" ] || exit 1
fi
tag=${1:-debug}
tags=(debug mainline) config=debug minutes='6 to 18'
# KASAN keeps the stack of who adds task work, and may allocate for it, even in the
# tick, where CPU timers add some: lockdep objects.  Newer kernels do not allocate there.
edit='s/kasan_record_aux_stack(work)/kasan_record_aux_stack_noalloc(work)/'
case $tag in
debug | mainline) ;;
kcsan | fuzz) tags=("$tag") config=$tag minutes='4 to 14' edit='' ;;
*) die "there is no debug kernel $tag: see the top of $0" ;;
esac
source=$("$VM/kernels.sh" source)
fragments=("$VM/config/vm.config" "$VM/config/$config.config")
# what it is made of is its name; a module wants the compiler of its kernel
hash=$(cat "$source/.debian-version" "${fragments[@]}" - <<<"$(gcc -dumpfullversion)$edit" |
	sha256sum | cut -c 1-12)
dir=$CACHE/kernels/$tag-$hash
work=$CACHE/kernels/tmp.$config-$hash
out=$work/headers
# make finds sources here before it finds those in $source
changed=$out/kernel/task_work.c

if [ "$look" ]; then
	[ -e "$dir/vmlinuz" ]
	exit
fi

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
	[ ! "$missing" ] || die "the $config kernel cannot have$missing: mend selftests/vm/config"
}

# compile TAG: keep its image, and what it exports
compile()
{
	make -C "$source" O="$out" -j"$(nproc)" bzImage modules >>"$work/log" 2>&1 ||
		die "the $1 kernel does not build: see $work/log"
	cp "$out/arch/x86/boot/bzImage" "$work/$1.vmlinuz"
	cp "$out/Module.symvers" "$work/$1.symvers"
}

# store TAG: it may be in use by others if it is there
store()
{
	local final=$CACHE/kernels/$1-$hash

	[ ! -e "$final/vmlinuz" ] || return 0
	rm -rf "$work/final"
	mkdir -p "$work/final/modules"
	cp -a "$out" "$work/final/headers"
	cp "$work/$1.symvers" "$work/final/headers/Module.symvers"
	cp "$work/$1.vmlinuz" "$work/final/vmlinuz"
	publish "$work/final" "$final"
}

build()
{
	local name

	[ ! -e "$dir/vmlinuz" ] || return 0
	say "building the kernel ${tags[*]}, once ($minutes minutes with two CPUs)"
	mkdir -p "$out/kernel"
	room "$out" 4000
	sed "$edit" "$source/kernel/task_work.c" >"$changed"
	{
		make -C "$source" O="$out" tinyconfig
		"$source/scripts/kconfig/merge_config.sh" -m -O "$out" "$out/.config" "${fragments[@]}"
		make -C "$source" O="$out" olddefconfig
	} >"$work/log" 2>&1 || die "the $config kernel cannot be configured: see $work/log"
	check_config
	compile "$config"
	if [ "$config" = debug ]; then
		sed -i '/EXPORT_SYMBOL.*(task_work_add)/d' "$changed"
		compile mainline
	fi
	rm "$changed"
	# half a gigabyte that a module does not need
	find "$out" -name scripts -prune -o -path '*/tools/objtool' -prune -o \
		\( -name '*.o' -o -name '*.a' -o -name 'vmlinux*' -o -name '.*.cmd' \) -type f -exec rm {} +
	for name in "${tags[@]}"; do
		store "$name"
	done
	rm -r "$work"
}

need gcc gcc
need bc bc
need flex flex
need bison bison
[ -e "$dir/vmlinuz" ] || locked "$config" build
echo "$dir"
