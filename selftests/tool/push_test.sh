#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# profil watch --push: what a server gets, and whatever it answers.
set -eu
# shellcheck source-path=SCRIPTDIR source=watch_lib.sh
. "$(dirname "$0")/watch_lib.sh"

servers=()
trap 'kill "${servers[@]}" 2>/dev/null || :; rm -rf "$tmp"' EXIT

# serve FOLDER ANSWER...: answers are these; its address is $url.  With $certificate, by TLS
serve() {
	mkdir -p "$1"
	printf '%s\n' "${@:2}" >"$1/answers"
	python3 "$here/ingest_server.py" "$1" ${certificate:+"$certificate"} >"$1/log" 2>&1 &
	servers+=($!)
	until_is test -e "$1/port"
	url=http${certificate:+s}://127.0.0.1:$(cat "$1/port")
}

# requests FOLDER: how many there were
requests() {
	find "$1" -name '*.request' | wc -l
}

# asked FOLDER NUMBER: there were so many, or more
asked() {
	[ "$(requests "$1")" -ge "$2" ]
}

# once FOLDER: no profile came twice
once() {
	[ "$(for body in "$1"/*.body; do md5sum <"$body"; done | sort | uniq -d | wc -l)" = 0 ]
}

# pushed FOLDER, waiting FOLDER: the profiles that were pushed, and those that were not
pushed() {
	find "$1" -maxdepth 1 -name '*.pb.gz' -perm 400 -printf '%f\n' | sort
}
waiting() {
	find "$1" -maxdepth 1 -name '*.pb.gz' ! -perm 400 | grep .
}

# As the server's documentation has it, and go tool pprof reads it back.
taken() {
	serve one 200 204 200
	start profil watch -o spool1 --every 1s --push "$url/" --label version=1.2 --label 'env=a b'
	until_is asked one 3
	until_is none waiting spool1
	stop 0
	[ ! -s err ]
	cat one/1.request
	name=$(list spool1 | head -n 1)
	from=$(date -d "$(echo "$name" | sed -E 's/(....)(..)(..)T(..)(..)(..).*/\1-\2-\3 \4:\5:\6 UTC/')" +%s)
	grep -E "^POST /ingest\?name=profil%7Bversion%3D1.2%2Cenv%3Da%20b%2Chost%3D$(uname -n)%7D&from=$from&until=($((from + 1))|$((from + 2)))&format=pprof&spyName=profil$" one/1.request
	grep -i '^content-type: application/octet-stream' one/1.request
	none grep -i '^authorization' one/1.request
	cmp one/1.body "spool1/$name"
	go tool pprof -raw one/1.body >raw
	grep -F hot raw
	grep -F 'unit:[nginx.service]' raw
	# nothing is pushed twice, also not by the next one
	before=$(requests one)
	[ "$(list spool1 | head -n "$before")" = "$(pushed spool1)" ]
	start profil watch -o spool1 --every 1s --push "$url"
	until_is asked one $((before + 2))
	stop 0
	once one
}

# What passes is tried again, at once or with the next interval; nothing is lost.
passing() {
	local answer
	for answer in 500 503 429 '429 1' '429 Thu, 01 Jan 2015 00:00:00 GMT' 408 none cut garbage slow; do
		serve "two$answer" "$answer" 200
		start profil watch -o "spool2$answer" --every 2s --push "$url"
		until_is asked "two$answer" 3
		stop 0
		echo "$answer: $(requests "two$answer")"
		[ "$answer" = slow ] || cmp "two$answer/1.body" "two$answer/2.body"
		cmp "two$answer/1.body" "spool2$answer/$(list "spool2$answer" | head -n 1)"
		none grep -F "$esc" err
	done
}

# named TIME: the name of a profile that began then
named() {
	date -u -d "$1" +%Y%m%dT%H%M%S.000Z.pb.gz
}

# After the clock was set back, new profiles have names below those that were pushed.
set_back() {
	serve back 200
	start profil watch -o spoolback --every 1s
	until_is files spoolback 1
	stop 0
	mv "spoolback/$(list spoolback | tail -n 1)" "spoolback/$(named '1 hour')"
	start profil watch -o spoolback --every 1s --push "$url"
	until_is test -e "back/$(($(list spoolback | wc -l) + 3)).request"
	until_is none waiting spoolback
	kill -9 "$pid"
	wait "$shell" || :
	before=$(requests back)
	start profil watch -o spoolback --every 1s --push "$url"
	until_is asked back $((before + 2))
	until_is none waiting spoolback
	stop 0
	once back
}

