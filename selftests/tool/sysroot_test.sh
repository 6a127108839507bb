#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# --names: a profile of a stripped program that is not here is read with a folder that has
# its debug symbols, or the file itself, and with no other file.
set -eu
. "$(dirname "$0")/lib.sh"

cd "$tmp"
app=$tmp/production/app
hot=$(at "$planted" hot)
hidden=$(at "$planted" hidden)
id=$(readelf -n "$planted" | awk '/Build ID/ { print $3 }')
debug=.build-id/${id:0:2}/${id:2}.debug

# profiled FILE [ADDRESS...]: a profile of the stripped program
profiled() {
	local file=$1
	shift
	[ $# -gt 0 ] || set -- "$hot" "$hidden"
	{
		printf 'process 0 0 0 %d 0 others\nobject 10 %s\n' $((10 * $#)) "$app"
		printf 'slot 10 %s 0 10 0\n' "$@"
	} >"$tmp/table"
	says 0 profil run -q -o "$file" true
}

mkdir production
strip -o "$app" "$planted"
cp "$app" stripped
objcopy --only-keep-debug "$planted" planted.debug
profiled names.pb.gz
rm "$app"
gcc -g -O0 -x c -o other - <<<'int main(void) { return 42; }'

# found FOLDER: both functions have their names, and lines
found() {
	says 0 profil report --names "$1" --tsv names.pb.gz
	[ ! -s err ]
	[ "$(awk -F '\t' '$1 == "function" { print $8 }' out | paste -sd ' ')" = 'hidden hot' ]
	says 0 profil report --names "$1" --by line --tsv names.pb.gz
	grep -P '\thidden\t.*/app\t/src/planted.c:23$' out
	rm -rf "$1"
}

# put FILE AS: in a new folder
put() {
	mkdir -p "$(dirname "folder/$2")"
	cp "$1" "folder/$2"
}

in_folders() {
	says 0 profil report --tsv names.pb.gz
	[ "$(awk -F '\t' '$1 == "function" { print $8 }' out | paste -sd ' ')" = "fn@$hot fn@$hidden" ]
	put planted.debug "$debug"
	found folder
	put planted.debug "usr/lib/debug/$debug"
	found folder
	put planted.debug "$id/debuginfo"
	found folder
	put planted.debug "$app.debug"
	found folder
	put planted.debug "usr/lib/debug$app.debug"
	found folder
	put planted.debug app.debug
	found folder
	put "$planted" "$app"
	found folder
	put "$planted" "${debug%.debug}"
	found folder
	put "$planted" "$id/executable"
	found folder
	put "$planted" app
	found folder
	# what is nearer is no better if it is stripped
	put stripped "$app"
	put planted.debug "usr/lib/debug/$debug"
	found folder/
}

# A debug file that only the program's own link names.
linked() {
	objcopy --remove-section .note.gnu.build-id --add-gnu-debuglink planted.debug stripped "$app"
	profiled linked.pb.gz
	mkdir -p "folder$(dirname "$app")/.debug"
	mv "$app" "folder$app"
	cp planted.debug "folder$(dirname "$app")/.debug"
	says 0 profil report --names folder --by line --tsv linked.pb.gz
	grep -P '\thidden\t.*/app\t/src/planted.c:23$' out
	rm -r folder
}

wrong_files() {
	put other "$app"
	put other "$debug"
	says 0 profil report --names folder --tsv names.pb.gz
	[ "$(awk -F '\t' '$1 == "function" { print $8 }' out | paste -sd ' ')" = "fn@$hot fn@$hidden" ]
	grep -F "profil: $PWD/folder$app is not the file that was profiled: its build id is " err
	grep -F "profil: $PWD/folder has nothing of app: put its debug symbols there as $PWD/folder/$debug, or the file itself as $PWD/folder$app" err
	[ "$(grep -c '' err)" = 2 ]
	# of the system itself, where its packages have them
	says 0 profil report --names / --tsv names.pb.gz
	grep -Fx "profil: / has nothing of app: put its debug symbols there as /usr/lib/debug/$debug, or the file itself as $app" err
	echo text >"folder$app"
	rm "folder/$debug"
	mkfifo "folder/app"
	says 0 profil report --names folder --tsv names.pb.gz
	[ "$(grep -c '' err)" = 1 ]
	rm -r folder
	says 125 profil report --names folder names.pb.gz
	grep -F 'profil report: --names folder cannot be read: No such file or directory' err
	says 125 profil report --names other names.pb.gz
	grep -F 'profil report: --names takes a folder, and other is none' err
}

# Names that are there stay, and those that are found are in what is written.
exported() {
	put planted.debug "$debug"
	says 0 profil export --names folder -o full.pb.gz names.pb.gz
	rm -r folder
	says 0 profil report --by line --tsv full.pb.gz
	grep -P '\thidden\t.*/app\t/src/planted.c:23$' out
	objcopy --redefine-sym hot=renamed "$planted" renamed
	put renamed "$app"
	says 0 profil report --names folder --tsv full.pb.gz
	grep -P '\thot\t' out
	says 0 profil report --names folder --tsv names.pb.gz
	grep -P '\trenamed\t' out
	rm -r folder
}

annotated() {
	says 1 profil annotate "fn@$hidden" names.pb.gz
	grep -F "$app cannot be read for the code of fn@$hidden: No such file or directory; profile it again if it is gone, or give its folder with --names" err
	put stripped "$app"
	put planted.debug "$debug"
	says 0 profil annotate -i --names folder hidden names.pb.gz
	grep -F "  object   $PWD/folder$app, with the build id of the profile" out
	grep -E " 100(\.0)? %.* $hidden +push" out
	says 0 profil annotate --names folder --tsv hidden names.pb.gz
	grep -P '\t/src/planted.c\t23\t' out
	# debug symbols have no code
	rm "folder$app"
	says 1 profil annotate --names folder hidden names.pb.gz
	put other "$app"
	says 1 profil annotate --names folder hidden names.pb.gz
	grep -F 'is not the file that was profiled' err
	rm -r folder
}

compared() {
	says 0 profil diff --all names.pb.gz names.pb.gz
	none grep -w hidden out
	put planted.debug "$debug"
	says 0 profil diff --all --names folder names.pb.gz names.pb.gz
	grep -w hidden out
	rm -r folder
}

# Where addresses in the file are others than offsets, as in a program that is not relocated.
fixed() {
	# its addresses are offsets of something else
	gcc -g -O0 -no-pie -Wl,-Ttext-segment=0x1000 -o whole "$here/planted.c"
	strip -o "$app" whole
	profiled fixed.pb.gz "$(printf '%x' $((0x$(at whole hidden) - 0x1000)))"
	rm "$app"
	put whole "$app"
	says 0 profil report --names folder --by address --tsv fixed.pb.gz
	grep -P "\thidden\t$app\t0x$(at whole hidden)\$" out
	rm -r folder
}

# What could not be read when it was counted has offsets: they become addresses.
unread() {
	profiled offsets.pb.gz
	says 0 profil report --by address --tsv offsets.pb.gz
	grep -P '\t\[app\]\t' out
	put "$planted" "$app"
	says 0 profil report --names folder --by address --tsv offsets.pb.gz
	grep -P "\thot\t$app\t0x$hot\$" out
	rm -r folder
}

# The file is here, and so are its symbols now.
this_machine() {
	cp stripped "$app"
	cp planted.debug production/app.debug
	says 0 profil report --names / --tsv names.pb.gz
	grep -P '\thidden\t' out
	rm "$app" production/app.debug
}

check 'names: in a folder, by build id, path and name' in_folders
check 'names: in a folder, by the link of a file' linked
check 'names: wrong files have none' wrong_files
check 'names: are written, and stay' exported
check 'names: annotate with a folder' annotated
check 'names: diff with a folder' compared
check 'names: of a program that is not relocated' fixed
check 'names: a file that could not be read' unread
check 'names: of this machine' this_machine
plan
