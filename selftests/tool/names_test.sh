#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Names: what symbols, unwind tables, debug files and maps of compilers say; and files that
# are made to crash who reads them.
set -eu
. "$(dirname "$0")/lib.sh"

cd "$tmp"

# of_object FILE ADDRESS...: a table with that file, 10 ticks at each address
of_object() {
	printf 'process 0 0 0 %d 0 others\nobject 10 %s\n' $((10 * ($# - 1))) "$1"
	printf 'slot 10 %s 0 10 0\n' "${@:2}"
}

# names FILE ADDRESS...: what each address is called, in the file out
names() {
	of_object "$@" >"$tmp/table"
	says 0 profil run -q -o names.pb.gz true
	says 0 profil report --by address --tsv names.pb.gz
	grep ^address out | sort -t "	" -k 10 | tee names
}

hot=$(at "$planted" hot)
turn=$(at "$planted" _ZN2ns3boxIiE4turnEi)
hidden=$(at "$planted" hidden)

symbols() {
	names "$planted" "$hot" "$(printf '%x' $((0x$hot + 3)))" "$turn" "$hidden"
	[ "$(cut -f 8 names | paste -sd ' ')" = 'hot hot ns::box<int>::turn hidden' ]
	# addresses are those of nm, and the build id is in the file
	grep -P "\t0x$hot$" names
	gzip -dc names.pb.gz | grep -aF "$(readelf -n "$planted" | awk '/Build ID/ { print $3 }')"
	# the name before it was demangled as well
	gzip -dc names.pb.gz | grep -aF _ZN2ns3boxIiE4turnEi
}

# Nothing in a stripped file is called by the name of a neighbour.
stripped() {
	strip -o stripped "$planted"
	names "$tmp/stripped" "$hot" "$(printf '%x' $((0x$hidden + 3)))"
	[ "$(cut -f 8 names | paste -sd ' ')" = "fn@$hot fn@$hidden" ]
	says 0 profil report names.pb.gz
	grep -F 'names    100 % of the samples have none: stripped is stripped' out
	grep -E 'DEBUGINFOD_URLS=https://[a-z.]+ profil run … gets them' out
	# an empty one is none
	DEBUGINFOD_URLS='' says 0 profil report names.pb.gz
	grep -E 'DEBUGINFOD_URLS=https://[a-z.]+ profil run … gets them' out
	# where nobody is to be asked, the library for that, and all that it needs, stays closed
	LD_DEBUG=files LD_DEBUG_OUTPUT=$tmp/libraries names "$tmp/stripped" "$hot"
	grep -qF libdw libraries.*
	none grep -F libdebuginfod libraries.*
	# no unwind table either: the object's name alone
	objcopy --remove-section .eh_frame_hdr --remove-section .eh_frame stripped bare
	names "$tmp/bare" "$hot"
	[ "$(cut -f 8 names)" = '[bare]' ]
}

# What is said of debuginfod is true: a profile that is only read has nobody asked.
advised() {
	local servers=http://127.0.0.1:9
	strip -o stripped "$planted"
	of_object "$tmp/stripped" "$hot" >"$tmp/table"
	DEBUGINFOD_URLS=$servers says 0 profil run -o names.pb.gz true
	grep -F 'debuginfod gave none: install the debug symbols' err
	DEBUGINFOD_URLS=$servers says 0 profil report names.pb.gz
	grep -F 'profil report --names=/ asks debuginfod for them' out
	none grep -F 'gave none' out
	DEBUGINFOD_URLS=$servers says 0 profil report --names=/ names.pb.gz
	grep -F 'debuginfod gave none: install the debug symbols' out
	DEBUGINFOD_URLS=$servers says 0 planted_system "$no_debuginfod" profil report --names=/ names.pb.gz
	grep -F 'sudo apt-get install libdebuginfod1; then profil report --names=/ asks it' out
	none grep -F 'gave none' out
}

# A library that exports some: neither they nor a label without a size reach into what
# follows them.
exported() {
	cat >exported.c <<-'END'
		int shown(int n) { return n + 1; }
		static int __attribute__((noinline)) behind(int n) { return n * 3; }
		__asm__(".globl label\nlabel:\n\t.zero 16\n");
		static int __attribute__((noinline)) last(int n) { return n * 5; }
		int (*others[])(int) = { behind, last };
	END
	gcc -O0 -shared -fPIC -fno-toplevel-reorder -o exported.so exported.c
	strip -o exported exported.so
	names "$tmp/exported" "$(at exported.so shown)" "$(at exported.so behind)" "$(at exported.so label)" \
		"$(at exported.so last)"
	[ "$(cut -f 8 names | sort | paste -sd ' ')" = \
		"$(printf '%s\n' shown "fn@$(at exported.so behind)" label "fn@$(at exported.so last)" | sort | paste -sd ' ')" ]
}

# A separate debug file, found by its name, and symbols packed in .gnu_debugdata.
separate() {
	mkdir -p apart/.debug
	objcopy --only-keep-debug "$planted" apart/.debug/apart.debug
	strip -o apart/apart "$planted"
	objcopy --remove-section .note.gnu.build-id --add-gnu-debuglink apart/.debug/apart.debug apart/apart
	names "$tmp/apart/apart" "$hidden"
	[ "$(cut -f 8 names)" = hidden ]
	says 0 profil report --by line names.pb.gz
	grep -F '/src/planted.c:23 ' out
	# all of what is compressed is read for one line, which few samples are not worth
	objcopy --compress-debug-sections apart/.debug/apart.debug compressed
	mv compressed apart/.debug/apart.debug
	objcopy --remove-section .gnu_debuglink apart/apart
	objcopy --add-gnu-debuglink apart/.debug/apart.debug apart/apart
	names "$tmp/apart/apart" "$hidden"
	says 0 profil report --by line names.pb.gz
	grep -F '/src/planted.c:23 ' out
	of_object "$tmp/apart/apart" "$hidden" | sed 's/ 10 0$/ 9 0/' >table
	says 0 profil run -q -o names.pb.gz true
	says 0 profil report --by line names.pb.gz
	none grep -F planted.c out
	grep -E ' hidden +apart' out
	objcopy -S --remove-section .gdb_index --keep-symbol=hidden --keep-symbol=hot "$planted" mini
	xz -f mini
	strip -o packed "$planted"
	objcopy --add-section .gnu_debugdata=mini.xz packed
	names "$tmp/packed" "$hidden"
	[ "$(cut -f 8 names)" = hidden ]
}

# All functions of a large library, as binutils writes them.
demangled() {
	local library
	library=$(g++ -print-file-name=libstdc++.so.6)
	nm -D --defined-only --without-symbol-versions "$library" |
		awk '$2 ~ /[TW]/ { sub(/^0+/, "", $1); print $1, $3 }' |
		sort | awk '{ n[$1]++; name[$1] = $2 } END { for (a in n) if (n[a] == 1) print a, name[a] }' |
		sort | head -3000 >functions
	[ "$(wc -l <functions)" = 3000 ]
	# shellcheck disable=SC2046 # addresses
	names "$library" $(cut -d ' ' -f 1 functions) >/dev/null
	sed -E 's/^[^ ]+ //' functions | c++filt -p -i | sort >wanted
	cut -f 8 names | sort | diff wanted - | head
	cut -f 8 names | sort | cmp wanted -
}

rust() {
	objcopy --redefine-sym hot=_RNvCskwGfYPst2Cb_3foo16example_function \
		--redefine-sym cold=_ZN4core3fmt5write17h0123456789abcdefE "$planted" rusty
	names "$tmp/rusty" "$hot" "$(at "$planted" cold)"
	[ "$(cut -f 8 names | paste -sd ' ')" = 'foo::example_function core::fmt::write' ]
}

# Two names at one address: the global one, and of these the shorter.
aliases() {
	objcopy --add-symbol a_local=.text:0,function,local --add-symbol longer_name=.text:0,function,global \
		--add-symbol short=.text:0,function,global "$planted" aliased
	names "$tmp/aliased" "$(readelf -SW aliased | awk '$2 == ".text" { print $4 } $3 == ".text" { print $5 }' | sed 's/^0*//')"
	[ "$(cut -f 8 names)" = short ]
}

# The map is the owner's or root's, and no link; the last line of an address counts.
jit() {
	local map=/tmp/perf-99999999.map
	rm -f $map
	printf 'process 0 0 0 0 0 others\nprocess 99999999 0 1 30 0 node\n' >"$tmp/table"
	printf 'slot 2 %s 1 10 0\n' 5000 5010 6000 >>"$tmp/table"
	printf '%s\n' '5000 8 early' 'broken' '5000 10 *~fib a.js:1' '0x5010 10 second' >$map
	says 0 profil run -q -o jit.pb.gz true
	says 0 profil report --by address --tsv jit.pb.gz
	grep -P '\t\*~fib a.js:1\t\[anonymous\]\t0x5000$' out
	grep -P '\tsecond\t\[anonymous\]\t0x5010$' out
	grep -P '\t\[anonymous\]\t\[anonymous\]\t0x6000$' out
	says 0 profil report jit.pb.gz
	grep -F 'names    33 % of the samples have none: code made at run time' out
	# nobody else's
	if [ "$(id -u)" = 0 ]; then
		chown 12345 $map
		says 0 profil run -q -o jit.pb.gz true
		says 0 profil report jit.pb.gz
		none grep -F fib out
		chown 0 $map
	fi
	mv $map real
	ln -s "$PWD/real" $map
	says 0 profil run -q -o jit.pb.gz true
	rm $map
	says 0 profil report jit.pb.gz
	none grep -F fib out
	mkfifo $map
	says 0 profil run -q -o jit.pb.gz true
	rm $map
}

vdso() {
	printf 'process 0 0 0 0 0 others\nprocess 7 0 1 10 0 a\n' >"$tmp/table"
	perl -e 'open F, "<", "/proc/self/maps"; while (<F>) { next unless /^(\w+)-(\w+).*\[vdso\]/; open M, "<", "/proc/self/mem"; seek M, hex $1, 0; read M, $b, hex($2) - hex $1; print $b }' >image
	printf 'slot 4 %s 1 10 0\n' "$(readelf --dyn-syms -W image | awk '$8 ~ /^__(vdso|kernel)_clock_gettime/ { print $2; exit }' | sed 's/^0*//')" >>"$tmp/table"
	says 0 profil run -q -o vdso.pb.gz true
	says 0 profil report vdso.pb.gz
	grep -E '(__vdso_|__kernel_)?clock_gettime +\[vdso\]' out
}

# Who may not read it, and what is no file any more.
unreadable() {
	names "$tmp/nofile" 1000
	[ "$(cut -f 8-10 names)" = "[nofile]	$tmp/nofile	0x1000" ]
	echo text >text
	names "$tmp/text" 2
	[ "$(cut -f 8 names)" = '[text]' ]
	# one that has no name
	printf 'process 0 0 0 0 0 others\nslot 200 1000 0 10 0\n' >"$tmp/table"
	says 0 profil run -q -o none.pb.gz true
	says 0 profil report none.pb.gz
	grep -F '[file 200]' out
}

# Names that would clear the screen, or fill it.
hostile_names() {
	local long
	long=$(printf 'l%.0s' $(seq 9000))
	objcopy --redefine-sym "hot=$(printf 'evil\033[2J\007\n\302\233m\342\200\256gnp')" --redefine-sym "cold=$long" "$planted" evil
	mkdir -p "$(printf 'fold\033[31m\ner')"
	mv evil "$(printf 'fold\033[31m\ner')/$(printf 'na\tme')"
	names "$(printf '%s/fold\033[31m' "$tmp")" "$hot" || :
	# a name with a line feed cannot be in the table: a link to it can
	ln -s "$(printf 'fold\033[31m\ner')/$(printf 'na\tme')" "$(printf 'li\033[2Jnk')"
	names "$tmp/$(printf 'li\033[2Jnk')" "$hot" "$(at "$planted" cold)"
	for kind in function line object process address; do
		says 0 profil report --by $kind names.pb.gz
		LC_ALL=C none grep -aP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae]' out
		says 0 profil report --by $kind --tsv names.pb.gz
		LC_ALL=C none grep -aP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' out
		says 0 profil report --by $kind --json names.pb.gz
		python3 -m json.tool <out >json
	done
	says 0 profil report names.pb.gz
	grep -F 'evil\x1b[2J\x07\x0a\xc2\x9bm\xe2\x80\xaegnp' out
	grep -F 'li\x1b[2Jnk' out
	[ "$(wc -L <out)" -lt 4300 ]
	gzip -dc names.pb.gz >plain
	# (a number may have that byte)
	none grep -aE "(evil|li|fold)$esc" plain
}

# Bytes of the file are others: some names may be, the command is not.
corrupt_files() {
	local i
	of_object "$tmp/broken" "$hot" "$turn" "$hidden" 10 ffffff >"$tmp/table"
	for i in $(seq 60); do
		# headers, tables of sections and segments, symbols, debug information
		perl -e 'my ($file, $i) = @ARGV; local $/; open F, "<", $file; my $all = <F>; srand $i;
			my @where = ([0, 64], [64, 800], [-2000, 2000], [0, length $all]);
			my ($from, $room) = @{$where[$i % 4]}; $from += length $all if $from < 0;
			substr($all, $from + rand $room, 1) = chr(rand 256) for 0 .. 2 + $i % 20;
			print $i % 7 ? $all : substr($all, 0, rand length $all)' "$planted" "$i" >broken
		timeout 100 profil run -q -o broken.pb.gz true 2>err || { echo "input $i: status $?"; cat err; return 1; }
		# it may say that there are no names, in one line
		[ "$(grep -c '^profil: ' err)" -le 1 ]
		says 0 profil report --tsv broken.pb.gz
		[ "$(awk '$1 == "function" { sum += $2 } END { print sum }' out)" = 50 ]
	done
}

check 'names: symbols' symbols
check 'names: stripped files' stripped
check 'names: what is said where there are none' advised
check 'names: what a library exports' exported
check 'names: debug files and packed symbols' separate
check 'names: of C++, as c++filt' demangled
check 'names: of Rust' rust
check 'names: several at one address' aliases
check 'names: of code made at run time' jit
check 'names: of the vdso' vdso
check 'names: what cannot be read' unreadable
check 'names: hostile ones' hostile_names
check 'names: corrupt files' corrupt_files
plan
