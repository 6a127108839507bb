# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # check.sh sets $tmp and what the table says
# Which lanes have passed, and on which content; for check.sh.
#
# A lane is the same as when it passed if nothing it depends on has changed: its command,
# the files below its paths, its kernels, the compilers, the emulator, what in the
# environment changes the VM, and these scripts.  The hash of all that is its key.  The
# file $CACHE/passed/LANE/KEY says what was seen: "PASSED SKIPPED SECONDS DATE TIME COMMIT".
#
# All lanes together take a machine of two processors days.  So the source has a record of
# what passed on other machines, with the same keys: "LANE KEY PASSED SKIPPED SECONDS DATE
# TIME COMMIT".  It is for who reads it: a lane is left out by it only with RECORDED=1.

PASSED=$CACHE/passed
RECORD=selftests/results
# what it keeps of each lane: a few branches that somebody goes back and forth between
KEEP=20

# The files of the source with the id that git gives to their content: those it tracks,
# and those it does not know yet.  What builds leave behind is ignored, and so is the record,
# on which nothing depends.  Empty where the source is no checkout: nothing is remembered there.
source_files()
{
	git rev-parse --is-inside-work-tree >/dev/null 2>&1 || return 0
	git -c core.quotePath=off ls-files -co --exclude-standard | sort -u |
		while IFS= read -r file; do
			[ ! -f "$file" ] || [ "$file" = "$RECORD" ] || printf '%s\n' "$file"
		done >"$tmp/names"
	paste -d ' ' <(git hash-object --stdin-paths <"$tmp/names") \
		<(xargs -r -d '\n' stat -c %A <"$tmp/names") "$tmp/names"
}

# files_below FILES PATH…: the lines of source_files() below these paths
files_below()
{
	local files=$1
	shift
	awk -v paths="$*" 'BEGIN { n = split(paths, path, " ") }
		{
			name = substr($0, length($1 $2) + 3)
			for (i = 1; i <= n; i++)
				if (name == path[i] || index(name, path[i] "/") == 1) {
					print
					next
				}
		}' "$files"
}

# The compilers and the rest that comes from packages: their first lines say the
# version, and on Debian the revision.
tools()
{
	local tool
	for tool in gcc gcc-12 aarch64-linux-gnu-gcc-12 ldd qemu-system-x86_64 qemu-system-aarch64; do
		"$tool" --version 2>/dev/null | head -n 1 || :
	done
	busybox 2>/dev/null | head -n 1 || :
}

# kernel_id KERNEL: of an image and of what modules are built with
kernel_id()
{
	[ -e "$tmp/id.$1" ] || selftests/vm/kernels.sh id "$1" >"$tmp/id.$1" || return
	cat "$tmp/id.$1"
}

# key LANE FILES: nothing if a kernel is not there yet, or the source is no checkout
key()
{
	local kernel
	[ -s "$2" ] || return 0
	for kernel in ${kernels[$1]}; do
		selftests/vm/kernels.sh here "$kernel" || return 0
	done
	{
		echo "${run[$1]}"
		echo "${ACCEL:-} ${APPEND:-} ${CPUS:-} ${KERNEL:-}"
		cat "$tmp/tools"
		for kernel in ${kernels[$1]}; do
			kernel_id "$kernel" || return
		done
		# shellcheck disable=SC2086 # paths of this source have no blanks
		files_below "$2" selftests/check.sh selftests/memory.sh ${paths[$1]}
	} | sha256sum | cut -c 1-16
}

# remember LANE KEY PASSED SKIPPED SECONDS: an interrupted run leaves no half a file
remember()
{
	local dir=$PASSED/$1
	mkdir -p "$dir"
	echo "$3 $4 $5 $(date '+%F %R') $(git describe --always --dirty 2>/dev/null)" >"$dir/.new.$$"
	mv "$dir/.new.$$" "$dir/$2"
	find "$dir" -type f -printf '%T@ %p\n' | sort -rn | sed "1,${KEEP}d; s/^[^ ]* //" | xargs -r -d '\n' rm -f
}

# recall LANE KEY: what was seen, if it has passed
recall()
{
	[ "$2" ] && cat "$PASSED/$1/$2" 2>/dev/null
}

# recorded LANE KEY: the same, on whatever machine
recorded()
{
	[ "$2" ] && awk -v lane="$1" -v key="$2" '
		$1 == lane && $2 == key { print $3, $4, $5, $6, $7, $8; found = 1 }
		END { exit !found }' "$RECORD" 2>/dev/null
}

# The record of this very content: what it says of another is not kept.
record()
{
	local lane key seen
	source_files >"$tmp/files"
	[ -s "$tmp/files" ] || die 'this source is no git checkout, which would say what belongs to it'
	tools >"$tmp/tools"
	sed '/^#/!d' "$RECORD" >"$tmp/record" || return
	for lane in "${names[@]}"; do
		key=$(key "$lane" "$tmp/files")
		! seen=$(recall "$lane" "$key" || recorded "$lane" "$key") || echo "$lane $key $seen" >>"$tmp/record"
	done
	cat "$tmp/record" >"$RECORD"
	echo "$RECORD: $(grep -vc '^#' "$RECORD") of ${#names[@]} lanes have passed on this content"
}

# What passed, on which content, when: the table of make results.
results()
{
	local lane key seen file ok skip seconds day hour
	source_files >"$tmp/files"
	tools >"$tmp/tools"
	printf '%-22s %7s %7s %7s  %-16s  %s\n' lane passed skipped seconds when 'content'
	for lane in "${names[@]}"; do
		key=$(key "$lane" "$tmp/files")
		if seen=$(recall "$lane" "$key"); then
			set -- "$seen" 'as it is now'
		elif seen=$(recorded "$lane" "$key"); then
			set -- "$seen" 'as it is now, on another machine'
		elif file=$(find "$PASSED/$lane" -type f -printf '%T@ %p\n' 2>/dev/null | sort -rn | head -n 1) && [ "$file" ]; then
			seen=$(cat "${file#* }")
			set -- "$seen" "an earlier one, at ${seen##* }"
		else
			set -- '- - - - - -' 'never'
		fi
		read -r ok skip seconds day hour _ <<<"$1"
		printf '%-22s %7s %7s %7s  %-16s  %s\n' "$lane" "$ok" "$skip" "$seconds" "$day $hour" "$2"
	done
}
