#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# profil annotate: of which function the lines are, of which object, and of which source.
set -eu
. "$(dirname "$0")/annotate_lib.sh"

stripped() {
	strip -o bare loop
	{ echo "object 10 $tmp/bare"; slots 10 "$(at loop main):6:0"; } | profile s
	says 0 profil report --tsv s
	name=$(awk -F '\t' '$1 == "function" { print $8 }' out)
	says 0 profil annotate "$name" s
	grep -Fx '  source   none is known: compile it with -g, or install its debug symbols' out
	grep -E '^       6   100\.0 %' out
	says 1 profil annotate -s "$name" s
	grep -E "^profil: $tmp/bare says no line of source of .*; compile it with -g, or use profil annotate -i\$" err
	# one whose beginning the unwind table has
	gcc -O1 -o framed src/loop.c
	strip framed -o bare
	{ echo "object 10 $tmp/bare"; slots 10 "$(places framed hot | sed -n 3p):6:0"; } | profile s
	says 0 profil annotate -i --tsv "fn@$(at framed hot)" s
	awk -F '\t' '$1 == "instruction" { print substr($11, 3) }' out | head -n "$(places framed hot | wc -l)" >have
	places framed hot | diff - have
	says 0 profil annotate -i "fn@$(at framed hot)@bare" s
	says 1 profil annotate -i "fn@$(at framed hot)@other" s
}

# A debug file beside the stripped one, as packages have it.
separate() {
	mkdir -p apart/.debug
	objcopy --only-keep-debug loop apart/.debug/loop.debug
	strip -o apart/loop loop
	(cd apart && objcopy --add-gnu-debuglink .debug/loop.debug loop)
	of_loop p "$tmp/apart/loop"
	says 0 profil annotate --tsv hot p
	[ "$(awk -F '\t' '$10 == 6 { print $1, $2, $8 }' out)" = 'line 63 scale' ]
}

# Of several of that name the one with the most samples, and how the others are named.
several() {
	cp loop other
	mkdir -p sub
	cp loop sub/loop
	{
		printf 'object %d %s\n' 10 "$tmp/loop" 11 "$tmp/other" 12 "$tmp/sub/loop"
		slots 10 "$scale:3:0" "$(at loop main):1:0"
		slots 11 "$scale:30:0" "$less:1:0"
		slots 12 "$less:20:0"
	} | profile v
	says 0 profil annotate hot v
	grep -Fx 'hot in other: 31 of 55 samples, 56.4 %, 0.12 s of CPU' out
	grep -Fx "  also     hot in $tmp/sub/loop, 20 samples: profil annotate hot@loop" out
	says 0 profil annotate hot@loop v
	grep -F 'hot in loop: 20 of' out
	grep -Fx "  also     hot in $tmp/loop, 3 samples: profil annotate hot@$tmp/loop" out
	says 0 profil annotate "hot@$tmp/loop" v
	grep -F 'hot in loop: 3 of' out
	none grep '^  also' out
	says 0 profil annotate "hot@$(readelf -n loop | awk '/Build ID/ { print substr($3, 1, 8) }')" v
	grep -F 'hot in other: 31 of' out
	# addresses, with a sample and without
	says 0 profil annotate "0x$scale" v
	grep -F 'hot in other: 31 of' out
	says 0 profil annotate "0x$less@$tmp/sub/loop" v
	grep -F 'hot in loop: 20 of' out
	says 0 profil annotate "0x$hot@$tmp/loop" v
	grep -F 'hot in loop: 3 of' out
	says 0 profil annotate "0x$(places loop main | tail -n 1)@loop" v
	grep -F 'main in loop: 1 of' out
	# the name that its symbol has; two functions of one name
	{ echo "object 10 $planted"; slots 10 "$(at "$planted" _ZN2ns3boxIiE4turnEi):5:0"; } | profile v
	says 0 profil annotate _ZN2ns3boxIiE4turnEi v
	grep -F 'ns::box<int>::turn in planted: 5 of 5' out
	says 0 profil annotate 'ns::box<int>::turn@planted' v
}

none_such() {
	of_loop p
	says 1 profil annotate ho p
	[ ! -s out ]
	grep -Fx 'profil: no sample is in ho, but there are some in hot; profil report shows all functions that have any' err
	says 1 profil annotate zzz p
	grep -Fx 'profil: no sample is in zzz; profil report shows the functions that have any' err
	says 1 profil annotate hot@nothing p
	says 1 profil annotate 0x1 p
	grep -F 'profil: no sample is in 0x1; ' err
	says 1 profil annotate hot nofile
	grep -F 'nofile cannot be read' err
	says 125 profil annotate
	grep -F 'a function has to be named, as profil report shows it' err
	says 125 profil annotate --tsv --json hot p
	none profil annotate hot p >/dev/full 2>err
	grep -F 'profil: the lines could not be written to standard output: ' err
	# what is no file
	slots 2 7000:5:0 | profile n
	says 1 profil annotate '[anonymous]' n
	grep -F 'profil: the code of [anonymous] is in [anonymous], which is no file, so it cannot be shown' err
}

