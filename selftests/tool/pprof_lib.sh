# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What go tool pprof says of a profile, against what profil report says.

# The caller has made this folder.
export PPROF_TMPDIR=${tmp:?} HOME=$tmp

# Address by address: samples, cpu, user, system, name.
# same_addresses FILE
same_addresses() {
	go tool pprof -raw "$1" | tr -d '\r' >raw
	grep -Fx 'samples/count cpu/nanoseconds[dflt] user/nanoseconds system/nanoseconds' raw
	awk '
		/^Samples:/ { part = 1; next }
		/^Locations/ { part = 2; next }
		/^Mappings/ { part = 3; next }
		part == 1 && / [0-9]+: [0-9]+ *$/ { split($0, f, ":"); id = f[2] + 0; n = split(f[1], v, " ")
			for (i = 1; i <= 4; i++) sum[id, i] += v[i] }
		# without those that it is inlined into
		part == 2 && $1 ~ /:$/ { id = $1 + 0; address[id] = $2; name = $0
			sub(/^ *[0-9]+: 0x[0-9a-f]+ M=[0-9]+ /, "", name)
			sub(/ [^ ]*:[0-9]+ s=0(\(.*\))?$/, "", name)
			named[id] = name }
		END { for (id in address) printf "%.0f\t%.0f\t%.0f\t%.0f\t%s\t%s\n", sum[id, 1],
			sum[id, 2], sum[id, 3], sum[id, 4], address[id], named[id] }
	' raw | sort >theirs
	# what has no name is shown as its file
	profil report --by address --tsv "$1" | awk -F '\t' '
		$1 == "address" { file = $9; sub(/.*\//, "", file)
			print $2 "\t" $3 "\t" $4 "\t" $5 "\t" $10 "\t" ($8 == "[" file "]" ? "" : $8) }' | sort >ours
	diff theirs ours
}

# Function by function; theirs are added up over objects.
# same_functions FILE
same_functions() {
	local index column
	for index in samples:2 cpu:3 user:4 system:5; do
		column=${index#*:}
		go tool pprof -top -nodecount=100000 -nodefraction=0 -unit=ns -sample_index="${index%:*}" "$1" 2>warned |
			awk '/flat%/ { on = 1; next } on && $1 + 0 { n = $1; sub(/ns$/, "", n); $1 = $2 = $3 = $4 = $5 = ""; sub(/^ +/, ""); print n "\t" $0 }' | sort >theirs
		profil report --tsv "$1" | awk -F '\t' -v c="$column" '$1 == "function" { sum[$8] += $c } END { for (name in sum) if (sum[name]) printf "%.0f\t%s\n", sum[name], name }' |
			sort >ours
		diff theirs ours
	done
}
