#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# profil export -o x.html: a page that is whole without its script, and what a browser makes of
# it.  browser.py prints each line of its console and each request, and there are to be none.
set -eu
. "$(dirname "$0")/lib.sh"

cd "$tmp"
ASAN_OPTIONS=detect_leaks=0
export ASAN_OPTIONS HOME=$tmp
source=$tmp/planted.c
cp "$here/planted.c" "$source"
touch -d '2001-01-01' "$source"
long=adler32_by_a_name_without_a_blank_that_goes_on_for_more_than_the_400_pixels_of_a_telephone

# begin SLICES: a program, a library, the kernel
begin() {
	tr '|' '\t' <<-END
		command|./planted --fast
		fact|host somewhere, kernel 6.12
		duration|$(($1 * 100 + 100))
		count|exec|2
		count|full|3
		object|$planted|1000|3000
		object|/usr/lib/libz.so|1000|1f000
		object|[kernel]|0|0
		place|0|1100|hot|$source|8
		place|0|1104|hot|$source|9
		place|0|1130|cold|$source|13
		place|1|5000|inflate||0
		place|1|1e000|$long||0
		place|2|100000|copy_page||0
	END
}

# some FIRST LAST: samples of the slices of 0.1 s; none in the seventh
some() {
	awk -v first="$1" -v last="$2" -v OFS='\t' 'BEGIN {
		for (i = first; i <= last; i++) {
			if (i == 7) continue
			print "sample", 0, i * 100, 9, 0
			print "sample", 1, i * 100, i % 3, i % 2
			if (i < 6) print "sample", 3, i * 100, 7, 2
			if (i > 4) print "sample", 2, i * 100, 0, 3
			if (i > 8) print "sample", 5, i * 100, 0, 5
			if (i == 12) print "sample", 4, i * 100, 1, 0
		}
	}'
}

{ begin 12 && some 1 12; } | compose all.pb.gz
{ begin 12 && some 3 6; } | compose part.pb.gz
profil export -o all.html all.pb.gz

# One browser for all, which takes long to begin; it takes lines and tells them.
mkfifo steps answers
python3 "$here/browser.py" <steps >answers &
exec {steps}>steps {answers}<answers

# visit STEP...: what is told is in the file told
visit() {
	printf '%s\n' "$@" end >&"$steps"
	timeout 300 sed -u '/^end [01]$/q' <&"$answers" >told
	cat told
	[ "$(tail -n 1 told)" = 'end 0' ]
	sed -i '$d' told
}

# browse STEP...: the same, and the page asks for nothing and complains of nothing
browse() {
	visit "$@"
	none grep -E '^(console|request) ' told
}

# The cells of each row with samples; their texts.
rows="[...document.querySelectorAll('#rows tbody tr')].map(row => [...row.cells].slice(1).map(cell => cell.textContent)).filter(row => row[2] != '–' || row[3] != '–')"
# What each object has.
objects="[...document.querySelectorAll('figure')].filter(f => !f.textContent.includes('nothing in this')).map(f => [f.querySelector('figcaption'), f.querySelector('.l7')].map(e => e.textContent + e.getAttribute('d')))"
bars="[...document.querySelectorAll('.bar *')].map(e => e.getAttribute('d') || e.textContent)"