# The source is another one than when the object was made.
newer() {
	local status=0
	of_loop p
	touch -d '+1 hour' src/loop.c
	says 0 profil annotate hot p
	grep -Fx "  source   $tmp/src/loop.c, which is newer than the object: its lines may have moved" out
	touch -r loop src/loop.c
	# it is shorter, and lines that it does not have keep their samples
	cp -p src/loop.c whole.c
	head -n 8 whole.c >src/loop.c
	touch -r loop src/loop.c
	says 0 profil annotate -s --tsv hot p
	[ "$(sum out)" = 74 ]
	mv src/loop.c src/gone.c
	says 0 profil annotate hot p
	grep -Fx "  source   $tmp/src/loop.c cannot be read: No such file or directory" out
	grep -E " $scale  scale +mov" out
	says 0 profil annotate -s hot p
	grep -E '^      10    13\.5 %  █▋ +17  *$' out
	# no file, but something that has no end
	mkfifo src/loop.c
	profil annotate hot p >out 2>err || status=$?
	# the next test would wait for it
	rm src/loop.c
	cp -p whole.c src/loop.c
	[ $status = 0 ]
	grep -F "$tmp/src/loop.c cannot be read: Invalid argument" out
}

# An object that was built again: its lines are those of another program.
rebuilt() {
	of_loop p
	cp -p loop kept
	gcc -g -O2 -o loop src/loop.c
	says 1 profil annotate hot p
	[ ! -s out ]
	[ "$(wc -l <err)" = 1 ]
	grep -Ex "profil: $tmp/loop is not the file that was profiled: its build id is [0-9a-f]{40}, and was [0-9a-f]{40}; profile it again" err
	echo text >loop
	says 1 profil annotate hot p
	grep -F 'its build id is missing, and was ' err
	rm loop
	says 1 profil annotate hot p
	grep -F "profil: $tmp/loop cannot be read for the code of hot: No such file or directory; profile it again if it is gone" err
	# without a build id it can only be said that it was changed
	objcopy --remove-section .note.gnu.build-id kept loop
	of_loop p
	says 0 profil annotate hot p
	grep -Fx "  object   $tmp/loop, of which the profile has no build id to compare" out
	touch -d '+1 hour' loop
	says 0 profil annotate hot p
	grep -Fx "  object   $tmp/loop, which was changed after the profile was made: this may be other code" out
	cp -p kept loop
}

# Without the library there is the source, and else a sentence.
no_capstone() {
	mkdir -p without
	for i in 3 4 5 6 7; do echo text >without/libcapstone.so.$i; done
	of_loop p
	LD_LIBRARY_PATH=$tmp/without says 0 profil annotate --tsv hot p
	[ "$(sum out)" = 74 ]
	[ "$(awk -F '\t' '$10 == 6 { print $1, $2, $8 }' out)" = 'line 63 scale' ]
	LD_LIBRARY_PATH=$tmp/without says 1 profil annotate -i hot p
	grep -Ex 'profil: the instructions of hot cannot be shown: libcapstone\.so\.[0-9] is not installed; it is in a package like libcapstone[0-9] or capstone' err
}

# Names and source that would clear the screen; a source that is none.
hostile() {
	printf 'int hot(int n)\n{\n\treturn n + 1; // \033[2J\007\302\233m\342\200\256gnp\r\n}\r\n' >src/evil.c
	printf 'int main(int n, char **v)\n{\n\t(void)v;\n\treturn hot(n);\n}\n' >>src/evil.c
	gcc -w -g -O0 -o evil "$tmp/src/evil.c"
	objcopy --redefine-sym "hot=$(printf 'ev\033[2Jil')" evil
	touch -r evil src/evil.c
	address=$(nm evil | awk '/ev.*il$/ { sub(/^0+/, "", $1); print $1 }')
	{ echo "object 10 $tmp/evil"; slots 10 "$address:5:0"; } | profile h
	for way in -s -i -si --tsv --json; do
		says 0 profil annotate $way "0x$address" h
		LC_ALL=C none grep -aP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae]' out
	done
	says 0 profil annotate 'ev\x1b[2Jil' h
	grep -F 'return n + 1; // \x1b[2J\x07\xc2\x9bm\xe2\x80\xaegnp' out
	# a line of a megabyte, and one of NUL bytes
	{ head -c 1000000 /dev/zero | tr '\0' x; echo; head -c 1000 /dev/zero; } >src/evil.c
	touch -r evil src/evil.c
	says 0 profil annotate --all 'ev\x1b[2Jil' h
	LC_ALL=C none grep -aP '\x00' out
	[ "$(wc -L <out)" -lt 4300 ]
	# a folder whose name cannot be printed: its file is not found, and it is shown
	mkdir -p "$(printf 'fold\033[31mer')"
	mv src/evil.c "$(printf 'fold\033[31mer')"
	(cd fold*er && printf 'int main(void)\n{\n}\n' >evil.c && gcc -g -o evil "$PWD/evil.c" && mv evil ..)
	{ echo "object 10 $tmp/evil"; slots 10 "$(at evil main):5:0"; } | profile h
	says 0 profil annotate main h
	grep -F 'fold\x1b[31mer/evil.c cannot be read: ' out
	none grep -F "$esc" out
}

check 'annotate: files without symbols' stripped
check 'annotate: a separate debug file' separate
check 'annotate: several functions of a name' several
check 'annotate: what is none' none_such
check 'annotate: source that changed' newer
check 'annotate: an object that changed' rebuilt
check 'annotate: without libcapstone' no_capstone
check 'annotate: hostile names and source' hostile
plan
