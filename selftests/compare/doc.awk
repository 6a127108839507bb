# SPDX-License-Identifier: GPL-2.0-only
# awk -f doc.awk TABLES PAGE: the page, with these tables between its two marks.

FNR == NR {
	text = text $0 "\n"
	next
}

/^\.\. end of the tables/ {
	skipped = 0
}

!skipped

/^\.\. tables, by make compare/ {
	printf "\n%s\n", text
	skipped = 1
}
