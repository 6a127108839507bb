# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# For tests of the whole machine: control groups, classes, and what the kernel says of its CPUs.

# shellcheck disable=SC2154 # tap.sh has it
cgroup=$tmp/cgroup
mkdir "$cgroup"
mount -t cgroup2 none "$cgroup"
trap 'umount "$cgroup"; rm -rf "$tmp"' EXIT

# added_up_all: what was written last to tsv has each tick in one class
added_up_all() {
	[ "$(count ticks)" = $(($(count in_slots) + $(count exec) + $(count full) + $(count not_due) +
		$(count idle) + $(count kthreads) + $(count interrupts))) ]
}

# moment FILE: what the kernel says of its time and its CPUs, now
moment() {
	cat /proc/uptime /proc/stat >"$1"
}

# cpus FILE FIELD...: what it has of /proc/stat, of all CPUs, in nanoseconds; with "not" before them, the
# rest of the time.  That is more than what /proc/stat has as idle: what runs between two ticks, and is
# gone when the next one comes, is in none of its classes.
cpus() {
	awk -v hz="$(getconf CLK_TCK)" -v fields="${*:2}" 'NR == 1 { uptime = $1 }
		/^cpu[0-9]/ { cpus++ }
		$1 == "cpu" { n = split(fields, field, " ")
			for (i = 1 + (field[1] == "not"); i <= n; i++) sum += $(field[i] + 1) / hz }
		END { printf "%.0f\n", 1e9 * (field[1] == "not" ? uptime * cpus - sum : sum) }' "$1"
}

# within NS WHAT FIELD...: it is what /proc/stat has while the profiler counts, or a part of what it
# has from before that to after it; both are cut to hundredths of a second
within() {
	local ns=$1 what=$2 inner outer
	shift 2
	inner=$(($(cpus stat.after "$@") - $(cpus stat.before "$@")))
	outer=$(($(cpus stat.ended "$@") - $(cpus stat.begun "$@")))
	echo "$what: $((ns / 1000000)) of $((inner / 1000000)) to $((outer / 1000000)) ms" | tee -a figures
	[ "$ns" -ge $((inner - 20000000)) ]
	[ "$ns" -le $((outer + 20000000)) ]
}
