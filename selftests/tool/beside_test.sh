#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What make compare makes of its figures: selftests/compare/tables.awk and doc.awk.
set -eu
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

cd "$tmp"

# figures AGAIN: of a program that takes 1 s, or 20 s, and AGAIN when it is run once more.
# perf takes 2 s once, and 10 % of each second.
figures() {
	printf '%s\t' plain sqlite 1 1000000 '' plain sqlite 20 20000000 '' \
		plain sqlite 1 1000000 '' plain sqlite 20 "$1" '' \
		sqlite perf 1 3100000 20 24000000 2048 500000 a b c d e '' \
		sqlite callgrind 1 50000000 2 100000000 4096 700000 b a x y z '' |
		sed 's/\t\t/\n/g'
	printf 'user\t%s\n' $'perf\tno' $'profil\tyes'
}

tables() {
	figures "$1" >results
	awk -f "$here/../compare/tables.awk" results >table 2>err
}

reckons() {
	tables 20000000
	cat table
	grep -E '^SQLite, .*: 20\.0 s, and 0\.00 % apart' table
	grep -E "^perf +\\+10\\.00 % +2\\.00 s +2 kB +0\\.50 s +2 of 5  \`\`a\`\`\$" table
	grep -Fx 'An ordinary user may use profil; not perf.' table
}

noise() {
	tables 20050000
	grep -F ' 0.26 % apart' table
	none tables 20060000
	cat err
	grep -F 'the same work of sqlite takes 0.3 % more or less' err
	[ ! -s table ]
}

page() {
	printf '%s\n' above '.. tables, by make compare' old '.. end of the tables' below >page
	echo new >table
	awk -f "$here/../compare/doc.awk" table page | paste -sd, | tee new
	grep -Fx 'above,.. tables, by make compare,,new,,.. end of the tables,below' new
}

check 'beside: figures become a table' reckons
check 'beside: no table of noise' noise
check 'beside: the page has the tables' page
plan
