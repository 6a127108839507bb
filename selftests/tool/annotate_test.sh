#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# profil annotate: which lines and instructions have the samples.
set -eu
. "$(dirname "$0")/annotate_lib.sh"

# cells LINE: how much of a bar it has
cells() {
	grep -oE '█+' <<<"$1" | tr -d '\n' | wc -m
}

source_lines() {
	local line
	of_loop p
	says 0 profil annotate hot p
	grep -Fx 'hot in loop: 74 of 79 samples, 93.7 %, 0.30 s of CPU' out
	grep -Fx "  object   $tmp/loop, with the build id of the profile" out
	grep -Fx "  source   $tmp/src/loop.c" out
	none grep '^  also' out
	# the function that was inlined is named; its line is not one of the outer function
	line=$(grep -F 'return n * 3 + sink;' out)
	grep -E '^      63    85\.1 %  █{10}  +6  scale +return n' <<<"$line"
	[ "$(cells "$line")" = 10 ]
	grep -Fx "$(printf '%36s  %9sscale, which was inlined, in %s' '' '' "$tmp/src/loop.c" | sed 's/^ *//')" <(sed 's/^ *//' out)
	line=$(grep -F 'sum -= i;' out)
	grep -E '^      10    13\.5 %  █▋ +17 +sum' <<<"$line"
	grep -E '^ +15 +sum \+= scale\(i\);$' out
	[ "$(grep -c 'a sample is charged to the instruction that was next' out)" = 1 ]
	# a tab is blanks
	none grep -P '\t|\\x09' out
	none grep -F 'return hot(argc)' out
}

# Equal to what report says of the function, and to what each of the lines had.
adds_up() {
	of_loop p
	says 0 profil report --tsv p
	awk -F '\t' '$1 == "function" && $8 == "hot" { print $2, $3, $4, $5 }' out >wanted
	[ "$(cat wanted)" = '74 296000000 284000000 12000000' ]
	for way in -s -i -si; do
		says 0 profil annotate $way --tsv hot p
		awk -F '\t' '$1 == "line" || $1 == "instruction" { a += $2; b += $3; c += $4; d += $5 } END { printf "%d %d %d %d\n", a, b, c, d }' out |
			diff wanted -
		grep -Fx 'count	samples	74' out
	done
	# several files, one of them standard input
	cp p again
	says 0 profil annotate --tsv hot p p - <again
	[ "$(sum out)" = 222 ]
	cp p profil.pb.gz
	says 0 profil annotate --tsv hot
	[ "$(sum out)" = 74 ]
	rm profil.pb.gz
}

# Each instruction that objdump has, at its address, and the samples where they were.
instructions() {
	of_loop p
	says 0 profil annotate -i --tsv hot p
	awk -F '\t' '$1 == "instruction" { print substr($11, 3) }' out >have
	places loop hot | diff - have
	[ "$(awk -F '\t' -v at="0x$scale" '$11 == at { print $2, $8 }' out)" = '63 scale' ]
	# its first word, as objdump has it, but for the end that says a size
	objdump -d --no-show-raw-insn loop | sed -n '/<hot>:$/,/^$/p' | sed -nE 's/^ +[0-9a-f]+:\t([a-z]{1,3}).*/\1/p' >wanted
	sed -nE 's/^instruction\t.*\t([a-z]{1,3})[^\t]*$/\1/p' out | diff wanted -
	says 0 profil annotate -i --all hot p
	[ "$(grep -cE '^.{32}[ │┌└├┬┴┼─▸]+ [0-9a-f]+  ' out)" = "$(wc -l <have)" ]
	grep -E " $scale  scale +mov" out
}

# The arrow begins at the jump and ends at its target, in a lane of its own.
jumps() {
	[ "$(uname -m)" = x86_64 ] || return 0
	cat >jump.s <<-'END'
		.globl hot
		.type hot, @function
		hot:	xor %eax, %eax
		1:	inc %eax
			jz 2f
			cmp $9, %eax
			jne 1b
		2:	ret
		.size hot, . - hot
		.globl main
		main:	call hot
			jmp hot
		.section .note.GNU-stack
	END
	gcc -o jump jump.s
	{ echo "object 10 $tmp/jump"; slots 10 "$(at jump hot):20:0" "$(at jump main):5:0"; } | profile j
	says 0 profil annotate hot j
	sed -nE 's/^.{32}(.{6}) *[0-9a-f]+  ([a-z]+).*/\1\2/p' out | sed 's/^[█ ]*xor/xor/; s/ *\(xor\|cmp\|inc\|je\|jne\|ret\)/ \1/' >drawn
	diff - drawn <<-'END'
		 xorl
		 ┌─▸ incl
		┌┼── je
		││ cmpl
		│└── jne
		└──▸ retq
	END
	says 0 profil annotate main j
	grep -E 'callq? +0x[0-9a-f]+ <hot>$' out
	none grep ▸ out
}

