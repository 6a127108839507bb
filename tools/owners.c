// SPDX-License-Identifier: GPL-2.0-only
/* Whose samples those of a row are. */
#define _GNU_SOURCE
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "owners.h"
#include "say.h"

#define LOOKED_AT 512	/* processes of a group, and threads of all of them, that are looked at */

struct owner owner_of_row(struct profile *profile, const struct profil_process *row, bool first,
			  struct units *units)
{
	struct owner owner = { .pid = first || units ? 0 : row->pid };
	const struct unit *unit;

	owner.program = profile_string(profile, first && !units ? "" : first ? OTHERS :
				       units && !row->comm[0] ? OTHER_PROGRAMS : row->comm);
	owner.unit = profile_string(profile, "");
	owner.container = owner.unit;
	if (!units)
		return owner;
	unit = units_find(units, row->cgroup);
	owner.unit = profile_string(profile, unit->unit);
	owner.container = profile_string(profile, unit->container);
	return owner;
}

struct owner *owners_make(struct profile *profile, const struct counts *table,
			  struct units *units)
{
	static const struct profil_process nobody;
	size_t num = table->num_processes ? table->num_processes : 1;
	struct owner *owners = allocated(calloc(num, sizeof(*owners)));

	for (size_t i = 0; i < num; i++)
		owners[i] = owner_of_row(profile, i ? &table->processes[i] : &nobody, !i, units);
	return owners;
}

/* How many threads of the process have been looked at, or none if one has the name. */
static size_t threads_without(unsigned int pid, const char *name)
{
	char pattern[64], comm[32];
	size_t num = 0;
	bool found = false;
	glob_t threads;

	snprintf(pattern, sizeof(pattern), "/proc/%u/task/*/comm", pid);
	if (glob(pattern, GLOB_NOSORT, NULL, &threads))
		return 1;	/* it has ended */
	for (; num < threads.gl_pathc && num < LOOKED_AT && !found; num++) {
		FILE *file = fopen(threads.gl_pathv[num], "re");

		if (file && fgets(comm, sizeof(comm), file)) {
			comm[strcspn(comm, "\n")] = '\0';
			found = !strcmp(comm, name);
		}
		if (file)
			fclose(file);
	}
	globfree(&threads);
	return found ? 0 : num + 1;
}

bool owner_is_alone(struct units *units, const struct profil_process *row)
{
	char *group = row->comm[0] ? units_path(units, row->cgroup) : NULL, *path;
	size_t looked = 0, threads = 1;
	unsigned int pid;
	bool is_there = false;
	FILE *file;

	if (!group)
		return false;
	if (asprintf(&path, "%s/cgroup.procs", group) < 0)
		allocated(NULL);
	file = fopen(path, "re");
	while (file && threads && looked < LOOKED_AT && fscanf(file, "%u", &pid) == 1) {
		is_there = is_there || pid == row->pid;
		if (pid != row->pid)
			threads = threads_without(pid, row->comm);
		looked += threads;
	}
	if (file)
		fclose(file);
	free(path);
	free(group);
	return is_there && threads && looked < LOOKED_AT;
}
