#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What profil watch has written, by time: profil report --since and profil diff FROM..TO.
set -eu
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=system_lib.sh
. "$here/system_lib.sh"

cd "$tmp"
export TZ=UTC
mkdir -m 700 spool
# the same numbers in each run
RANDOM=1

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

# of_utc ZONE: of a minute before midnight and one after it, in UTC, one each
of_utc() {
	local first last when
	first=$(samples spool/*T235000.000Z.pb.gz)
	last=$(samples spool/*T000000.000Z.pb.gz)
	for when in 00:00Z 'today UTC' 'today 00:00 Z' "$(date +%F)T00:00Z"; do
		[ "$(TZ=$1 samples --until "$when" spool)" = "$first" ]
		[ "$(TZ=$1 samples --since "$when" spool)" = "$last" ]
	done
	[ "$(TZ=$1 samples --since 'yesterday 23:55Z' spool)" = "$last" ]
}

# It is another day in one of these zones at any time.
days_of_utc() {
	mkdir days
	cd days
	mkdir -m 700 spool
	interval 'yesterday 23:50' 100 200
	interval 'today 00:00' 10 20
	of_utc UTC
	of_utc east-14
	of_utc west+12
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

# recent FILE TIME: a copy, as if it had been written then
recent() {
	local name
	name=$(date -u -d "$2" +%Y%m%dT%H%M%S.000Z.pb.gz)
	cp "$1" "recent/$name"
	touch -d "$2 1 minute" "recent/$name"
}

# What begins with a - is no option after --.
relative() {
	mkdir recent
	recent spool/20261128T011200.000Z.pb.gz "$(date -d '90 minutes ago')"
	recent spool/20261128T021200.000Z.pb.gz "$(date -d '30 minutes ago')"
	profil diff --in recent --tsv -- -2h..-1h -1h.. >out || [ $? = 1 ]
	grep -P '^count\truns_a\t1$' out
	grep -P '^count\truns_b\t1$' out
	grep -P '^function\t.*\tcold\t' out
	says 2 profil diff --in recent -2h..-1h -1h..
	profil diff --help | tr -s ' \n' ' ' | grep -F 'profil diff -- -2h..-1h -1h.. '
}

# Two days of minutes, which take the memory of one profile, and not of all; and more than there may be.
whole_days() {
	mkdir -m 700 minutes
	# shellcheck disable=SC2016 # for perl
	perl -MPOSIX=strftime -0777 -ne 'for my $i (0 .. 4499) {
			my $at = 1795737600 + 60 * $i;
			my $name = strftime("minutes/%Y%m%dT%H%M%S.000Z.pb.gz", gmtime $at);
			open my $out, ">", $name or die "$name: $!";
			print $out $_;
			close $out;
			utime $at + 60, $at + 60, $name;
		}' spool/*T011200.000Z.pb.gz
	(
		ulimit -v 60000
		"$O/plain/profil-fake" diff --in minutes --tsv '2026-11-27..2026-11-28' '2026-11-28..2026-11-29' >rows || [ $? = 1 ]
	)
	grep -P '^count\truns_a\t1440$' rows
	grep -P '^count\truns_b\t1440$' rows
	grep -P '^function\tsame\t.*\thot\t' rows
	says 2 profil diff --in minutes '2026-11-27..2026-11-28' '2026-11-27..'
	grep -Fx 'profil: 2026-11-27.. has 4500 intervals, and 3000 can be compared; give shorter spans' err
}

# minute TIME NGINX CRON HOT: of a whole machine, in which nginx spends so much, hot or cold; what
# cron takes, changes all the time
minute() {
	{
		grep -vE '^(slot|row [1-9])' whole
		echo "row $(group system.slice/nginx.service) 4242 $2 0 nginx"
		[ "$3" = 0 ] || echo "row $(group system.slice/cron.service) 4244 $3 0 sh"
		echo "slot 10 $hot 1 $4 0"
		echo "slot 10 $cold 1 $(($2 - $4)) 0"
		[ "$3" = 0 ] || echo "slot 10 $main 2 $3 0"
	} >"$tmp/table"
	planted_groups profil run -a -q --slice 0 -o new -- true
	mv new "units/$(date -d "$1" +%Y%m%dT%H%M%S.000Z.pb.gz)"
	touch -d "$1 1 minute" "units/$(date -d "$1" +%Y%m%dT%H%M%S.000Z.pb.gz)"
}

of_unit() {
	local before='2026-11-28 01:00..2026-11-28 02:00' after='2026-11-28 02:00..'
	local hot cold main
	hot=$(at "$planted" hot)
	cold=$(at "$planted" cold)
	main=$(at "$planted" main)
	machine >whole
	mkdir -m 700 units
	for minute in $(seq 10 19); do
		minute "2026-11-28 01:$minute" $((1500 + RANDOM % 60)) 0 1000
		minute "2026-11-28 02:$minute" $((1500 + RANDOM % 60)) $((minute % 2 * 900)) 500
	done
	# of cron there is something in each other interval after that
	profil diff --in units --tsv "$before" "$after" | grep -P '^function\tnew\t.*\tmain\t'
	profil diff --in units --tsv --unit nginx.service "$before" "$after" >rows || :
	grep -P '^function\tchanged\t10000\t5000\t.*\thot\t' rows
	none grep -F main rows
	grep -P '^total\tsame\t' rows
	profil diff --in units --tsv --program sh "$before" "$after" >rows || :
	grep -P '^count\truns_b\t10$' rows
	grep -P '^function\tnew\t0\t4500\t.*\tmain\t' rows
	none grep -F hot rows
	says 2 profil diff --in units --container 4d2fe8c1b0a7 "$before" "$after"
	says 0 profil diff --in units --unit '*.service' "$before" "$before"
	says 2 profil diff --in units --unit apache.service "$before" "$after"
	grep -Fx 'profil: these profiles have nothing of unit apache.service; profil report --by unit shows what there is' err
	says 2 profil diff --in spool --unit nginx.service "$before" "$after"
	grep -F 'does not tell units apart; profil run -a … does' err
}

check 'recall: report --since and --until' since
check 'recall: the days of UTC' days_of_utc
check 'recall: what there is nothing of' messages
check 'recall: files that are none' others
check 'recall: diff of two spans of time' changed
check 'recall: diff of spans that begin with a -' relative
check 'recall: diff of two whole days' whole_days
check 'recall: diff of a unit, a program' of_unit
plan
