#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# In the booted system, as an ordinary user: what the packages promise one.
#
# shellcheck disable=SC2317 # the tests are called by their names
set -eu
# shellcheck source-path=SCRIPTDIR source=lib.sh
. /srv/test/lib.sh
cd "$tmp"
name=$(uname -r):

no_complaint()
{
	profil check
	profil check | grep -E '^test .* ok$'
}

# count KEY
count()
{
	awk -F '\t' -v key="$1" '$1 == "count" && $2 == key { print $3 }' tsv
}

# The profile stays, for a reader on the machine that runs the tests.  Python has
# been started before: to find its files for the first time can take longer than the script.
script()
{
	python3 -c 'import zlib'
	profil run -o "$HOME/profile.pb.gz" -- python3 /srv/test/script.py 2>table
	cat table
	profil report --tsv "$HOME/profile.pb.gz" >tsv
	awk -F '\t' '$1 == "function" { print $8; exit }' tsv | grep -Fx adler32_z
	[ "$(count in_slots)" -gt 50 ]
}

sums()
{
	local kind

	cat tsv
	[ "$(count ticks)" = $(($(count in_slots) + $(count exec) + $(count full) + $(count not_due))) ]
	for kind in function object address process; do
		profil report --by $kind --tsv "$HOME/profile.pb.gz" |
			awk -F '\t' -v kind=$kind '$1 == kind { sum += $2 } END { print sum }' | tee sum
		# of processes, the ticks that no code could be found for are, too
		case $kind:$(cat sum) in
		*:"$(count in_slots)" | process:"$(count ticks)") ;;
		*) return 1 ;;
		esac
	done
}

status()
{
	local status=0

	profil run -q -o other -- sh -c 'exit 42' || status=$?
	[ $status = 42 ]
}

json()
{
	profil report --json "$HOME/profile.pb.gz" >json
	python3 - <<-'END'
		import json
		profile = json.load(open("json"))
		print(profile["rows"][0])
		assert profile["rows"][0]["name"] == "adler32_z"
	END
}

gcc_pg()
{
	gcc -O1 -pg -o work /srv/test/work.c -lprofil
	./work
	gprof -b -p work gmon.out | tee flat
	awk '/^ *[0-9]/ { print $NF; exit }' flat | grep -Fx hot
}

examples()
{
	local source

	for source in /usr/share/doc/libprofil-dev/examples/*.c; do
		gcc -o example "$source" -lprofil
	done
	gcc -o ex /usr/share/doc/libprofil-dev/examples/ex.c -lprofil
	./ex
	./ex | grep -E '^ *[1-9][0-9]* samples in work$'
}

manual()
{
	local page

	man 1 profil >page
	grep -F 'profil run' page
	for page in '3profil profil' '3 sprofil' '4 profil' '5 gmon.out' '7 libprofil' '7 libprofil_bb'; do
		# shellcheck disable=SC2086 # section and name
		man -w $page
	done
}

completion()
{
	# shellcheck disable=SC2016 # expanded there
	bash -c '. /usr/share/bash-completion/completions/profil
		COMP_WORDS=(profil re) COMP_CWORD=1
		_profil profil re profil
		echo "${COMPREPLY[@]}"' | grep -Fx report
}

check "$name nothing is missing" no_complaint
check "$name the hottest function of a script" script
check "$name sums are equal" sums
check "$name the program's status" status
check "$name JSON" json
check "$name gcc -pg" gcc_pg
check "$name the examples" examples
check "$name the manual" manual
check "$name completion" completion
plan
