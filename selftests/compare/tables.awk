# SPDX-License-Identifier: GPL-2.0-only
# awk -f tables.awk RESULTS: a table for each program, of what guest.sh has written.

BEGIN {
	FS = "\t"
	split("profil perf gprofng gperftools callgrind", order, " ")
	title["python3"] = "Python 3.11, which makes JSON and reads it"
	title["sqlite"] = "SQLite, its own benchmark in memory"
	title["redis"] = "redis-server, which computes in Lua for a client"
	title["gcc"] = "cc1 of gcc 12, a file of loops with -O2"
}

$1 == "plain" {
	plain[$2, $3] = $4
	if ($3 == 1)
		programs[++num] = $2
	next
}

$1 == "user" {
	may[$2] = $3
	next
}

NF >= 5 {
	seconds[$1, $2] = $3
	bytes[$1, $2] = $4
	report[$1, $2] = $5
	for (i = 6; i <= NF; i++)
		name[$1, $2, i - 5] = $i
}

# How many of the five hottest callgrind has among its own.
function agree(program, profiler,    i, j, n) {
	for (i = 1; i <= 5; i++)
		for (j = 1; j <= 5; j++)
			n += name[program, profiler, i] != "" &&
			     name[program, profiler, i] == name[program, "callgrind", j]
	return n + 0
}

function percent(program, profiler,    without) {
	without = plain[program, profiler == "callgrind" ? 1 : 10]
	return 100 * (seconds[program, profiler] / without - 1)
}

function row(a, b, c, d, e, f) {
	printf "%-10s  %12s  %9s  %9s  %9s  %s\n", a, b, c, d, e, f
}

function rule() {
	row("==========", "============", "=========", "=========", "=========",
	    "==================================")
}

function table(program,    i, who) {
	printf "%s: %.1f s\n\n", title[program], plain[program, 10]
	rule()
	row("Profiler", "Wall time", "File", "Report", "Top five", "Hottest function")
	rule()
	for (i = 1; i in order; i++) {
		who = order[i]
		row(who, sprintf("%+.2f %%", percent(program, who)),
		    sprintf("%.0f kB", bytes[program, who] / 1024),
		    sprintf("%.2f s", report[program, who]),
		    agree(program, who) " of 5", "``" name[program, who, 1] "``")
	}
	rule()
	print ""
}

END {
	for (p = 1; p <= num; p++)
		table(programs[p])
	for (i = 1; i in order; i++) {
		if (may[order[i]] == "yes")
			users = users (users ? ", " : "") order[i]
		else
			nobody = nobody (nobody ? ", " : "") order[i]
	}
	print "An ordinary user may use " users "; not " (nobody ? nobody : "these: none") "."
}
