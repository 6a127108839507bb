#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What others make of the file: pprof says of each address, function and process what
# profil report says.
set -eu
. "$(dirname "$0")/lib.sh"

cd "$tmp"
export PPROF_TMPDIR=$tmp HOME=$tmp

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

# Address by address: samples, cpu, user, system, name.
raw() {
	pprof -raw | tr -d '\r' >raw
	grep -Fx 'samples/count cpu/nanoseconds[dflt] user/nanoseconds system/nanoseconds' raw
	awk '
		/^Samples:/ { part = 1; next }
		/^Locations/ { part = 2; next }
		/^Mappings/ { part = 3; next }
		part == 1 && / [0-9]+: [0-9]+ *$/ { split($0, f, ":"); id = f[2] + 0; n = split(f[1], v, " ")
			for (i = 1; i <= 4; i++) sum[id, i] += v[i] }
		part == 2 { id = $1 + 0; address[id] = $2; name = $0
			sub(/^ *[0-9]+: 0x[0-9a-f]+ M=[0-9]+ /, "", name)
			sub(/ [^ ]*:[0-9]+ s=0(\(.*\))?$/, "", name)
			named[id] = name }
		END { for (id in address) print sum[id, 1] "\t" sum[id, 2] "\t" sum[id, 3] "\t" sum[id, 4] "\t" address[id] "\t" named[id] }
	' raw | sort >theirs
	profil report --by address --tsv all.pb.gz | awk -F '\t' '
		$1 == "address" { print $2 "\t" $3 "\t" $4 "\t" $5 "\t" $10 "\t" ($8 == "[library.so]" ? "" : $8) }' | sort >ours
	[ "$(wc -l <ours)" -gt 690 ]
	diff theirs ours
}

# Function by function; theirs are added up over objects.
top() {
	local index column
	for index in samples:2 cpu:3 user:4 system:5; do
		column=${index#*:}
		pprof -top -nodecount=100000 -nodefraction=0 -unit=ns -sample_index="${index%:*}" 2>warned |
			awk '/flat%/ { on = 1; next } on && $1 + 0 { n = $1; sub(/ns$/, "", n); $1 = $2 = $3 = $4 = $5 = ""; sub(/^ +/, ""); print n "\t" $0 }' | sort >theirs
		profil report --tsv all.pb.gz | awk -F '\t' -v c="$column" '$1 == "function" { sum[$8] += $c } END { for (name in sum) if (sum[name]) printf "%d\t%s\n", sum[name], name }' |
			sort >ours
		[ "$(wc -l <ours)" -gt 4 ]
		diff theirs ours
	done
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
		import ("os"; "runtime/pprof"; "time")
		//go:noinline
		func spin(n int) int { for i := 0; i < 1000; i++ { n = n*3 + i }; return n }
		func main() {
			f, _ := os.Create("go.pb.gz")
			pprof.StartCPUProfile(f)
			n := 0
			for end := time.Now().Add(700 * time.Millisecond); time.Now().Before(end); { n = spin(n) }
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