# What 0.9 has pushed is not pushed again.
of_09() {
	serve old 200
	start profil watch -o spoolold --every 1s
	until_is files spoolold 3
	stop 0
	list spoolold | sed -n 2p | tr -d '\n' >spoolold/.pushed
	start profil watch -o spoolold --every 1s --push "$url"
	until_is asked old 1
	stop 0
	cmp old/1.body "spoolold/$(list spoolold | sed -n 3p)"
	[ ! -e spoolold/.pushed ]
}

# Where a file's mode stays what it was, it is said why profiles are pushed again.
unmarked() {
	echo '#include <errno.h>
		int fchmodat(int fd, const char *name, unsigned int mode, int flags)
		{
			(void)fd, (void)name, (void)mode, (void)flags;
			errno = EOPNOTSUPP;
			return -1;
		}' | gcc -shared -fPIC -o unmarked.so -x c -
	serve unmarked 200
	LD_PRELOAD=$tmp/unmarked.so start "$O/plain/profil-fake" watch -o spoolunmarked --every 1s --push "$url"
	until_is asked unmarked 4
	stop 0
	[ "$(cat err)" = 'profil: that a profile was pushed cannot be kept in spoolunmarked: Operation not supported; it is pushed again each time: name a folder of another file system with -o' ]
}

# Of what is removed, that counts as dropped which nobody has got, whatever its name.
dropped() {
	mkdir -m 700 spoolgone
	(umask 077; touch "spoolgone/$(named '48 hours')" "spoolgone/$(named '49 hours')")
	chmod 400 "spoolgone/$(list spoolgone | tail -n 1)"
	start profil watch -o spoolgone --every 1s --metrics gone --push http://127.0.0.1:9
	until_is grep -E '^profil_watch_total\{what="dropped"\} [1-9]' gone
	stop 0
	grep -x 'profil_watch_total{what="dropped"} 1' gone
}

# sessions PID: how many of them a process has open
sessions() {
	find "/proc/$1/fd" -lname '/memfd:session*' | wc -l
}

# sessions_left: who pushes, which is who has a socket, has none; the command has
sessions_left() {
	for child in $(pgrep -P "$pid"); do
		[ ! "$(find "/proc/$child/fd" -lname 'socket:*')" ] || sessions "$child"
	done >had
	[ "$(sort -u had)/$(sessions "$pid")" = 0/1 ]
}

# Who pushes keeps no session alive, whatever becomes of the one that counts.
left() {
	serve sessions slow
	start profil watch -o spoolleft --every 1s --push "$url"
	until_is asked sessions 1
	until_is sessions_left
	stop 0
}

# What does not is said once, and not tried again.
refused() {
	local answer
	for answer in 400 401 404 413; do
		serve "three$answer" "$answer" "$answer" 200
		start profil watch -o "spool3$answer" --every 1s --metrics metrics --push "$url"
		until_is asked "three$answer" 4
		stop 0
		[ "$(grep -c 'refuses profiles' err)" = 1 ]
		grep -F "refuses profiles ($answer: what the server says" err
		none grep -F "$esc" err
		cmp "three$answer/2.body" "spool3$answer/$(list "spool3$answer" | sed -n 2p)"
		grep -x 'profil_watch_total{what="refused"} 2' metrics
	done
}

# What no server would take is said once, and does not stop the others.
large() {
	serve large 200
	mkdir -m 700 spoollarge
	(umask 077; for hour in 1 2; do truncate -s 65M "spoollarge/$(named "$hour hours ago")"; done)
	start profil watch -o spoollarge --every 1s --metrics large.prom --push "$url"
	until_is asked large 3
	until_is grep -x 'profil_watch_total{what="refused"} 2' large.prom
	stop 0
	[ "$(cat err)" = 'profil: a profile in spoollarge has more than 64 MB, and is not pushed; give profil watch a shorter --every' ]
	[ ! "$(find large -name '*.body' -size +1M)" ]
}

