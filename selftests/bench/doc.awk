# SPDX-License-Identifier: GPL-2.0-only
# awk -f doc.awk targets doc.rst RESULTS.json…: doc.rst, with a table of the rows
# of these results where it has a line "@TABLE PREFIX…".

BEGIN { FS = "\t" }

FILENAME ~ /targets$/ {
	if (!/^[#@]/) {
		order[++rows] = $1
		what[$1] = $4
	}
	next
}

FILENAME ~ /\.rst$/ {
	text[++lines] = $0
	next
}

/"release"/ {
	split($0, part, "\"")
	release = part[4]
	names[++results] = release
}

/"value"/ {
	split($0, part, "\"")
	sub(/.*"value": /, "")
	value[release, part[2]] = $0 + 0
}

function rule(i) {
	printf "%s", dashes(width)
	for (i = 1; i <= results; i++)
		printf "  %s", dashes(length(names[i]))
	print ""
}

function dashes(num,	line) {
	while (num-- > 0)
		line = line "="
	return line
}

function line_of(label, row,	i, cell) {
	printf "%-" width "s", label
	for (i = 1; i <= results; i++) {
		cell = row == "" ? names[i] : value[names[i], row]
		printf "  %" length(names[i]) "s", cell == "" ? "\\-" : cell
	}
	print ""
}

function table(prefixes,	i) {
	width = 0
	for (i = 1; i <= rows; i++)
		if (wanted(order[i], prefixes) && length(what[order[i]]) > width)
			width = length(what[order[i]])
	rule()
	line_of("row", "")
	rule()
	for (i = 1; i <= rows; i++)
		if (wanted(order[i], prefixes))
			line_of(what[order[i]], order[i])
	rule()
}

function wanted(row, prefixes,	part) {
	split(row, part, ".")
	return index(" " prefixes " ", " " part[1] " ")
}

END {
	for (line = 1; line <= lines; line++)
		if (sub(/^@TABLE /, "", text[line]))
			table(text[line])
		else
			print text[line]
}
