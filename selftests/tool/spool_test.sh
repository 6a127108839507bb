#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The folder of profil watch: what is in it whatever happens; and times as people write them.
set -eu
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

cd "$tmp"
export TZ=UTC

# 2026-11-28 02:00 is 1795831200
names() {
	says 0 spool_steps write one 1795831200123 10
	grep -x '20261128T020000.123Z.pb.gz 0' out
	[ "$(stat -c %a one)/$(stat -c %a one/*)" = 700/600 ]
	# the same time again, as after a clock that was set back
	says 0 spool_steps write one 1795831200123 10
	grep -x '20261128T020000.124Z.pb.gz 0' out
	says 0 spool_steps write one 1795831199999 10
	[ "$(list one | head -n 1)" = 20261128T015959.999Z.pb.gz ]
}

# A file system that cannot rename so that nothing is replaced, as NFS: nothing is, all the same.
without_rename() {
	gcc -shared -fPIC -x c -o rename.so - <<-'END'
		#include <errno.h>
		int renameat2(int from, const char *a, int to, const char *b, unsigned int flags)
		{
			errno = EINVAL;
			return -1;
		}
	END
	for name in 123 124; do
		LD_PRELOAD=$PWD/rename.so ASAN_OPTIONS=verify_asan_link_order=0 \
			spool_steps write linked 1795831200123 $name >out
		grep -x "20261128T020000.${name}Z.pb.gz 0" out
	done
	[ "$(all linked | wc -l)" = 2 ]
	[ "$(stat -c %s linked/* | paste -sd ' ')" = '123 124' ]
}

# Files of others, and what a file is not, stay; so do files that are not there.
retention() {
	for ms in 1000 2000 3000 4000 9000; do
		says 0 spool_steps write two $ms 100
	done
	touch two/notes two/.new-notes two/19700101T000001.000Z.pb.gz.old
	mkdir two/19700101T000000.000Z.pb.gz
	ln -s /etc/passwd two/19700101T000000.500Z.pb.gz
	# of 1 to 9 s, those of the last 5.5 s before 7 s, and nothing from after 12.5 s
	says 0 spool_steps trim two 7000 5500 1000000
	[ "$(cat out)/$(list two | grep -c '^19700101T00000[1-9].*gz$')" = 0/4 ]
	# the two newest fit
	says 0 spool_steps trim two 7000 100000 250
	[ "$(cat out)" = 2 ]
	list two | grep -x 19700101T000009.000Z.pb.gz
	list two | grep -x 19700101T000004.000Z.pb.gz
	[ -d two/19700101T000000.000Z.pb.gz ]
	[ -L two/19700101T000000.500Z.pb.gz ]
	[ "$(all two | wc -l)" = 7 ]
	# what is from a future that nobody waits for
	says 0 spool_steps trim two 1000 5500 1000000
	[ ! -e two/19700101T000009.000Z.pb.gz ]
}

# A machine that does not know the time yet, or was set to another one, forgets little.
wrong_clock() {
	for s in $(seq 1795831200 1795831239); do
		says 0 spool_steps write clock "${s}000" 10
	done
	says 0 spool_steps trim clock 0 86400000 1000000
	[ "$(list clock | wc -l)" = 24 ]
	says 0 spool_steps trim clock 1900000000000 86400000 1000000
	[ "$(list clock | wc -l)" = 8 ]
	list clock | head -n 1 | grep -x 20261128T020032.000Z.pb.gz
}

folders() {
	mkdir -m 755 wide
	says 1 spool_steps trim wide 1 1 1
	grep -F 'name one for its user alone (mode 700) with -o' err
	touch file
	says 1 spool_steps trim file 1 1 1
	says 1 spool_steps trim no/folder 1 1 1
	mkdir -m 700 locked
	flock locked sleep 1000 &
	until none flock -n locked true; do sleep 0.05; done
	says 1 spool_steps trim locked 1 1 1
	kill %1
	grep -F 'another profil watch' err
	[ "$(id -u)" != 0 ] || {
		mkdir -m 700 of
		chown 12345 of
		says 1 spool_steps trim of 1 1 1
		grep -F 'another user' err
	}
}

