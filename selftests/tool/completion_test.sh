#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What bash offers when Tab is pressed after a part of a command line.
#
# shellcheck disable=SC2317 # the tests are called by their names
set -eu

# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$here/system_lib.sh"
# shellcheck source-path=SCRIPTDIR source=../../tools/completion.bash
. "$here/../../tools/completion.bash"

# offered WORD…: what the last of them may become
offered()
{
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	COMPREPLY=()
	_profil || :
	echo "offered: ${COMPREPLY[*]}"
}

# is OFFERED WORD…
is()
{
	[ "$(offered "${@:2}")" = "offered: $1" ] || { offered "${@:2}"; return 1; }
}

# All that main.c knows, and no more.
commands()
{
	is "$(sed -nE 's/^\t\{ "([a-z]+)", "profil .*/\1/p' "$here/../../tools/main.c" | paste -s -d ' ')" profil ''
	is report profil rep
	is report profil help rep
}

options()
{
	is '--per-process --pid=' profil run --p
	is '--to= --tsv' profil report --t
	is '--intervals= --interval=' profil top --i
	is --json profil check --j
	is '--share' profil diff a --s
	is '--unit= --usage' profil diff a --u
	is '' profil nothing --j
	is '--help --usage --version' profil -
	is --version profil --v
	is '--help --usage --version' profil help -
}

values()
{
	is 'process program' profil report --by = p
	is 'function object process unit container program line address time' profil report --by =
	is 'unit' profil top --by = u
	is 'unit' profil top --by u
	is '' profil top --by = ti
	offered profil run -p '' | grep -w $$
	is '' profil report --rows = ''
	is '' profil report --from = ''
	is '' profil top -s ''
	is '' profil report ''
	# as the command's help has them
	is "$(profil export --help | sed -nE 's/^  ([a-z]+) +\.[a-z.]+ .*/\1/p' | paste -s -d ' ')" profil export -f ''
	is 'callgrind' profil export --format = call
}

# Of the profile in the folder, and files behind one.
functions()
{
	cd "$tmp"
	whole profil.pb.gz
	is 'hot cold main' profil annotate ''
	is 'hot' profil annotate -i ho
	is '' profil annotate hot ''
	is 'hot' profil annotate --names / ho
	is 'hot' profil annotate --names = / --from 0 ho
	is --source profil annotate hot --s
	rm profil.pb.gz
	is '' profil annotate ''
}

# Of the profile in the folder, which is of the whole machine.
units()
{
	cd "$tmp"
	machine >"$PROFIL_FAKE"
	planted_groups profil run -q -a -- true
	is 'nginx.service docker-4d2fe8c1b0a7.scope cron.service' profil report --unit = ''
	is 'nginx.service' profil report --unit ngi
	is 'planted' profil report --program = pl
	is '4d2fe8c1b0a7' profil report --container ''
	rm profil.pb.gz
	is '' profil report --unit ''
}

# Options end where the program begins; there, those are its own.
program()
{
	offered profil run gzi | grep -w gzip
	offered profil run -o file --rows = 5 -u gzi | grep -w gzip
	offered profil run -r 5 --slice = 1 gzi | grep -w gzip
	offered profil run --rows 5 --slots 1024 gzi | grep -w gzip
	offered profil run -- gzi | grep -w gzip
	offered profil top -s 0.5 -F 99 gzi | grep -w gzip
	is '' profil run gzip --t
	is '' profil run -- gzip --t
	is '--to= --tsv' profil report file --t
	_command_offset() { COMPREPLY=("its own at $1"); }
	is 'its own at 2' profil run gzip --t
	is 'its own at 4' profil run -u -- gzip --t
}

check 'completion: commands' commands
check 'completion: options' options
check 'completion: values' values
check 'completion: functions' functions
check 'completion: units' units
check 'completion: a program' program
plan
