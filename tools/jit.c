// SPDX-License-Identifier: GPL-2.0-only
/* Names for code that a process has made. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "jit.h"
#include "say.h"

#define BYTES_MAX ((off_t)256 << 20)

/* Only of who owns the profile, or of root: anybody can write to /tmp. */
static FILE *open_map(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= BYTES_MAX &&
	    (st.st_uid == geteuid() || st.st_uid == 0))
		return allocated(fdopen(fd, "r"));
	close(fd);
	return NULL;
}

/* The number that the process itself has for its pid: that of the innermost namespace. */
static int64_t own_pid(int64_t pid)
{
	char path[64], *line = NULL, *last;
	int64_t own = pid;
	size_t room = 0;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%" PRId64 "/status", pid);
	status = fopen(path, "re");
	if (!status)
		return pid;
	while (getline(&line, &room, status) > 0)
		if (!strncmp(line, "NSpid:", 6)) {
			last = strrchr(line, '\t');
			own = last ? atoll(last) : pid;
		}
	free(line);
	fclose(status);
	return own;
}

/* While the process is there, in its own mount namespace, and afterwards in ours. */
static FILE *find_map(int64_t pid)
{
	char path[96];
	FILE *map;

	/* root is a link to what the process has for one */
	snprintf(path, sizeof(path), "/proc/%" PRId64 "/%s/tmp/perf-%" PRId64 ".map", pid, "root",
		 own_pid(pid));
	map = open_map(path);
	if (map)
		return map;
	snprintf(path, sizeof(path), "/tmp/perf-%" PRId64 ".map", pid);
	return open_map(path);
}

static size_t first_from(const struct place *places, size_t num, uint64_t address)
{
	size_t low = 0, high = num;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (places[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A line "START SIZE NAME".  Later ones are of later code, and replace earlier ones. */
static void take_line(struct profile *profile, const char *line, struct place *places, size_t num)
{
	uint64_t start, size;
	int name = 0;

	if (sscanf(line, "%" SCNx64 " %" SCNx64 " %n", &start, &size, &name) != 2 || !line[name])
		return;
	for (size_t i = first_from(places, num, start);
	     i < num && places[i].address - start < size; i++) {
		places[i].function = profile_string(profile, line + name);
		places[i].symbol = places[i].function;
	}
}

void jit_find(struct profile *profile, int64_t pid, struct place *places, size_t num)
{
	FILE *map = find_map(pid);
	char *line = NULL;
	size_t room = 0;

	if (!map)
		return;
	while (getline(&line, &room, map) > 0) {
		line[strcspn(line, "\n")] = '\0';
		take_line(profile, line, places, num);
	}
	free(line);
	fclose(map);
}
