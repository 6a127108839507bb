# SPDX-License-Identifier: GPL-2.0-only
# awk -f table.awk targets RESULTS.json: each row with its limits, and whether
# they hold, which none does that is not measured.  The last line sums up, as
# check.sh wants it.

# A number, a row, or a sum or product of two of these; "" if there is none.
function limit(text,	part) {
	if (text == "-" || text == "")
		return ""
	if (split(text, part, "*") == 2)
		return int(limit(part[1]) * limit(part[2]))
	if (split(text, part, "+") == 2)
		return limit(part[1]) + limit(part[2])
	return text in value ? value[text] : text + 0
}

function verdict(name, most, wish) {
	if (most == "" && wish == "")
		return ""
	judged++
	if (!(name in value)) {
		failed++
		return "FAILS: not measured"
	}
	if (most != "" && value[name] > most) {
		failed++
		return "FAILS by " value[name] - most
	}
	return wish == "" || value[name] <= wish ? "holds" : "holds, goal missed by " value[name] - wish
}

function row(name,	most, wish, said) {
	most = limit(must[name])
	wish = limit(goal[name])
	said = verdict(name, most, wish)
	if (name in value || said != "")
		printf "%-27s %10s %10s %6s  %-28s %s\n", name, value[name],
			most, wish, said, what[name]
}

BEGIN { FS = "\t" }

FILENAME ~ /targets$/ {
	for_arm64 = sub(/^@arm64 /, "", $1)
	if (/^#/)
		next
	if (!($1 in what))
		order[++rows] = $1
	if (for_arm64 ? RELEASE ~ /arm64$/ : RELEASE ~ /^6\.12\..*-amd64$/) {
		must[$1] = $2
		goal[$1] = $3
	}
	if (!for_arm64)
		what[$1] = $4
	next
}

/"value"/ {
	split($0, part, "\"")
	name = part[2]
	sub(/.*"value": /, "")
	value[name] = $0 + 0
}

END {
	printf "%-27s %10s %10s %6s  %-28s %s\n", "row", "measured", "must", "goal", "verdict", "what"
	for (i = 1; i <= rows; i++)
		row(order[i])
	printf "bench %s: %d passed, %d failed, 0 skipped\n", RELEASE, judged - failed, failed
	exit failed > 0
}
