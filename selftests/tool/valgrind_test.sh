#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The command as users have it, under valgrind: no byte is read that nobody wrote, which ASan does not
# see, none beyond its end, and no memory is lost.
set -eu
. "$(dirname "$0")/lib.sh"

cd "$tmp"

# Who reads one file for the command, and ends, leaves its memory to the system.
cat >reader.supp <<-'END'
	{
		reader
		Memcheck:Leak
		...
		fun:read_apart
		...
	}
END

# sound ARG...: of the command; its status is $wanted, or 0.  9: valgrind has found something, which it
# tells in the file found.
sound() {
	local status=0
	valgrind -q --error-exitcode=9 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
		--suppressions=reader.supp --log-file=found "$O/plain/profil-fake" "$@" >out 2>err || status=$?
	cat err found
	[ $status = "${wanted:-0}" ] || { echo "status $status: profil $*"; return 1; }
	[ ! -s found ]
}

records() {
	table >"$PROFIL_FAKE"
	sound run -q -o profil.pb.gz -- true
	[ "$(profil report --tsv | awk -F '\t' '$1 == "function" { sum += $2 } END { print sum }')" = 197 ]
}

reads() {
	sound report
	grep -F ' hot ' out
	sound report --by line --tsv
	grep -P '\thot\t' out
}

exports() {
	local end
	for end in pb.gz callgrind folded prof gmon html json tsv; do
		sound export -o "x.$end"
		find . -name "x.$end*" -size +0 | grep .
	done
}

compares() {
	sound diff profil.pb.gz profil.pb.gz
	sed "s/^\(slot 10 $(at "$planted" hot) 0\) .*/\1 900 10/; s/^process 4242 .*/process 4242 0 1 910 14 planted/" \
		"$PROFIL_FAKE" >hotter
	PROFIL_FAKE=hotter profil run -q -o hotter.pb.gz -- true
	wanted=1 sound diff profil.pb.gz -- hotter.pb.gz
	grep -w hot out
}

shows() {
	sound annotate hot
	grep -F 'planted.c' out
	sound annotate --tsv -i hot
	grep -P '^(instruction|address)' out
}

# What it has nothing against, it does not look at.
looked_at() {
	gcc -g -o wrong -x c - <<-'END'
		#include <stdlib.h>
		int main(void)
		{
			char *bytes = malloc(1);

			return *bytes == 77;
		}
	END
	none valgrind -q --error-exitcode=9 ./wrong
}

check 'valgrind: a read of what nobody wrote is seen' looked_at
check 'valgrind: run' records
check 'valgrind: report' reads
check 'valgrind: export, each format' exports
check 'valgrind: diff' compares
check 'valgrind: annotate' shows
plan
