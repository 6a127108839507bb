// SPDX-License-Identifier: GPL-2.0-only
/* Whose samples those of a row are. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
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

static bool has_name(int threads, const char *thread, const char *name)
{
	char path[64], comm[32];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "%.32s/comm", thread);
	fd = openat(threads, path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, comm, sizeof(comm) - 1);
		close(fd);
	}
	comm[n > 0 ? n : 0] = '\0';
	comm[strcspn(comm, "\n")] = '\0';
	return n > 0 && !strcmp(comm, name);
}

/* Whether a thread of the process has the name; no more than LOOKED_AT are looked at. */
static bool has_thread(unsigned int pid, const char *name, size_t *looked)
{
	struct dirent *thread;
	bool found = false;
	char path[64];
	DIR *threads;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	threads = opendir(path);
	if (!threads)
		return false;	/* it has ended */
	while (!found && *looked < LOOKED_AT && (thread = readdir(threads))) {
		if (thread->d_name[0] == '.')
			continue;
		found = has_name(dirfd(threads), thread->d_name, name);
		++*looked;
	}
	closedir(threads);
	return found;
}

bool owner_is_alone(struct units *units, const struct profil_process *row, size_t *looks)
{
	char *group = *looks && row->comm[0] ? units_path(units, row->cgroup) : NULL, *path;
	bool is_there = false, others = false;
	unsigned int pid;
	size_t looked = 0;
	FILE *file;

	if (!group)
		return false;
	if (asprintf(&path, "%s/cgroup.procs", group) < 0)
		allocated(NULL);
	file = fopen(path, "re");
	while (file && !others && looked < LOOKED_AT && fscanf(file, "%u", &pid) == 1) {
		is_there = is_there || pid == row->pid;
		others = pid != row->pid && has_thread(pid, row->comm, &looked);
		looked++;
	}
	if (file)
		fclose(file);
	free(path);
	free(group);
	*looks -= looked < *looks ? looked : *looks;
	return is_there && !others && looked < LOOKED_AT;
}