# More jumps than there are lanes: the longest are left out, and nothing is too wide.
many_jumps() {
	local i
	[ "$(uname -m)" = x86_64 ] || return 0
	{
		printf '.globl main\n.type main, @function\nmain:\n'
		for i in $(seq 20); do echo "jz 9${i}f"; done
		for i in $(seq 20); do echo "9$i: nop"; done
		# farther than an arrow is drawn
		printf 'jmp main\n.fill 600, 1, 0x90\njmp main\nret\n.size main, . - main\n.section .note.GNU-stack\n'
	} >many.s
	gcc -o many many.s
	{ echo "object 10 $tmp/many"; slots 10 "$(at many main):20:0"; } | profile j
	says 0 profil annotate --all main j
	grep -c ▸ out | grep -x 6
	[ "$(sed -nE 's/^.{32}(.*)[0-9a-f]{4}  nop.*/\1/p' out | wc -L)" -lt 16 ]
}

# Code of another machine, and what is no instruction of it.
arm64() {
	python3 - arm <<-'END'
		import struct, sys
		code = struct.pack('<5I', 0x52800020, 0x7100041f, 0x54ffffc1, 0x00000000, 0xd65f03c0)
		head = b'\x7fELF\x02\x01\x01' + bytes(9) + struct.pack('<HHIQQQIHHHHHH', 2, 183, 1, 0x10078, 64, 0, 0, 64, 56, 1, 0, 0, 0)
		segment = struct.pack('<IIQQQQQQ', 1, 5, 0, 0x10000, 0x10000, 120 + len(code), 120 + len(code), 4096)
		open(sys.argv[1], 'wb').write(head + segment + code)
	END
	{ echo "object 10 $tmp/arm"; slots 10 78:3:0 80:4:0; } | profile a
	says 0 profil report a
	says 0 profil annotate '[arm]' a
	sed -nE 's/^ +([0-9]+ )? .* (100[0-9a-f]+)  (.*)/\1\2 \3/p' out | tr -s ' ' >have
	[ "$(wc -l <have)" = 5 ]
	# versions of capstone differ in how they write numbers, and what is no instruction
	grep -E '^3 10078 movz? w0, #(0x)?1$' have
	grep -E '^1007c cmp w0, #(0x)?1$' have
	grep -Fx '4 10080 b.ne #0x10078' have
	grep -E '^10084 (udf|\.byte) ' have
	grep -Fx '10088 ret' have
	grep '▸ *10078' out
}

overloaded() {
	printf '%s\n' '__attribute__((noinline)) int over(int n) { return n + 1; }' \
		'__attribute__((noinline)) int over(long n) { return n * 2; }' 'int main() { return over(1) + over(1L); }' >src/over.cc
	g++ -g -O1 -o over "$tmp/src/over.cc"
	touch -r over src/over.cc
	{ echo "object 10 $tmp/over"; slots 10 "$(at over _Z4overi):5:0" "$(at over _Z4overl):7:0"; } | profile o
	says 0 profil annotate over o
	grep -E '^       5    41\.7 %.* 1  .*int over\(int' out
	grep -E '^       7    58\.3 %.* 2  .*int over\(long' out
	says 0 profil annotate -i over o
	[ "$(grep -c ' over$' out)" = 2 ]
	[ "$(grep -c 'ret' out)" = 2 ]
}

# A function of a thousand lines: what is far from samples is one line.
long() {
	{
		echo 'volatile int sink; int main(void) {'
		for i in $(seq 1000); do echo "sink = $i;"; done
		echo 'return 0; }'
	} >src/long.c
	gcc -g -O0 -o long "$tmp/src/long.c"
	touch -r long src/long.c
	address=$(objdump -dl --no-show-raw-insn long | awk '/long.c:500/ { getline; sub(":", "", $1); print $1; exit }')
	{ echo "object 10 $tmp/long"; slots 10 "$address:5:0"; } | profile l
	says 0 profil annotate main l
	[ "$(grep -c 'sink = ' out)" = 11 ]
	grep -E '…  493 lines without samples  \(--all\)$' out
	grep -E '^       5   100.0 %.* 500  sink = 499;' out
	says 0 profil annotate -i main l
	[ "$(wc -l <out)" -lt 30 ]
	says 0 profil annotate --all main l
	[ "$(grep -c 'sink = ' out)" -gt 990 ]
	none grep -F 'without samples' out
	says 0 profil annotate --tsv main l
	[ "$(grep -c '^line' out)" -gt 990 ]
}

json() {
	of_loop p
	says 0 profil annotate --json hot p
	jq -e '.function == "hot" and .samples == 74 and ([.lines[].samples] | add) == 74' out
	jq -e '.lines[] | select(.line == 6) | .kind == "line" and .inlined == "scale" and .samples == 63 and .system_ns == 12000000' out
	says 0 profil annotate -i --json hot p
	jq -e "[.lines[] | select(.address == $((0x$scale)))] | length == 1 and .[0].samples == 63" out
}

# On a terminal lines end where it ends.
width() {
	of_loop p
	script -qec 'stty cols 70; profil annotate hot p' /dev/null </dev/null >out
	grep -F … out
	[ "$(grep -v '^  ' out | tr -d '\r' | wc -L)" -le 70 ]
}

check 'annotate: lines of source' source_lines
check 'annotate: sums are those of report' adds_up
check 'annotate: instructions' instructions
check 'annotate: jumps' jumps
check 'annotate: more jumps than there is room for' many_jumps
check 'annotate: code of arm64' arm64
check 'annotate: overloaded functions' overloaded
check 'annotate: long functions' long
check 'annotate: JSON' json
check 'annotate: a narrow terminal' width
plan
