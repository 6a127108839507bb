# SPDX-License-Identifier: GPL-2.0-only
# awk -f tables.awk RESULTS: a table for each program, of what guest.sh has written; if the
# same work takes more or less when it is done again, there is none.

BEGIN {
	FS = "\t"
	LEAST = 1	# amounts of work
	MOST = 20
	NOISE = 0.003
	S = 1000000
	split("profil perf gprofng gperftools callgrind", order, " ")
	title["python3"] = "Python 3.11, which makes JSON and reads it"
	title["sqlite"] = "SQLite, its own benchmark in memory"
	title["redis"] = "redis-server, which computes in Lua for a client"
	title["gcc"] = "cc1 of gcc 12, a file of loops with -O2"
}

# Twice for each amount of work: the mean, and how far they are apart.
$1 == "plain" {
	if (($2, $3) in first) {
		plain[$2, $3] = (first[$2, $3] + $4) / 2
		apart[$2, $3] = $4 - first[$2, $3]
	} else if ($3 == LEAST) {
		programs[++num] = $2
	}
	first[$2, $3] = $4
	next
}

$1 == "user" {
	may[$2] = $3
	next
}

# What it costs once is not what it costs in each second.
NF >= 8 {
	without = plain[$1, $5] - plain[$1, $3]
	slower[$1, $2] = ($6 - $4) / without
	once[$1, $2] = $4 - slower[$1, $2] * plain[$1, $3]
	# callgrind translates a program when it runs for the first time: that is in each second
	if (once[$1, $2] < 0)
		once[$1, $2] = 0
	bytes[$1, $2] = $7
	report[$1, $2] = $8
	for (i = 9; i <= NF; i++)
		name[$1, $2, i - 8] = $i
}

# How many of the five hottest callgrind has among its own.
function agree(program, profiler,    i, j, n) {
	for (i = 1; i <= 5; i++)
		for (j = 1; j <= 5; j++)
			n += name[program, profiler, i] != "" &&
			     name[program, profiler, i] == name[program, "callgrind", j]
	return n + 0
}

# What chance makes of a profiler that does nothing.
function noise(program,    part) {
	part = apart[program, MOST] - apart[program, LEAST]
	part /= plain[program, MOST] - plain[program, LEAST]
	return part < 0 ? -part : part
}

function row(a, b, c, d, e, f, g) {
	printf "%-10s  %12s  %9s  %9s  %9s  %9s  %s\n", a, b, c, d, e, f, g
}

function rule() {
	row("==========", "============", "=========", "=========", "=========",
	    "=========", "==================================")
}

function table(program,    i, who) {
	printf "%s: %.1f s, and %.2f %% apart when run again\n\n", title[program],
	       plain[program, MOST] / S, 100 * noise(program)
	rule()
	row("Profiler", "Slower", "Once", "File", "Report", "Top five", "Hottest function")
	rule()
	for (i = 1; i in order; i++) {
		who = order[i]
		row(who, sprintf("%+.2f %%", 100 * (slower[program, who] - 1)),
		    sprintf("%.2f s", once[program, who] / S), sprintf("%.0f kB", bytes[program, who] / 1024),
		    sprintf("%.2f s", report[program, who] / S),
		    agree(program, who) " of 5", "``" name[program, who, 1] "``")
	}
	rule()
	print ""
}

END {
	for (p = 1; p <= num; p++) {
		if (noise(programs[p]) > NOISE) {
			printf "tables.awk: the same work of %s takes %.1f %% more or less when it is done again: run compare.sh %s\n",
			       programs[p], 100 * noise(programs[p]), programs[p] >"/dev/stderr"
			exit 1
		}
		table(programs[p])
	}
	for (i = 1; i in order; i++) {
		if (!(order[i] in may))
			continue
		if (may[order[i]] == "yes")
			users = users (users ? ", " : "") order[i]
		else
			nobody = nobody (nobody ? ", " : "") order[i]
	}
	if (users)
		print "An ordinary user may use " users "; not " (nobody ? nobody : "these: none") "."
}