# reported FILE: the rows that the page should have, of what profil report says
reported() {
	profil report --tsv "$1" | awk -F '\t' '
		$1 == "function" { file = $9; sub(/.*\//, "", file); line[++n] = $0; all += $2; object[n] = file }
		function seconds(ns) { return ns ? sprintf("%.2f s", ns / 1e9) : "–" }
		END { for (i = 1; i <= n; i++) { split(line[i], f, "\t")
			printf "%.1f %%\t%s\t%s\t%s\t%s %s\n", 100 * f[2] / all, f[2] < 5 ? "·" : sprintf("%.1f", 50 * (f[7] - f[6])),
				seconds(f[4]), seconds(f[5]), f[8], object[i] } }'
}

told_rows() {
	jq -r '.[] | @tsv' told | diff - <(reported "$1")
}

without_script() {
	browse 'script off' 'open all.html' "tell $rows"
	told_rows all.pb.gz
	# what only a script can do is not to be seen
	browse 'script off' 'open all.html' "tell (e => e.length > 2 && e.every(e => e.hidden && !e.offsetHeight))([...document.querySelectorAll('.script')])" \
		"tell document.querySelectorAll('#times svg').length" "tell document.querySelectorAll('figure svg').length" \
		"tell [...document.querySelectorAll('figcaption')].map(caption => caption.textContent).join()" \
		"tell [...document.querySelectorAll('#wall tbody th')].map(th => th.textContent + ' ' + th.nextSibling.textContent).join()"
	diff told - <<-END
		true
		6
		3
		"planted 67.3 %, cells: 33 of 249 bytes; hottest: hot near 0x10f9, 67.3 %,libz.so 22.8 %, cells: 128 of 960 bytes; hottest: inflate near 0x4fc0, 22.3 %,[kernel] 9.9 %, cells: 1 of 1 bytes; hottest: copy_page near 0x100000, 9.9 %"
		"user 0.58 s,system 0.22 s,in exec 0.01 s,lost 0.01 s,not running 0.47 s"
	END
	# the same profile is the same page
	profil export -f html -o - all.pb.gz | cmp - all.html
	none grep -E '(src|href)="?(https?:|//)' all.html
}

with_script() {
	browse 'open all.html' "tell $rows"
	told_rows all.pb.gz
	browse 'open all.html' "tell (e => e.length > 2 && e.every(e => e.offsetHeight > 0))([...document.querySelectorAll('.script')])"
	grep -x true told
}

# A part of the time is what a profile of that part would say.
range() {
	profil export -o part.html part.pb.gz
	browse 'open part.html' "tell $objects"
	mv told wanted
	jq -e 'length > 0' wanted
	browse 'open all.html#from=0.2&to=0.6' "tell $objects"
	diff told wanted
	browse 'open all.html#from=0.25&to=0.51' "tell $rows"
	told_rows part.pb.gz
	# dragged with a mouse; the picture has 1.2 s
	browse 'size 1280 900' 'open all.html' 'drag .when 0.2 0.45' 'tell location.hash' "tell document.getElementById('range').textContent"
	diff told - <<-END
		"#from=0.2&to=0.6"
		"0.2 s to 0.6 s"
	END
	# and back again
	browse 'open all.html' "tell $rows" "tell $objects" "tell $bars" 'open all.html#from=0.2&to=0.6' \
		"tell document.getElementById('whole').click()" "tell $rows" "tell $objects" "tell $bars" 'tell location.hash'
	sed -n 5,7p told | diff - <(sed -n 1,3p told)
	[ "$(sed -n '4p; 8p' told | tr -d '\n')" = 'null""' ]
	# the seventh slice has no samples, and the eighth is not longer for that
	browse 'open all.html' "tell JSON.parse(document.getElementById('data').textContent).slices.slice(5, 7).join()"
	[ "$(cat told)" = '"500,600,700,800"' ]
	# beyond the end, and nonsense
	browse 'open all.html#from=99' "tell $rows.length" 'open all.html#from=x&to=<b>' "tell $rows.length" 'open all.html#to=0.35' "tell document.getElementById('range').textContent"
	printf '%s\n' 5 5 '"0 s to 0.4 s"' | diff told -
}

keyboard() {
	browse 'open all.html' "tell document.getElementById('from').focus()" 'press ArrowRight' 'press ArrowRight' 'press Tab' \
		'press ArrowLeft' 'tell location.hash' 'press Tab' 'press Enter' 'tell location.hash'
	printf '%s\n' null '"#from=0.2&to=1.1"' '""' | diff told -
	# cells: the first one has nothing, and the second is that of a function
	browse 'open all.html' "tell document.querySelector('.where').focus()" 'press End' 'press Home' \
		"tell document.getElementById('cell').textContent" 'press ArrowRight' 'press Enter' \
		"tell document.getElementById('cell').textContent" "tell document.activeElement.cells[5].textContent"
	diff told - <<-END
		null
		"planted 0x1000: 0 samples"
		"planted 0x10f9: 136 samples, most of them in hot"
		"hot planted"
	END
}

order() {
	browse 'open all.html' "tell document.querySelectorAll('#rows thead button')[4].click()" "tell $rows.map(row => row[3]).join()" \
		"tell document.querySelectorAll('#rows thead button')[5].click()" "tell $rows.map(row => row[4]).join()" \
		"tell document.getElementById('filter').focus()" 'press L' 'press i' 'press b' \
		"tell [...document.querySelectorAll('#rows tbody tr')].filter(row => row.offsetHeight).map(row => row.cells[5].textContent).join()" \
		"tell document.getElementById('found').textContent"
	diff told - <<-END
		null
		"0.08 s,0.08 s,0.04 s,0.02 s,–"
		null
		"$long libz.so,cold planted,copy_page [kernel],hot planted,inflate libz.so"
		null
		"$long libz.so,inflate libz.so"
		"2 rows, 22.8 %"
	END
}

# Whatever something is called, the page has no element of it.
hostile() {
	local name none=' '
	IFS='' read -r name <<-'END'
		</script><img src=http:x onerror=alert(1)>" onload="alert(2)" '<!--
	END
	tr '|' '\t' <<-END | compose evil.pb.gz
		command|$name</title></style><svg onload=alert(3)>
		fact|$name
		object|/lib/$name|0|0
		place|0|1100|$name|/src/$name.c|8
		sample|0|100|9|1
		sample|0|200|9|1
	END
	profil export -o evil.html evil.pb.gz
	browse 'open evil.html#from=0&to=0.1' "tell document.querySelectorAll('img, [onload], [onerror]').length + document.images.length" \
		'tell document.title' "tell document.querySelector('#rows tbody th').firstChild.data" \
		"tell document.querySelector('figure b').textContent" "tell document.querySelector('header p').textContent" \
		"tell document.querySelector('.strips tbody tr + tr th').textContent"
	jq -r 'tostring' told >texts
	diff texts - <<-END
		0
		profil: $name</title></style><svg onload=alert(3)>
		$name$none
		${name#*/}
		$name
		$name
	END
}

# What somebody adds to the page does nothing, either.
policy() {
	sed 's,<main>,&<script>document.title = 1</script><img src="http://127.0.0.1:1/x" onerror="document.title = 2">,' all.html >added.html
	visit 'open added.html' 'tell document.title'
	grep -x '"profil: ./planted --fast"' told
	none grep '^request ' told
	# or the tests above would see nothing
	grep '^console .*Content Security Policy' told
	grep -x 'blocked http://127.0.0.1:1/x' told
	sed '/Content-Security-Policy/d' added.html >open.html
	visit 'open open.html'
	grep -x 'request http://127.0.0.1:1/x' told
}

no_times() {
	{ begin 12 && some 1 12 | awk -v OFS='\t' '{ $3 = 0; print }'; } | compose still.pb.gz
	profil export -o still.html still.pb.gz
	browse 'open still.html#from=0.2' "tell $rows"
	told_rows all.pb.gz
	browse 'open still.html' "tell document.querySelector('#times').textContent" "tell document.querySelectorAll('#times svg, #brush').length" \
		"tell document.querySelector('.where').focus()" 'press End' 'press Home' 'press ArrowRight' "tell document.getElementById('cell').textContent"
	grep -F 'The profile has no slices of time' told
	grep -x 0 told
	grep -F '"planted 0x10f9: 136 samples, most of them in hot"' told
	# nothing at all
	compose empty.pb.gz </dev/null
	profil export -o empty.html empty.pb.gz
	browse 'open empty.html' "tell $rows.length"
	[ "$(cat told)" = 0 ]
}

source_lines() {
	browse 'script off' 'open all.html' "tell [...document.querySelectorAll('details')].map(d => d.querySelector('summary').textContent)" \
		"tell [...document.querySelectorAll('details tbody tr')].map(row => [...row.cells].slice(1).map(cell => cell.textContent).join('|').trim())" \
		"tell document.querySelector('#lines > p').textContent"
	sed -n 1p told | grep -Fx '["hot 56.9 %","cold 10.4 %"]' <(sed -n 1p told | jq -c .)
	sed -n 2p told | jq -r '.[]' | grep -Fx '49.0 %|8|{'
	sed -n 2p told | jq -r '.[]' | grep -Fx "7.9 %|9|$(printf '\t')return n + 1;"
	sed -n 3p told | grep 'No source of these was to be read, or the program has no debug information: inflate, copy_page, '
	# what is newer is said; what is called like no source is not shown
	touch "$source"
	touch -d '2002-01-01' old.o
	cp "$source" secret
	{ begin 12 && some 1 12; } | sed "s,$planted,$PWD/old.o," | compose new.pb.gz
	{ begin 12 && some 1 12; } | sed "s,$source,$PWD/secret," | compose secret.pb.gz
	profil export -o new.html new.pb.gz
	profil export -o secret.html secret.pb.gz
	touch -d '2001-01-01' "$source"
	grep 'it is newer than the program' new.html
	none grep 'it is newer' all.html
	none grep -F 'return n + 1;' secret.html
	grep -F 'return n + 1;' all.html
	mkfifo pipe.c
	{ begin 12 && some 1 12; } | sed "s,$source,$PWD/pipe.c," | compose pipe.pb.gz
	timeout 60 profil export -o pipe.html pipe.pb.gz
}

# For those who do not see the pictures.
described() {
	tidy -e -q --drop-empty-elements no all.html
	browse 'open all.html' "tell [...document.querySelectorAll('svg')].every(svg => svg.firstChild.localName == 'title' && svg.firstChild.textContent)" \
		"tell [...document.querySelectorAll('table')].every(t => [...t.querySelectorAll('th')].every(th => th.scope == (th.closest('thead') ? 'col' : 'row')))" \
		"tell document.documentElement.lang + document.querySelectorAll('h1').length"
	printf '%s\n' true true '"en1"' | diff told -
}

narrow_and_dark() {
	browse 'size 400 800' 'open all.html' 'tell document.documentElement.scrollWidth' \
		"tell [...document.querySelectorAll('#rows tbody td:not(.sure)')].every(cell => cell.getBoundingClientRect().right <= 400)" \
		'theme light' 'tell getComputedStyle(document.body).backgroundColor' 'theme dark' 'tell getComputedStyle(document.body).backgroundColor'
	printf '%s\n' 400 true '"rgb(255, 255, 255)"' '"rgb(20, 24, 28)"' | diff told -
}

# large ADDRESSES FUNCTIONS: samples of 120 slices, each address in each one, and each object
# as large as the others, so that all have all of their cells
large() {
	awk -v places="$1" -v functions="$2" -v OFS='\t' 'BEGIN {
		print "duration", 12000
		for (i = 0; i < 10; i++) print "object", "/usr/lib/liblarge" i ".so", "1000", "200000"
		for (i = 0; i < places; i++) print "place", i % 10, sprintf("%x", 4096 + i * int(2000000 / places)), "a_function_of_" i % functions, "/src/large.c", i
		for (i = 0; i < places; i++) for (t = 1; t <= 120; t++) print "sample", i, t * 100, 1 + (i * 7 + t) % 12, (i + t) % 3
	}' | compose large.pb.gz
}

# instructions ADDRESSES: of what writes the page
instructions() {
	large "$1" 3000
	valgrind --tool=callgrind --toggle-collect=page_write --callgrind-out-file=counts "$O/plain/profil" export -o counted.html large.pb.gz 2>warned
	awk '$1 == "summary:" || $1 == "totals:" { print $2; exit }' counts
}

# 10,000 addresses in 120 slices: 1 MB, and a second of a CPU that does 3 instructions a ns.
budget() {
	local few more
	large 10000 10000
	profil export -o large.html large.pb.gz
	wc -c large.html
	[ "$(wc -c <large.html)" -le 1000000 ]
	few=$(instructions 200)
	more=$(instructions 600)
	echo "$few $more"
	[ "$more" -gt "$few" ] && [ $((few + (more - few) * (10000 - 200) / 400)) -le 3000000000 ]
}

check 'html: without a script it says what profil report says' without_script
check 'html: nothing in the console, nothing asked of a network' with_script
check 'html: a range of the time, by a link and by a mouse' range
check 'html: without a mouse' keyboard
check 'html: order and filter' order
check 'html: names that are elements and attributes' hostile
check 'html: its policy lets nothing else run, and asks nobody' policy
check 'html: no slices of time; no samples' no_times
check 'html: lines of source, and of nothing else' source_lines
check 'html: titles, scopes, and what tidy says' described
check 'html: 400 pixels wide, and dark' narrow_and_dark
check 'html: 10,000 addresses in 120 slices: bytes and instructions' budget
# it ends with what it takes
exec {steps}>&- {answers}<&-
wait
plan
