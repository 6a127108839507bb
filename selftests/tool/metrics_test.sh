#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# profil watch --metrics: counters, read by what people scrape with.
set -eu
# shellcheck source-path=SCRIPTDIR source=watch_lib.sh
. "$(dirname "$0")/watch_lib.sh"

servers=()
trap 'kill "${servers[@]}" 2>/dev/null || :; wait; rm -rf "$tmp" || rm -rf "$tmp"' EXIT

# part SPOOL FILE: one interval, whatever its length; a second of counting
part() {
	start profil watch -o "$1" --every 1h --metrics "$2"
	until_is catches
	stop 0
}

# counted FILE: of all counters of time, in ticks
counted() {
	awk '/^profil_cpu_seconds_total/ { sum += $NF } END { printf "%d\n", sum * 250 + 0.5 }' "$1"
}

# What is added up over intervals, and over starts of the program.
added() {
	part one one.prom
	cat one.prom
	[ "$(stat -c %a one.prom)" = 644 ]
	# what has places, but for what was moved to the kernel's
	sum=$(profil report --json one/*.pb.gz | jq .counts.in_slots)
	[ "$(counted one.prom)" = "$sum" ]
	grep -F 'profil_cpu_seconds_total{unit="nginx.service",object="planted",function="hot",mode="user"} 1.520000' one.prom
	part one one.prom
	[ "$(counted one.prom)" = $((2 * sum)) ]
	grep -F 'function="hot",mode="user"} 3.040000' one.prom
	[ "$(find . -maxdepth 1 -name 'one.prom?*')" = "" ]
	# what is no number of ours is not kept
	echo 'other_metric 1' >>one.prom
	part one one.prom
	none grep other_metric one.prom
}

# Names that could end a label; node-exporter's own library reads the format.
hostile() {
	groups 'system.slice/a"b\c.service'
	{
		machine
		echo "row $(group 'system.slice/a"b\c.service') 9 10 0 evil"
		echo "slot 10 $(at "$planted" hot) 7 10 0"
	} >"$PROFIL_FAKE.new"
	mv "$PROFIL_FAKE.new" "$PROFIL_FAKE"
	part two two.prom
	grep -F 'unit="a\"b\\c.service",object="planted"' two.prom
	python3 - two.prom <<-'END'
		import re
		import sys
		label = r'[a-z]+="(?:[^"\\\n]|\\["\\n])*"'
		line = re.compile(r'# (HELP|TYPE) .*|[a-z_]+\{' + label + '(,' + label + r')*\} [0-9.]+')
		lines = open(sys.argv[1]).read().splitlines()
		assert all(line.fullmatch(text) for text in lines), lines
		assert len(lines) == len(set(lines))
	END
	# nor is a brace in a name the end of all of them, for who reads it back
	sum=$(counted two.prom)
	cp -r "$planted" 'pl} "an\t{ed'
	sed "s|^object 10 .*|object 10 $tmp/pl} \"an\\\\t{ed|" "$PROFIL_FAKE" >"$PROFIL_FAKE.new"
	mv "$PROFIL_FAKE.new" "$PROFIL_FAKE"
	for n in 2 3; do
		part two two.prom
		[ "$(counted two.prom)" = $((n * sum)) ]
	done
	machine >"$PROFIL_FAKE"
	grep -F 'object="pl} \"an\\t{ed",function="hot",mode="user"} 3.040000' two.prom
}

# old N: as many counters
old() {
	local i
	for i in $(seq "$1"); do
		echo "profil_cpu_seconds_total{unit=\"old$i\",object=\"o\",function=\"f\",mode=\"user\"} 1.000000"
	done
}

# More units than are told apart, and more counters than there may be.
bounded() {
	local i place places=()
	for i in hot cold main; do places+=("$(at "$planted" $i)"); done
	for i in $(seq 100); do mkdir -p "cgroup/system.slice/u$i.service"; done
	{
		machine
		for i in $(seq 100); do
			echo "row $(group "system.slice/u$i.service") $i 10 0 u"
		done
		for i in $(seq 100); do
			for place in "${places[@]}"; do
				echo "slot 10 $place $((i + 6)) 10 0"
			done
		done
	} >"$PROFIL_FAKE.new"
	mv "$PROFIL_FAKE.new" "$PROFIL_FAKE"
	part three three.prom
	[ "$(grep -o 'unit="[^"]*"' three.prom | sort -u | wc -l)" = 51 ]
	sum=$(profil report --json three/*.pb.gz | jq .counts.in_slots)
	[ "$(counted three.prom)" = "$sum" ]
	# the last two are those of all others, here in one mode
	old 1997 >three.prom
	part three three.prom
	[ "$(grep -c '^profil_cpu_seconds_total' three.prom)" = 1999 ]
	[ "$(counted three.prom)" = $((sum + 1997 * 250)) ]
	# a file that is full begins at 0
	old 2000 >>three.prom
	part three three.prom
	machine >"$PROFIL_FAKE"
	none grep -F 'unit="old' three.prom
	[ "$(counted three.prom)" = "$sum" ]
}

unwritable() {
	part four no/folder/four.prom || :
	grep -F 'choose another file with --metrics' err
	files four 1
}

# What is no file says nothing from before, and is not waited for.
pipe() {
	mkfifo five.prom
	cat five.prom >got &
	part five five.prom
	wait $!
	sum=$(profil report --json five/*.pb.gz | jq .counts.in_slots)
	[ "$(counted got)" = "$sum" ]
}

# get URL: what comes of it
get() {
	python3 -c 'import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1], timeout=10).read().decode())' "$1"
}

# port: one that is free
port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# Two hosts, what scrapes them, and a question over both.
scraped() {
	local host ports=()
	for host in a b; do
		mkdir "text.$host"
		part "host.$host" "text.$host/profil.prom"
		ports+=("$(port)")
		prometheus-node-exporter --collector.disable-defaults --collector.textfile \
			--collector.textfile.directory="text.$host" \
			--web.listen-address="127.0.0.1:${ports[-1]}" 2>"exporter.$host" &
		servers+=($!)
		until_is get "http://127.0.0.1:${ports[-1]}/metrics"
	done
	get "http://127.0.0.1:${ports[0]}/metrics" >metrics
	grep -x 'node_textfile_scrape_error 0' metrics
	grep -F 'profil_cpu_seconds_total{function="hot",mode="user",object="planted",unit="nginx.service"} 1.52' metrics
	cat >scrape.yml <<-END
		global:
		  scrape_interval: 1s
		scrape_configs:
		  - job_name: node
		    static_configs:
		      - targets: ["127.0.0.1:${ports[0]}", "127.0.0.1:${ports[1]}"]
	END
	db=$(port)
	victoria-metrics -storageDataPath=db -promscrape.config=scrape.yml -memory.allowedBytes=64MB \
		-httpListenAddr="127.0.0.1:$db" >victoria 2>&1 &
	servers+=($!)
	query='topk(5,sum%20by%20(function,object)%20(profil_cpu_seconds_total%7Bunit=%22nginx.service%22%7D))'
	until_is answered
	cat answer
	[ "$(jq -r '[.data.result[] | .metric.function] | first' answer)" = hot ]
	[ "$(jq '.data.result | length' answer)" -le 5 ]
	# as it takes files of other ways
	python3 -c 'import sys, urllib.request
urllib.request.urlopen(sys.argv[1], open("text.a/profil.prom", "rb").read())' \
		"http://127.0.0.1:$db/api/v1/import/prometheus"
}

# Both hosts are in the answer: 380 ticks each.
answered() {
	get "http://127.0.0.1:$db/api/v1/query?query=$query" >answer
	[ "$(jq -r '.data.result[] | select(.metric.function == "hot") | .value[1]' answer)" = 3.04 ]
}

check 'metrics: counters are added up' added
check 'metrics: hostile names' hostile
check 'metrics: bounds' bounded
check 'metrics: a file that cannot be written' unwritable
check 'metrics: a pipe in the place of the file' pipe
check 'metrics: node-exporter and VictoriaMetrics' scraped
plan