# Killed at a hundred points: each file is whole, and the next start takes away the rest.
killed() {
	local left=0
	: >list
	for _ in $(seq 100); do
		spool_steps loop killed 300000 &
		sleep "0.$((RANDOM % 100 + 100))"
		kill -9 %+
		wait %+ 2>/dev/null || :
		[ ! -d killed ] || all killed >list
		left=$((left + $(grep -c '^\.new-' list || :)))
		for file in killed/*.pb.gz; do
			[ -e "$file" ] || continue # it was killed before it began
			[ "$(stat -c %s "$file")$(tail -c 1 "$file")" = 300000e ]
		done
	done
	echo "left by those killed: $left"
	[ "$left" -gt 0 ]
	touch killed/.new-notes
	says 0 spool_steps trim killed 1 0 10000000
	[ "$(all killed | grep -v '^1970')" = .new-notes ]
}

# On a disk of 1 MB, the oldest go; what is no file of ours does not.
full_disk() {
	declare -f list all >full.sh
	cat >>full.sh <<-'END'
		chmod 700 disk
		head -c 300000 /dev/zero >disk/notes
		for ms in 1000 2000 3000; do spool_steps write disk $ms 200000; done
		spool_steps write disk 4000 300000
		list disk
		spool_steps write disk 5000 2000000 || :
		all disk
	END
	mkdir -m 700 disk
	planted_system 'mount -t tmpfs -o size=1m none disk' bash full.sh >out
	cat out
	grep -x '19700101T000004.000Z.pb.gz 1' out
	# too large in any case: nothing is left of it, and nothing of the others
	grep -x 'No space left on device 3' out
	[ "$(tail -n 1 out)" = notes ]
}

times() {
	while IFS='|' read -r text wanted; do
		spool_steps when 1795831200 "$text" >out || echo none >out
		[ "$(cat out)" = "$wanted" ] || { echo "$text: $(cat out), not $wanted"; return 1; }
	done <<-'END'
		now|1795831200
		-90m|1795825800
		-1h|1795827600
		-30|1795831170
		2 hours ago|1795824000
		1 hour ago|1795827600
		10 minutes ago|1795830600
		3 days ago|1795572000
		1 week ago|1795226400
		2h ago|1795824000
		today|1795824000
		yesterday|1795737600
		yesterday 14:30|1795789800
		01:15|1795828500
		01:15:30|1795828530
		2026-11-28|1795824000
		2026-11-28 01:15|1795828500
		2026-11-28T01:15:30|1795828530
		2026-11-28 01:15Z|1795828500
		2024-02-29|1709164800
		@1795831000|1795831000
		|none
		2 hours|none
		-|none
		-h|none
		-1y|none
		@|none
		@1x|none
		today now|none
		2026-02-30|none
		2026-11-28 25:00|none
		2026-11-28 01:15 x|none
		99999999999999999999 days ago|none
		hours ago|none
		3 hours agone|none
	END
	[ "$(TZ=Europe/Berlin spool_steps when 1795831200 '2026-11-28 01:15')" = 1795824900 ]
	[ "$(TZ=Europe/Berlin spool_steps when 1795831200 '2026-11-28 01:15 UTC')" = 1795828500 ]
	[ "$(spool_steps length 90m)$(spool_steps length 24h)$(spool_steps length 60)" = 54008640060 ]
	none spool_steps length 0
	none spool_steps length 1.5h
}

check 'spool: names are times, and files are for their user alone' names
check 'spool: a file system that cannot rename without replacing' without_rename
check 'spool: what goes away, by age and by size' retention
check 'spool: a wrong clock forgets little' wrong_clock
check 'spool: folders that are refused' folders
check 'spool: killed at a hundred points' killed
check 'spool: a full disk' full_disk
check 'spool: times as people write them' times
plan
