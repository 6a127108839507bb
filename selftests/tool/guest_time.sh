# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Slices of time and series of runs, for guest.sh.

# of_slices: each tick in a slot is in a slice; what they are is in the file slices
of_slices() {
	added_up
	user profil report --by time --tsv file >slices
	[ "$(awk -F '\t' '$1 == "time" { sum += $2 } END { print sum }' slices)" = "$(count in_slots)" ]
}

# Two functions, one after the other.  The VM is slow, and reading a large table in it takes
# so long that slices would become long; so the table is small.
#
# The slice in which one gave way to the other has both.
phases() {
	run --slots 1024 -- burn 15 phases
	of_slices
	awk -F '\t' '$1 == "time" && $2 > 5 && $8 > 0.8 * $2 { print $9 }' slices | uniq | tee order
	diff order - <<-END
		burn_here
		burn_there
	END
	awk -F '\t' '$1 == "time" { n++; if ($3 > 0.8 * $7 && $3 < 1.2 * $7) full++ } END { print full " of " n; exit !(n > 8 && full > 0.8 * n) }' slices
	user profil report --tsv --to 1.2 file >tsv
	awk -F '\t' '$1 == "function" { sum += $2; if ($8 == "burn_here") here = $2 } END { print here " of " sum; exit !(here > 100 && here > 0.95 * sum) }' tsv
	user profil report --tsv --from 1.9 file >tsv
	awk -F '\t' '$1 == "function" { sum += $2; if ($8 == "burn_there") there = $2 } END { print there " of " sum; exit !(there > 100 && there > 0.95 * sum) }' tsv
}

# Ticks in the kernel are those of its functions in each slice.
phases_of_kernel() {
	says 0 profil run -q --kernel --slots 2048 -o file -- sh -c 'burn 6; burn 6 zero'
	chmod 644 file
	of_slices
	awk -F '\t' '$1 == "time" && $2 > 5 && $8 > 0.5 * $2 { print $10 ~ /^\[/ ? "kernel" : $9 }' slices | uniq | tail -n 2 | tee order
	diff order - <<-END
		burn_here
		kernel
	END
	awk -F '\t' '$1 == "time" { user += $4; kernel += $5 } END { print user, kernel; exit !(user > 5e8 && kernel > 4e8) }' slices
}

series() {
	says 0 user profil run -r 3 -o file -- burn 3
	grep -E '^  runs     3 of 0\.3[0-9] s ± 0\.0[0-9] s of CPU ' err
	of_slices
	charged 3
	user profil diff --tsv file file >tsv
	grep -Fx 'count	runs_b	3' tsv
}

# Of a second 125 million instructions are done here: 25 milliseconds at two a nanosecond.
# What is read, and how long, depends on the few places that were seen.
short() {
	local self=$BASHPID before ms
	says 0 user profil run -q -o file -- true
	before=$(awk '{ print $16 + $17 }' /proc/$self/stat)
	for _ in $(seq 10); do
		user profil run -q -o file -- true
	done
	ms=$((($(awk '{ print $16 + $17 }' /proc/$self/stat) - before) * 1000 / $(getconf CLK_TCK) / 10))
	echo "profil run -- true: $ms ms"
	[ $ms -gt 10 ]
	[ $ms -le 400 ]
}

check 'vm: what a short program costs' short
check 'vm: slices of time' phases
check 'vm: slices of time, with functions of the kernel' phases_of_kernel
check 'vm: a series of runs' series
