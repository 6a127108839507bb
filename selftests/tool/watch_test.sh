#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# profil watch: a file an interval, whatever happens.
set -eu
# shellcheck source-path=SCRIPTDIR source=watch_lib.sh
. "$(dirname "$0")/watch_lib.sh"

# ticks FILE...: of all of them
ticks() {
	profil report --json "$@" | jq .counts.ticks
}

arguments() {
	says 125 profil watch --every 0
	says 125 profil watch --keep 10s
	says 125 profil watch --max-size 10
	says 125 profil watch --max-size 99999999999999T
	says 125 profil watch --push ftp://host
	says 125 profil watch --push https://me:secret@host
	says 125 profil watch --label version=1
	says 125 profil watch --push https://host --label 'version=}'
	says 125 profil watch true
	says 125 profil watch -o ''
	grep -F 'an empty name' err
	says 0 profil watch --help
}

# Each has all of its ticks; the end of one is the begin of the next.
intervals() {
	local file ends='' begin apart
	start profil watch -o one --every 1s
	until_is files one 3
	stop 0
	[ ! -s err ]
	[ "$(stat -c %a one)/$(stat -c %a one/* | sort -u)" = 700/600 ]
	for file in one/*.pb.gz; do
		[ "$(ticks "$file")" = 1000 ]
		begin=$(basename "$file" | sed -E 's/(....)(..)(..)T(..)(..)(.*)Z.*/\1-\2-\3 \4:\5:\6 UTC/')
		begin=$(date -d "$begin" +%s%3N)
		apart=$((begin - ${ends:-begin}))
		[ "${apart#-}" -le 1 ] || { echo "$file: $begin, not $ends"; return 1; }
		ends=$(date -d "$(stat -c %y "$file")" +%s%3N)
	done
	profil report --tsv one/*.pb.gz | grep -F hot
	[ "$(all one | grep -c '^\.new')" = 0 ]
}

# What was begun is there, at once.
part() {
	start profil watch -o two --every 1h
	until_is catches
	stop 0
	files two 1
	[ "$(ticks two/*)" = 1000 ]
}

killed() {
	for _ in $(seq 15); do
		start profil watch -o three --every 1s
		until_is catches
		sleep "1.$((RANDOM % 900 + 100))"
		kill -9 "$pid"
		wait $shell 2>/dev/null || :
	done
	start profil watch -o three --every 1s
	until_is catches
	stop 0
	files three 3
	[ "$(ticks three/*.pb.gz)" = "$(list three | wc -l)000" ]
	[ "$(all three | grep -c '^\.new')" = 0 ]
}

# Where no session can follow, the one that is there goes on, and that is said once.
refused() {
	touch refused
	PROFIL_FAKE_REFUSED=$tmp/refused start profil watch -o four --every 1s
	until_is grep -F 'this interval goes on' err
	sleep 2
	rm refused
	until_is files four 1
	stop 0
	[ "$(grep -c 'goes on' err)" = 1 ]
}

# The same where its tables could not be mapped, once it had begun.
no_memory() {
	REFUSE_MAPS=$tmp/maps start profil-refused watch -o eight --every 1s
	until_is files eight 1
	touch maps
	until_is grep -F 'this interval goes on' err
	sleep 2
	rm maps
	before=$(list eight | wc -l)
	until_is files eight $((before + 1))
	stop 0
	[ "$(grep -c 'goes on' err)" = 1 ]
	grep -F 'no session could be made to follow: Cannot allocate memory; ' err
	none grep -F lost err
}

full_disk() {
	mkdir -m 700 five
	cat >full.sh <<-'END'
		mount -t tmpfs -o size=64k,mode=700 none five
		mkdir five/spool
		chmod 700 five/spool
		head -c 40000 /dev/zero >five/notes
		profil watch -o five/spool --every 1s 2>err &
		for _ in $(seq 1200); do
			! grep -q 'on a full disk' err || break
			sleep 0.1
		done
		kill -TERM $!
		wait $!
		echo "status $?"
		ls five/spool five/notes
	END
	planted_system : bash full.sh >listed
	cat listed err
	grep -x 'status 0' listed
	grep -x five/notes listed
	# a page each: there is room for a few
	[ "$(grep -c 'Z.pb.gz' listed)" -ge 1 ]
	[ "$(grep -c 'Z.pb.gz' listed)" -le 7 ]
	grep 'on a full disk: 1 old profiles went' err
}

# listen: as systemd does, to what comes to the socket notify, until there is a file heard
listen() {
	rm -f notify told heard
	cat >listen.py <<-'END'
		import os, socket
		s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
		s.bind('notify')
		s.settimeout(0.1)
		told = open('told', 'w', buffering=1)
		while not os.path.exists('heard'):
		    try:
		        print(s.recv(1000).decode(), file=told)
		    except socket.timeout:
		        pass
	END
	python3 listen.py &
	until_is test -e told
}

# The module may come later.  For systemd, the service has started.
no_device() {
	listen
	: >err
	# shellcheck disable=SC2016 # the shell that it begins has that number
	planted_system 'mount -t tmpfs none /dev; mknod /dev/null c 1 3; mknod /dev/urandom c 1 9' \
		sh -c 'echo $$ >pid; NOTIFY_SOCKET=$PWD/notify exec profil-real watch -o six' >out 2>err &
	shell=$!
	until_is grep -F 'it is waited for: sudo modprobe profil' err
	until_is grep -x READY=1 told
	pid=$(cat pid)
	stop 0
	touch heard
	[ "$(all six | wc -l)" = 0 ]
}

# systemd lets a service open the devices that there were when it started it: one that came
# later is for the next start.
not_to_be_opened() {
	local status=0

	touch device.real
	: >err
	# shellcheck disable=SC2016 # for the shell there
	planted_system 'mount --bind /dev/null device.real; mount -o remount,bind,nodev device.real
		mount -t tmpfs none /dev; mknod /dev/null c 1 3; mknod /dev/urandom c 1 9
		ln -s "$PWD/device" /dev/profil' profil-real watch -o eight >out 2>err &
	shell=$!
	until_is grep -F 'it is waited for: sudo modprobe profil' err
	ln -s "$tmp/device.real" device
	wait "$shell" || status=$?
	cat err
	[ "$status" = 75 ]
	grep -F '/dev/profil is there now' err
}

# As systemd starts it.
notified() {
	listen
	NOTIFY_SOCKET=$tmp/notify start profil watch -o seven --every 1s
	until_is grep WATCHDOG=1 told
	stop 0
	until_is grep STOPPING=1 told
	touch heard
	grep READY=1 told
}

# A day of minutes, in which the clock is set: each file is whole, and times are true.
day() {
	local before
	PROFIL_JUMPS='3600:+7200 36000:-3600' start profil-always watch -o day --keep 48h
	until_is files day 20
	sleep 1
	grep VmRSS "/proc/$pid/status" >before
	until files day 1440; do
		before=$(list day | wc -l)
		until_is files day $((before + 1))
	done
	grep VmRSS "/proc/$pid/status" >after
	ls "/proc/$pid/fd" >fds
	stop 0
	files day 1440
	cat before after fds
	# but for what one interval happens to need
	[ "$(($(tr -cd 0-9 <after) - $(tr -cd 0-9 <before)))" -lt 4000 ]
	[ "$(wc -l <fds)" -lt 20 ]
	# the hour in which it was set forth begins two hours later, and one came twice
	list day >begun
	grep 20261128T05 begun
	none grep -E "20261128T0(3[2-5]|4)" begun
	[ "$(grep -c 20261128T13 begun)" -ge 100 ]
	[ "$(ticks "day/$(head -n 1 begun)")" = 1000 ]
}

# What it took itself, of the newest profile there is.
own_cost() {
	cat >>"$PROFIL_FAKE" <<-END
		row 4711 99 4 0 profil
		slot 10 $(at "$planted" hot) 7 4 0
	END
	start profil watch -o nine --every 1s
	until_is files nine 1
	stop 0
	machine >"$PROFIL_FAKE"
	planted_system 'mount -t tmpfs none /var/lib; cp -pr nine /var/lib/profil-watch' \
		profil check >out || :
	grep -E '^watch +profil watch took 0\.016 s of CPU in the [0-9.]+ s until [0-9: -]+ +ok$' out
	planted_system 'mount -t tmpfs none /var/lib; cp -pr nine /var/lib/profil-watch; touch -d yesterday /var/lib/profil-watch/*' \
		profil check >out || :
	grep -E '^watch .* note$' out
	grep -F 'systemctl status profil-watch' out
	planted_system 'mount -t tmpfs none /var/lib' profil check >out || :
	none grep ^watch out
}

# newest_has TEXT: the newest profile
newest_has() {
	newest "$1" && grep -P "$2" newest
}

newest() {
	profil report --tsv "$1/$(list "$1" | tail -n 1)" >newest
}

# killed_readers: while the file how says that they hang, for 20 s at most
killed_readers() {
	local readers
	for _ in $(seq 400); do
		[ "$(cat how)" = hang ] || break
		! readers=$(pgrep -d , -P "$pid") || pkill -KILL -P "$readers" || :
		sleep 0.05
	done
}

# Names that could not be read now are not missing for good; those of what crashes its reader are.
passing() {
	local how
	gcc -shared -fPIC -x c -o passing.so - <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <errno.h>
		#include <fcntl.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <unistd.h>
		void *dwfl_begin(const void *callbacks)
		{
			void *(*real)(const void *) = dlsym(RTLD_NEXT, "dwfl_begin");
			char how[10];
			do {
				int fd = open(getenv("HOW"), O_RDONLY);
				memset(how, 0, sizeof(how));
				read(fd, how, sizeof(how) - 1);
				close(fd);
			} while (!strcmp(how, "hang\n") && !usleep(100000));
			if (!strcmp(how, "crash\n"))
				*(volatile int *)8 = 0;
			if (!strcmp(how, "exit\n"))
				_exit(1);
			if (!strcmp(how, "go\n"))
				return real(callbacks);
			errno = EMFILE;
			return NULL;
		}
	END
	export HOW=$tmp/how
	for how in crash exit hang open; do
		echo "$how" >how
		start env LD_PRELOAD="$PWD/passing.so" "$O/plain/profil-fake" watch -o "ten$how" --every 2s
		[ "$how" != hang ] || killed_readers &
		until_is files "ten$how" 2
		newest "ten$how"
		none grep -P '\thot\t' newest
		echo go >how
		if [ "$how" = crash ]; then
			until_is files "ten$how" 4
			newest "ten$how"
			none grep -P '\thot\t' newest
		else
			until_is newest_has "ten$how" '\thot\t'
		fi
		stop 0
		grep -F "$planted could not be read for names" err
	done
}

check 'watch: options' arguments
check 'watch: intervals follow each other' intervals
check 'watch: SIGTERM amid an interval' part
check 'watch: killed' killed
check 'watch: no session can follow' refused
check 'watch: no memory for a session that follows' no_memory
check 'watch: a full disk' full_disk
check 'watch: no module' no_device
check 'watch: a module that came, and a device that cannot be opened' not_to_be_opened
check 'watch: what systemd is told' notified
check 'watch: its own cost' own_cost
check 'watch: names that cannot be read now' passing
check 'watch: a day' day
plan
