# SPDX-License-Identifier: GPL-2.0-only
# awk -v parts="PART…" -f compare.awk BASELINE.json RESULTS.json: one TAP line for
# each row of these parts.  It fails where a row costs more than before by 10 %
# and 25, where it is of less than half as many cases, where there is none any more, and where
# there was none.

/"value"/ {
	split($0, field, "\"")
	name = field[2]
	split(name, word, ".")
	sub(/.*"value": /, "")
	split($0, number, /, "of": /)
	if (!index(" " parts " ", " " word[1] " "))
		next
	if (!(name in seen))
		order[++rows] = name
	seen[name]
	if (NR == FNR) {
		was[name] = number[1] + 0
		cases[name] = number[2] + 0
	} else {
		is[name] = number[1] + 0
		few[name] = number[2] * 2 < cases[name]
	}
}

function bad(name)
{
	return !(name in was) || !(name in is) || few[name] ||
		is[name] > was[name] * 1.1 && is[name] > was[name] + 25 ||
		# where nobody is counted, a tick is what it was without the module
		name == "loaded.nobody" && is[name] > was[name]
}

function said(list, name)
{
	return name in list ? list[name] : "none"
}

END {
	for (i = 1; i <= rows; i++) {
		name = order[i]
		failed += bad(name)
		print (bad(name) ? "not ok " : "ok ") i " - bench: " name \
			" (" said(was, name) ", now " said(is, name) \
			(few[name] ? ", of few cases)" : ")")
	}
	print "bench: " rows - failed " passed, " failed + 0 " failed, 0 skipped"
	exit failed > 0 || !rows
}
