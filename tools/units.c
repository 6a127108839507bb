// SPDX-License-Identifier: GPL-2.0-only
/*
 * Control groups by their numbers, which are those of the inodes of their folders: a walk
 * over the unified hierarchy finds them, and what it has found is remembered.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "counts.h"
#include "order.h"
#include "say.h"
#include "units.h"

#define GROUPS_MAX 16384	/* that are remembered, */
#define WALK_MAX 65536		/* folders of a walk, */
#define DEPTH_MAX 64		/* and how deep it goes */

/* A group that a walk has found, or that it did not find. */
struct group {
	uint64_t id;
	char *path;		/* from the mount on; NULL: it had ended */
	unsigned long walk;	/* that found it last, or after which it was asked for */
};

struct units {
	char *mount;		/* of the hierarchy; NULL: there is none */
	struct group *groups;	/* by number */
	size_t num, room;
	size_t sorted;		/* of them; the others were found by the walk that goes on */
	size_t rows;		/* of the session, that were looked at */
	unsigned long walks;
	size_t left;		/* folders that the walk may still look into */
	struct unit unit;	/* of the group that was asked for last */
};

/* As the kernel has it in /proc: \040 is a space. */
static void unescape(char *text)
{
	char *to = text;
	unsigned int byte;

	for (const char *from = text; *from; to++) {
		if (from[0] == '\\' && sscanf(from + 1, "%3o", &byte) == 1) {
			*to = byte;
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

/* The first place where the unified hierarchy is mounted. */
static char *find_mount(void)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	char *line = NULL, *path = NULL, *rest;
	size_t room = 0;

	while (file && !path && getline(&line, &room, file) > 0) {
		rest = strstr(line, " - ");
		if (!rest || strncmp(rest, " - cgroup2 ", 11))
			continue;
		if (sscanf(line, "%*s %*s %*s %*s %ms", &path) == 1)
			unescape(path);
	}
	free(line);
	if (file)
		fclose(file);
	return path;
}

struct units *units_make(void)
{
	struct units *units = allocated(calloc(1, sizeof(*units)));

	units->mount = find_mount();
	return units;
}

static void forget(struct units *units, size_t from)
{
	for (size_t i = from; i < units->num; i++)
		free(units->groups[i].path);
	if (from < units->num)
		units->num = from;
}

void units_free(struct units *units)
{
	forget(units, 0);
	free(units->groups);
	free(units->mount);
	free(units);
}

void units_begin(struct units *units)
{
	units->rows = 0;
}

static int by_id(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	return compare_numbers(x->id, y->id) ?: !x->path - !y->path;
}

/* What was not seen for the longest time comes last. */
static int by_walk(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	return compare_numbers(y->walk, x->walk) ?: by_id(a, b);
}

static struct group *find(const struct units *units, uint64_t id)
{
	size_t low = 0, high = units->sorted;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (units->groups[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < units->sorted && units->groups[low].id == id ? &units->groups[low] : NULL;
}

/* Leaves one of each. */
static void sort(struct units *units)
{
	size_t num = 0;

	if (units->num > GROUPS_MAX) {
		qsort(units->groups, units->num, sizeof(*units->groups), by_walk);
		forget(units, GROUPS_MAX / 2);
	}
	if (units->num)
		qsort(units->groups, units->num, sizeof(*units->groups), by_id);
	for (size_t i = 0; i < units->num; i++) {
		if (num && units->groups[num - 1].id == units->groups[i].id)
			free(units->groups[i].path);
		else
			units->groups[num++] = units->groups[i];
	}
	units->num = num;
	units->sorted = num;
}

static void add_group(struct units *units, uint64_t id, const char *path)
{
	struct group *group = find(units, id);

	/* it was not there when somebody asked: the walk began too early, or gave up */
	if (group && !group->path && path)
		group->path = allocated(strdup(path));
	if (group) {
		group->walk = units->walks;
		return;
	}
	units->groups = more(units->groups, &units->room, units->num, sizeof(*group));
	units->groups[units->num++] = (struct group) {
		.id = id, .path = path ? allocated(strdup(path)) : NULL, .walk = units->walks,
	};
}

/* Who may make groups may give them names that begin with a dot. */
static bool is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

/* All folders below one that is open, which this closes.  @path has room. */
static void walk(struct units *units, int fd, char *path, size_t length, int depth)
{
	DIR *folder = fdopendir(fd);
	struct dirent *entry;

	if (!folder)
		close(fd);
	while (folder && units->left && (entry = readdir(folder))) {
		size_t more = strlen(entry->d_name) + 1;
		int child;

		if (entry->d_type != DT_DIR || is_dots(entry->d_name) || depth == DEPTH_MAX ||
		    length + more >= PATH_MAX)
			continue;
		path[length] = '/';
		strcpy(path + length + 1, entry->d_name);
		units->left--;
		add_group(units, entry->d_ino, path);
		child = openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		if (child >= 0)
			walk(units, child, path, length + more, depth + 1);
	}
	if (folder)
		closedir(folder);
}

static void walk_all(struct units *units)
{
	char *path = allocated(malloc(PATH_MAX));
	struct stat st;
	int fd = units->mount ? open(units->mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	units->walks++;
	units->left = WALK_MAX;
	if (fd >= 0 && !fstat(fd, &st))
		add_group(units, st.st_ino, "/");
	if (fd >= 0)
		walk(units, fd, path, 0, 0);
	free(path);
	sort(units);
}

void units_read(struct units *units, const struct session *session)
{
	size_t rows = counts_num_processes(session), walked = units->walks;

	for (; units->rows < rows; units->rows++) {
		struct profil_process row;
		struct group *group;

		counts_process(session, units->rows, &row);
		if (!row.cgroup)
			continue;
		group = find(units, row.cgroup);
		if (!group && walked == units->walks) {
			walk_all(units);
			group = find(units, row.cgroup);
		}
		if (group)
			group->walk = units->walks;
		else
			add_group(units, row.cgroup, NULL);
	}
	if (units->num > units->sorted)
		sort(units);
}

const struct unit *units_find(struct units *units, uint64_t id)
{
	struct unit *unit = &units->unit;
	const struct group *group = find(units, id);

	memset(unit, 0, sizeof(*unit));
	if (!id)
		strcpy(unit->unit, "[others]");
	else if (group && group->path)
		unit_of(group->path, unit);
	else
		snprintf(unit->unit, sizeof(unit->unit), "[ended group %" PRIu64 "]", id);
	return unit;
}

char *units_path(struct units *units, uint64_t id)
{
	const struct group *group = find(units, id);
	char *path;

	if (!group || !group->path || !units->mount)
		return NULL;
	if (asprintf(&path, "%s%s", units->mount, group->path) < 0)
		allocated(NULL);
	return path;
}
