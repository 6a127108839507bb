#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What profil watch has written, by time: profil report --since and profil diff FROM..TO.
set -eu
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

cd "$tmp"
export TZ=UTC
mkdir -m 700 spool

# interval TIME HOT COLD: a profile of the minute that begins then, with so many samples
interval() {
	cat >"$tmp/table" <<-END
		object 10 $planted
		process 0 0 0 0 0 others
		process 4242 0 1 $(($2 + $3)) 0 planted
		slot 10 $(at "$planted" hot) 0 $2 0
		slot 10 $(at "$planted" cold) 0 $3 0
	END
	profil run -q --slice 0 -o new -- true
	mv new "spool/$(date -d "$1" +%Y%m%dT%H%M%S.000Z.pb.gz)"
	touch -d "$1 1 minute" "spool/$(date -d "$1" +%Y%m%dT%H%M%S.000Z.pb.gz)"
}

# Ten minutes before an upgrade at 02:00, ten after it: cold became twice as much.
for minute in $(seq 10 19); do
	interval "2026-11-28 01:$minute" $((1000 + RANDOM % 60)) $((500 + RANDOM % 40))
	interval "2026-11-28 02:$minute" $((1000 + RANDOM % 60)) $((1000 + RANDOM % 40))
done

# samples ARGUMENT...: of all that report finds
samples() {
	profil report --json "$@" | jq -r .counts.in_slots
}

since() {
	local all one
	all=$(samples spool/*.pb.gz)
	[ "$(samples spool)" = "$all" ]
	[ "$(samples --since '2026-11-28 01:00' --until '2026-11-28 03:00' spool)" = "$all" ]
	one=$(samples spool/20261128T011200.000Z.pb.gz)
	# what an interval has of the time, it gives whole
	[ "$(samples --since '2026-11-28 01:12:30' --until '2026-11-28 01:12:40' spool)" = "$one" ]
	[ "$(samples --since '2026-11-28 01:12' --until '2026-11-28 01:13' spool)" = "$one" ]
	[ $(($(samples --until '2026-11-28 02:00' spool) + $(samples spool --since '2026-11-28 02:00'))) = "$all" ]
}

messages() {
	says 1 profil report --since '2026-11-28 04:00' spool
	grep -F 'begins at 2026-11-28 01:10:00 and whose last one ends at 2026-11-28 02:20:00' err
	says 125 profil report --since soon spool
	grep -F 'was given soon' err
	says 1 profil report --since '2026-11-28 04:00' --until '2026-11-28 03:00' spool
	says 125 profil report --since today spool/20261128T011200.000Z.pb.gz
	mkdir empty
	says 1 profil report empty
	grep -F 'there is no profile in empty' err
	[ -e /var/lib/profil-watch ] || says 1 profil report --since today
}

# A file that is removed while it is read, and what is none of ours.
others() {
	cp -r spool other
	touch other/notes
	ln -s nofile other/20261128T011200.500Z.pb.gz
	[ "$(samples other)" = "$(samples spool)" ]
	cp spool/20261128T011200.000Z.pb.gz other/20261128T033300.000Z.pb.gz
	echo none >other/20261128T033300.000Z.pb.gz
	says 1 profil report other
	grep -F 'is no profile' err
}

changed() {
	says 1 profil diff --in spool '2026-11-28 01:00..2026-11-28 02:00' '2026-11-28 02:00..2026-11-28 03:00'
	grep -E 'cold' out
	profil diff --in spool --tsv '2026-11-28 01:00..2026-11-28 02:00' '2026-11-28 02:00..' >rows || :
	grep -P '^count\truns_a\t10$' rows
	grep -P '^count\truns_b\t10$' rows
	grep -P '^function\tchanged\t.*\tcold\t' rows
	grep -P '^function\tsame\t.*\thot\t' rows
	# within an hour, nothing has changed
	says 0 profil diff --in spool '2026-11-28 01:00..2026-11-28 01:15' '2026-11-28 01:15..2026-11-28 02:00'
	# a file and a span; several spans of a side
	profil diff --in spool spool/20261128T011200.000Z.pb.gz '2026-11-28 02:00..' || [ $? = 1 ]
	says 1 profil diff --in spool '..2026-11-28 01:15' '2026-11-28 01:15..2026-11-28 02:00' -- '2026-11-28 02:00..'
	says 2 profil diff --in spool soon..later '2026-11-28 02:00..'
	grep -F 'neither a file nor a span of time' err
	says 2 profil diff --in spool '..' '2026-11-28 02:00..'
	says 2 profil diff --in spool '2026-11-28 02:00..2026-11-28 01:00' '2026-11-28 02:00..'
}

check 'recall: report --since and --until' since
check 'recall: what there is nothing of' messages
check 'recall: files that are none' others
check 'recall: diff of two spans of time' changed
plan
