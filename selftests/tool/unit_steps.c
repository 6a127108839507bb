// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads words, one a line, and does what they say with the groups of a session that fake.c
 * makes; after each of them it says one line.
 *
 *   rows N	from here on the session has so many rows
 *   read	looks for the groups of its rows
 *   find ID	says the unit and the container of a group
 *   strict	looks again, and is killed if it makes a system call
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <linux/seccomp.h>
#include <unistd.h>
#include "counts.h"
#include "units.h"

size_t __real_counts_num_processes(const struct session *session);
size_t __wrap_counts_num_processes(const struct session *session);

static size_t rows;

size_t __wrap_counts_num_processes(const struct session *session)
{
	size_t all = __real_counts_num_processes(session);

	return rows < all ? rows : all;
}

static void find(struct units *units, uint64_t id)
{
	const struct unit *unit = units_find(units, id);
	char *path = units_path(units, id);

	printf("%s %s %s\n", unit->unit, unit->container[0] ? unit->container : "-",
	       path ? path : "-");
	free(path);
}

int main(void)
{
	const struct session_wish wish = { .system = true };
	struct session *session = session_open(&wish);
	struct units *units = units_make();
	uint64_t number;
	char line[128];

	setvbuf(stdout, NULL, _IONBF, 0);
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "find %" SCNu64, &number) == 1) {
			find(units, number);
			continue;
		}
		if (sscanf(line, "rows %" SCNu64, &number) == 1)
			rows = number;
		else if (!strcmp(line, "read\n"))
			units_read(units, session);
		if (strcmp(line, "strict\n")) {
			puts("ok");
			continue;
		}
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
		units_read(units, session);
		/* the other one is not allowed */
		syscall(SYS_exit, 0);
	}
	units_free(units);
	session_close(session);
	return 0;
}
