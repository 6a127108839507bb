#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# profil top: the lines of a function cover the table, and go away again.
set -eu
. "$(dirname "$0")/top_lib.sh"

mkdir src
cp "$here/planted.c" src/
{ echo 'int many(int n)'; echo '{'; seq 100 | sed 's/.*/\tn += &;/'; echo '	return n;'; echo '}'; } >src/many.c
# whose addresses are no offsets in the file
gcc -g -O0 -no-pie -o annotated "$tmp/src/planted.c" "$tmp/src/many.c"

# offset FUNCTION BYTES: in the file
offset() {
	printf %x $((0x$(at annotated "$1") - 0x400000 + $2))
}

{
	echo "object 10 $tmp/annotated"
	echo 'object 11 /no/such/file'
	echo 'process 0 0 0 0 0 others'
	echo 'process 4242 0 1 0 0 annotated'
	echo "slot 10 $(offset cold 0) 0 40 20"
	echo "slot 10 $(offset hot 0) 0 90 10"
	echo "slot 10 $(offset many 300) 0 30 0"
	echo 'slot 2 7f0000001000 1 8 0'
	echo 'slot 11 1234 0 5 0'
	echo 'slot 4 10 1 3 0'
	echo 'grow 0 1 2 1'
} >"$PROFIL_FAKE"

# top: with rows that stay where they are
top() {
	begin 80 24 'profil top -s 0.1 -- sleep 1000'
	until_is shows ' hot +annotated$'
	mux send-keys Space s
	until_is shows ' many +annotated$'
}

# choose NAME: goes to this row; a key is sent when the one before has been seen
choose() {
	local row
	until_is shows ' object$'
	mux send-keys Home
	until_is none marked '.*'
	for _ in $(seq 10); do
		row=$(marked_row)
		mux send-keys Down
		until_is marks_another "$row"
		! marked "$1" || return 0
	done
	return 1
}

lines() {
	local row
	top
	row=$(shows ' cold +annotated$' | sed -E 's/^ +[0-9.-]+( %)? +([0-9.]+) %.*/\2/')
	# none is chosen
	mux send-keys a
	until_is shows '^(hot|cold) in annotated: [0-9]+ of [0-9]+ samples, [0-9.]+ %, '
	mux send-keys q
	choose cold
	mux send-keys Enter
	until_is shows "^cold in annotated: [0-9]+ of [0-9]+ samples, $row %, "
	shows '^ +[0-9]+ +100\.0 %  █+ +[0-9]+  \{$'
	shows ' return n \+ 2;$'
	shows '^q back .* i source or instructions '
	mux send-keys i
	until_is shows '^ samples +share +address$'
	none shows 'return n'
	mux send-keys h
	until_is shows '^a      lines of the chosen function$'
	# which ends the help, and nothing else
	mux send-keys q
	until_is shows '^ samples +share +address$'
	mux send-keys i
	until_is shows ' return n \+ 2;$'
	mux resize-window -x 40 -y 12
	until_is shows '^ +100\.0 % +[0-9]+  \{$'
	mux resize-window -x 80 -y 24
	until_is shows '^ +[0-9]+ +100\.0 %  █'
	mux send-keys Escape
	until_is shows ' many +annotated$'
	mux send-keys q
	ended 143
}

# A function longer than the screen begins where it is hottest.
scrolled() {
	top
	choose many
	mux send-keys a
	until_is shows '^many in annotated: '
	shows ' 100\.0 %  █'
	none shows 'int many'
	mux send-keys Home
	until_is shows ' int many\(int n\)$'
	none shows '100\.0 %'
	mux send-keys Down Down PageDown
	until_is shows ' n \+= 42;$'
	none shows 'int many'
	mux send-keys End
	until_is shows '^next: the slow one may be the one before$'
	shows ' return n;$'
	mux send-keys q
	until_is shows ' many +annotated$'
	mux send-keys q
	ended 143
}

check 'top: the lines of a function' lines
check 'top: a function longer than the screen' scrolled
plan