redirected() {
	serve elsewhere 200
	there=$url
	(umask 077; echo me:secret >credentials)
	serve four "redirect $there/ingest" 200
	start profil watch -o spool4 --every 1s --push "$url" --credentials credentials
	until_is asked four 2
	stop 0
	grep -F 'refuses profiles (302' err
	[ "$(requests elsewhere)" = 0 ]
}

# With nobody there, what waits is bounded, and what went for it is counted.
nobody() {
	start profil watch -o spool5 --every 1s --keep 3s --metrics metrics --push http://127.0.0.1:9
	until_is grep -E '^profil_watch_total\{what="dropped"\} [1-9]' metrics
	[ "$(list spool5 | wc -l)" -le 6 ]
	stop 0
}

credentials() {
	serve six 200
	(umask 077; echo me:secret >basic; echo token123 >bearer; : >empty; printf 'a\tb\n' >binary; mkdir folder)
	(umask 022; echo me:secret >open)
	start profil watch -o spool6 --every 1s --push "$url" --credentials basic
	until_is asked six 1
	stop 0
	grep -x "Authorization: Basic $(printf me:secret | base64)" six/1.request
	serve seven 200
	mkdir -p brought
	(umask 077; echo token123 >brought/push)
	CREDENTIALS_DIRECTORY=$tmp/brought start profil watch -o spool7 --every 1s --push "$url"
	until_is asked seven 1
	stop 0
	grep -x 'Authorization: Bearer token123' seven/1.request
	for file in open empty binary folder nofile; do
		says 1 profil watch -o spool8 --push "$url" --credentials $file
	done
	says 1 profil watch -o spool8 --push http://example.com --credentials basic
	grep -F 'sent by https alone' err
	says 1 profil watch -o spool8 --push http://localhost.example.com --credentials basic
	says 1 profil watch -o spool8 --push https://example.com --credentials open
	grep -F 'chmod 600 open' err
	[ "$(id -u)" = 0 ] || return 0
	cp -p basic other
	chown 1 other
	says 1 profil watch -o spool8 --push https://example.com --credentials other
	grep -F 'sudo chown 0 other' err
}

# What has credentials and no TLS stays on this machine; the rest goes through a proxy.
proxied() {
	serve ten 200
	export http_proxy=$url
	serve eleven 200
	(umask 077; echo token123 >bearer)
	start profil watch -o spool11 --every 1s --push "$url"
	until_is asked ten 1
	stop 0
	start profil watch -o spool12 --every 1s --push "$url" --credentials bearer
	until_is asked eleven 1
	stop 0
	grep -x 'Authorization: Bearer token123' eleven/1.request
	none grep -i '^authorization' ten/*.request
	unset http_proxy
}

# A certificate that nobody vouches for is no server; one of this machine's own is.
tls() {
	openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 \
		-subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1
	cat key.pem cert.pem >both.pem
	certificate=both.pem serve nine 200
	start profil watch -o spool9 --every 1s --push "$url"
	until_is grep -F 'takes no profiles now' err
	stop 0
	grep -i certificate err
	[ "$(requests nine)" = 0 ]
	rm pid
	# shellcheck disable=SC2016 # for the shell that becomes the program
	planted_system "mount --bind cert.pem /etc/ssl/certs/ca-certificates.crt" \
		sh -c 'echo $$ >pid.new; mv pid.new pid; exec profil watch -o spool10 --every 1s --push "$1"' sh "$url" >out 2>err &
	shell=$!
	until_is test -e pid
	pid=$(cat pid)
	until_is asked nine 1
	stop 0
}

check 'push: what a server gets' taken
check 'push: what is tried again' passing
check 'push: the clock is set back' set_back
check 'push: what 0.9 has pushed' of_09
check 'push: modes that cannot be changed' unmarked
check 'push: what is dropped' dropped
check 'push: sessions are left' left
check 'push: what is refused' refused
check 'push: what is too large' large
check 'push: a redirection is not followed' redirected
check 'push: nobody there' nobody
check 'push: credentials' credentials
check 'push: credentials go through no proxy' proxied
check 'push: certificates' tls
plan
