#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# profil help, and how the command and its commands are asked for it.
set -eu
. "$(dirname "$0")/lib.sh"

cd "$tmp"

# The same text, whichever way it is asked for, of each command there is.
each() {
	local command num=0
	for command in $(profil --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
		says 0 profil "$command" --help
		mv out wanted
		says 0 profil help "$command"
		cmp wanted out
		grep -q "^Usage: profil $command " out
		num=$((num + 1))
	done
	[ $num -ge 6 ]
	says 0 profil --help
	mv out wanted
	says 0 profil help
	cmp wanted out
}

unknown() {
	says 125 profil help nothing
	grep -F 'there is no command nothing; they are run, ' err
	[ ! -s out ]
	says 125 profil nothing
	grep -F 'profil: there is no command nothing; they are run, ' err
	says 125 profil help run report
	grep -F 'it takes one command; they are run, ' err
}

check 'help: of each command' each
check 'help: of what is none' unknown
plan
