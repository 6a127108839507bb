# SPDX-License-Identifier: GPL-2.0-only
# awk -f paper.awk: what was measured, and what follows from it for machines that were not.

BEGIN {
	CPUS = 256
	HZ = 250
	LINE = 100	# ns that a line of the cache is on its way from CPU to CPU
	RATE = 10000	# of the timer source
	SLOTS = 65536
	ROWS = 4096
	MEMBERS = 1024	# max_profiles_user
}

{
	gsub("\r", "")
	print
	value[$1] = $2
}

# What does not follow from what was measured is left out.
function row(name, number) {
	if (number > 0)
		printf "%s %.0f 1\n", name, number
}

# What @name is with CPUS, by what it is with two numbers of them.
function grown(name, few, many) {
	if (!((name ".2") in value && (name ".16") in value))
		return 0
	few = value[name ".2"]
	many = value[name ".16"]
	return many + (many - few) / 14 * (CPUS - 16)
}

function share(name, bytes) {
	row("board.share." name, bytes * 1000 / value["board.usual.machine"])
}

END {
	row("server.ticks", CPUS * HZ)
	row("server.adds", CPUS * HZ * value["adds.steady.member"] / 1000)
	row("server.wait", (CPUS - 1) / 2 * LINE * 2 * HZ / 1000)
	row("server.full", SLOTS * 1000 / (CPUS * HZ))
	row("server.lock", (CPUS - 1) * 2 * LINE / 1000)
	row("server.timer.samples", CPUS * RATE)
	row("server.timer.row", CPUS * RATE * LINE / 1000)
	row("server.timer.line", 1000000000 / (CPUS * RATE))
	row("server.rows", ROWS * 1000 / (CPUS * 10))
	row("server.programs", MEMBERS / value["programs.held"] * 1000000000 / value["programs.taken"])
	row("server.watch", grown("memory.watch"))
	row("server.profile", grown("memory.profile"))
	row("server.profiles", MEMBERS * grown("memory.profile"))
	share("run", value["memory.run"])
	share("watch", value["memory.watch.1"])
	share("usual", value["board.usual.memory"])
	share("most", value["board.most.memory"])
}
