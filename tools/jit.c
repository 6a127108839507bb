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
#include "order.h"
#include "say.h"

#define BYTES_MAX ((off_t)256 << 20)

/* Only of who owns the profile, or of root: anybody can write to /tmp. */
static int open_map(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= BYTES_MAX &&
	    (st.st_uid == geteuid() || st.st_uid == 0))
		return fd;
	close(fd);
	return -1;
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
static int find_map(int64_t pid)
{
	char path[96];
	int map;

	/* root is a link to what the process has for one */
	snprintf(path, sizeof(path), "/proc/%" PRId64 "/%s/tmp/perf-%" PRId64 ".map", pid, "root",
		 own_pid(pid));
	map = open_map(path);
	if (map >= 0)
		return map;
	snprintf(path, sizeof(path), "/tmp/perf-%" PRId64 ".map", pid);
	return open_map(path);
}

/* All of it, but no more than that: it may grow as fast as it is read.  To be freed. */
static char *read_map(int map, size_t *length)
{
	char *text = NULL;
	size_t room = 0;
	ssize_t n;

	*length = 0;
	do {
		text = more(text, &room, *length + 1, 1);
		n = read(map, text + *length, room - *length - 1);
		if (n > 0)
			*length += n;
	} while (n > 0 && *length < (size_t)BYTES_MAX);
	text[*length] = '\0';
	return text;
}

/* Places, and of each the next one without a name, from itself on: none is looked at twice. */
struct naming {
	struct place *places;
	size_t *next;
	size_t num;
};

static size_t unnamed_from(struct naming *naming, size_t i)
{
	size_t *next = naming->next;

	while (next[i] != i) {
		next[i] = next[next[i]];
		i = next[i];
	}
	return i;
}

/* A line "START SIZE NAME". */
static void take_line(struct profile *profile, const char *line, struct naming *naming)
{
	struct place *places = naming->places;
	char *rest, *name;
	uint64_t start = strtoull(line, &rest, 16), size = strtoull(rest, &name, 16);
	size_t first;

	name += strspn(name, " \t");
	if (rest == line || name == rest || !name[0])
		return;
	first = start ? UP_TO(places, naming->num, address, start - 1) : 0;
	for (size_t i = unnamed_from(naming, first);
	     i < naming->num && places[i].address - start < size; i = unnamed_from(naming, i)) {
		places[i].function = profile_string(profile, name);
		places[i].symbol = places[i].function;
		naming->next[i] = i + 1;
	}
}

/* From the last line to the first: later ones are of later code, and hide earlier ones. */
static void take_lines(struct profile *profile, char *text, size_t length, struct naming *naming)
{
	while (length && unnamed_from(naming, 0) < naming->num) {
		char *feed = memrchr(text, '\n', length);

		take_line(profile, feed ? feed + 1 : text, naming);
		length = feed ? feed - text : 0;
		text[length] = '\0';
	}
}

void jit_find(struct profile *profile, int64_t pid, struct place *places, size_t num)
{
	struct naming naming = { .places = places, .num = num };
	int map = find_map(pid);
	size_t length;
	char *text;

	if (map < 0)
		return;
	text = read_map(map, &length);
	close(map);
	naming.next = allocated(calloc(num + 1, sizeof(*naming.next)));
	for (size_t i = 0; i <= num; i++)
		naming.next[i] = i;
	take_lines(profile, text, length, &naming);
	free(naming.next);
	free(text);
}
