#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What others make of the file: pprof says of each address, function and process what
# profil report says.
set -eu
. "$(dirname "$0")/lib.sh"
. "$here/pprof_lib.sh"

cd "$tmp"

# by_hundreds: a table of a library's functions, of two processes, and all else there is
by_hundreds() {
	local library
	library=$(g++ -print-file-name=libstdc++.so.6)
	table
	echo "object 11 $library"
	nm -D --defined-only "$library" | awk '$2 == "T" { sub(/^0+/, "", $1); print $1 }' | sort -u |
		awk 'NR <= 700 { print "slot 11 " $1, NR % 3, NR % 50 + 1, NR % 7 }'
	echo 'object 12 /no/such/library.so'
	echo 'slot 12 1234 0 5 2'
}
by_hundreds >"$tmp/table"
profil run -q -o all.pb.gz true

pprof() {
	go tool pprof "$@" all.pb.gz
}

raw() {
	same_addresses all.pb.gz
	[ "$(wc -l <ours)" -gt 690 ]
}

top() {
	same_functions all.pb.gz
	[ "$(wc -l <ours)" -gt 4 ]
}

tags() {
	pprof -tags -sample_index=samples -nodefraction=0 >shown
	awk '/^ *pid:/ { on = 1; next } /^ *program:/ { on = 0 } on && NF { print $1 + 0, $NF }' shown | sort >theirs
	[ "$(wc -l <theirs)" = 2 ]
	# of the library and the program no process is in the file
	by_hundreds | awk '$1 == "slot" && $4 { sum[$4] += $5 + $6 } END { print sum[1], 4242; print sum[2], 4243 }' | sort >ours
	diff theirs ours
}

comments() {
	pprof -comments >shown
	for line in 'profil [0-9.]+' 'host .*, Linux .*' 'command true' 'ticks 200' 'exec 2' 'full 1' \
		'process 4242 parent 0 programs 1 samples 114 user_ns 400000000 system_ns 56000000 planted'; do
		grep -Ex "$line" shown
	done
}

# pprof's own checks, and what it makes of two files.
checked() {
	pprof -proto -output=written.pb.gz
	profil report --tsv --by address written.pb.gz | grep ^address >ours
	profil report --tsv --by address all.pb.gz | grep ^address | diff - ours
	go tool pprof -proto -output=twice.pb.gz all.pb.gz all.pb.gz
	profil report --tsv twice.pb.gz | grep ^function >ours
	profil report --tsv all.pb.gz all.pb.gz | grep ^function | diff - ours
	go tool pprof -top -diff_base=all.pb.gz all.pb.gz | grep -F 'Showing nodes accounting for 0'
}

# A profile that is none of ours: of a program in Go, with stacks.
of_others() {
	cat >main.go <<-END
		package main
		import ("os"; "runtime/pprof")
		//go:noinline
		func spin(n int) int { for i := 0; i < 1000; i++ { n = n*3 + i }; return n }
		func main() {
			f, _ := os.Create("go.pb.gz")
			pprof.StartCPUProfile(f)
			n := 0
			for i := 0; i < 500000; i++ { n = spin(n) }
			pprof.StopCPUProfile()
			f.Close()
			if n == 42 { println(n) }
		}
	END
	GOCACHE=$tmp/cache GO111MODULE=off go build -o gomain main.go
	./gomain
	profil report --tsv go.pb.gz | tee ours | grep -P '\tmain.spin\t.*/gomain\t'
	[ "$(awk -F '\t' '$1 == "function" { sum += $2 } END { print sum }' ours)" = "$(go tool pprof -raw go.pb.gz |
		awk '/^Samples:/ { on = 1; next } /^Locations/ { on = 0 } on && /^ +[0-9]+ +[0-9]+:/ { sum += $1 } END { print sum }')" ]
}

check 'pprof: each address' raw
check 'pprof: each function' top
check 'pprof: processes' tags
check 'pprof: comments' comments
check 'pprof: it writes, adds and compares' checked
check 'pprof: profiles of others' of_others
plan
