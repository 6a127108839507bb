#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
#   splat.sh LOG	print the lines of a kernel log that are splats; exits
#			with 1 when there are any, with 2 when it cannot tell
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ -r "${1:-}" ] || { say "there is no log ${1:-}: give the console log of a VM"; exit 2; }
awk '/^#/ { reason = NR } /^[^#]/ && reason != NR - 1 { exit 1 }' "$VM/splat.allow" ||
	{ say "$VM/splat.allow: an expression without a reason above it"; exit 2; }

# By its strict rules the kernel races with itself wherever one looks.  A race
# is ours when one of the two accesses is made by a module, or when the ways to
# both lead through one; what an interrupt interrupted is no part of its way, nor
# who asked for a page: the way of two faults is the kernel's, called or taken.
# No module in the VM is another's.  All other lines are looked at as usual.
races()
{
	awk '
		function judge() {
			if (race && (own || ways && through == ways))
				print race
			race = ""
		}
		/^BUG: KCSAN: / { race = $0; own = ways = through = way = 0; next }
		/^=+$/ { judge() }
		way && /^ [^ ]+\+0x[0-9a-f]+\/0x[0-9a-f]+ \[[a-z_]+\]$/ {
			own += way == 2
			through++
			way = 0
		}
		/^ (asm_[^ ]+|handle_mm_fault\+[^ ]+)$/ { way = 0 }
		way == 2 { way = 1 }
		/ on cpu [0-9]+:$/ { ways++; way = 2 }
		{ print }
		END { judge() }'
}

# Who is ended for want of memory is no bug of the kernel's; run.sh says who.  Nor is it one
# when /proc/PID/mem is written to where userfaultfd has the memory, which the kernel tells
# with a trace if it looks after itself.
told_with_a_trace()
{
	awk '/ invoked oom-killer: |^FAULT_FLAG_ALLOW_RETRY missing / { told = 1 }
		told && /^Call [Tt]race:/ { told = 0; next }
		/^Out of memory: Killed process / { told = 0 }
		{ print }'
}

# Only the kernel stamps its lines; its command line is an echo of ours.
splats=$(sed -n 's/\r//g; s/^\[ *[0-9]*\.[0-9]*\]\(\[ *[CT][0-9]*\]\)\? //p' "$1" |
	{ grep -avE '^(Command|Kernel command) line: ' || true; } | races | told_with_a_trace |
	{ grep -aE -f <(grep '^[^#]' "$VM/splat.deny") || true; } |
	{ grep -avE -f <(grep '^[^#]' "$VM/splat.allow") || true; })
[ "$splats" ] || exit 0
echo "$splats"
exit 1
