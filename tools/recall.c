// SPDX-License-Identifier: GPL-2.0-only
/* The profiles of a folder of profil watch, by time. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "order.h"
#include "recall.h"
#include "say.h"
#include "spool.h"
#include "store.h"
#include "when.h"

enum { KEY_SINCE = 4096, KEY_UNTIL };

#define NS 1000000000ULL
#define FILES_MAX 3000	/* of a span, two days of minutes: each is a run of its own */
#define SAMPLES_MIN 100000	/* fewer need not be added up before the end */

static const struct argp_option options[] = {
	{ "since", KEY_SINCE, "TIME", 0,
	  "Of a folder of profil watch, show what was from then on: '2 hours ago', '02:00'", 0 },
	{ "until", KEY_UNTIL, "TIME", 0, "Of such a folder, show what was before", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct recall *recall = state->input;
	uint64_t *wanted = key == KEY_SINCE ? &recall->since_ns : &recall->until_ns;

	if (key != KEY_SINCE && key != KEY_UNTIL)
		return ARGP_ERR_UNKNOWN;
	if (!when_parse(arg, time(NULL), wanted))
		argp_error(state, "--%s takes " WHEN_FORMS ", and was given %s",
			   key == KEY_SINCE ? "since" : "until", arg);
	return 0;
}

const struct argp recall_argp = { options, parse, NULL, NULL, NULL, NULL, NULL };

bool recall_is_folder(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static void format(uint64_t time_ns, char text[32])
{
	time_t seconds = time_ns / NS;
	struct tm tm;

	localtime_r(&seconds, &tm);
	strftime(text, 32, "%Y-%m-%d %H:%M:%S", &tm);
}

static _Noreturn void nothing(const char *folder, const struct spool_list *list)
{
	char first[32], last[32];

	if (!list->num)
		die("there is no profile in %s; profil watch writes some, and profil check says whether it runs",
		    folder);
	format(list->files[0].time_ns, first);
	format(list->files[list->num - 1].end_ns, last);
	die("there is no profile of that time in %s, whose first one begins at %s and whose last one ends at %s",
	    folder, first, last);
}

/* Leaves those that have a part of the time. */
static void find(const char *folder, const struct recall *recall, struct spool_list *list)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t num = 0, first = 0;

	if (recall->until_ns && recall->since_ns >= recall->until_ns)
		die("a span of time ends before it begins; give an earlier begin");
	if (fd < 0 || !spool_read(fd, list))
		die("the folder %s cannot be read: %s; name another one, or ask as root", folder,
		    strerror(errno));
	close(fd);
	while (first + num < list->num) {
		const struct spool_file *file = &list->files[first + num];

		if (!num && file->end_ns <= recall->since_ns) {
			first++;
			continue;
		}
		if (recall->until_ns && file->time_ns >= recall->until_ns)
			break;
		num++;
	}
	if (!num)
		nothing(folder, list);
	memmove(list->files, list->files + first, num * sizeof(*list->files));
	list->num = num;
}

static char *path_of(const char *folder, const struct spool_file *file)
{
	char *path;

	if (asprintf(&path, "%s/%s", folder, file->name) < 0)
		allocated(NULL);
	return path;
}

/* All runs together are one; what is the same in two of them becomes one. */
static void join_runs(struct profile *profile)
{
	for (size_t i = 0; i < profile->num_samples; i++) {
		profile->samples[i].run = 0;
		profile->samples[i].at_ns = 0;
	}
	profile->num_runs = 1;
	profile->runs[0] = (struct run) { .to_ns = profile->duration_ns };
	profile_order(profile);
}

void recall_read(const struct recall *recall, struct profile *profile, const char *folder)
{
	struct spool_list list;
	size_t most = SAMPLES_MIN;

	find(folder, recall, &list);
	for (size_t i = 0; i < list.num; i++) {
		char *path = path_of(folder, &list.files[i]);

		/* it may have become too old by now */
		if (!access(path, F_OK))
			store_read(profile, path);
		free(path);
		if (profile->num_samples < most)
			continue;
		join_runs(profile);
		most = 2 * profile->num_samples + SAMPLES_MIN;
	}
	free(list.files);
	if (profile->num_runs)
		join_runs(profile);
}

static void parse_span(char *text, char *dots, struct recall *recall)
{
	time_t now = time(NULL);
	char *to = dots + strlen("..");

	*dots = '\0';
	*recall = (struct recall) { 0 };
	if ((text[0] && !when_parse(text, now, &recall->since_ns)) ||
	    (to[0] && !when_parse(to, now, &recall->until_ns)) || (!text[0] && !to[0]))
		die("%s..%s is neither a file nor a span of time: times are " WHEN_FORMS, text, to);
}

/* Adds a file, or those of a span; returns how many. */
static size_t expand(const char *folder, char *file, char ***files, size_t *num, size_t *room)
{
	char *dots = access(file, F_OK) ? strstr(file, "..") : NULL;
	size_t before = *num;
	struct spool_list list;
	struct recall recall;

	if (!dots) {
		*files = more(*files, room, *num, sizeof(**files));
		(*files)[(*num)++] = allocated(strdup(file));
		return 1;
	}
	parse_span(file, dots, &recall);
	find(folder, &recall, &list);
	if (list.num > FILES_MAX)
		die("%s..%s has %zu intervals, and %d can be compared; give shorter spans", file,
		    dots + strlen(".."), list.num, FILES_MAX);
	for (size_t i = 0; i < list.num; i++) {
		*files = more(*files, room, *num, sizeof(**files));
		(*files)[(*num)++] = path_of(folder, &list.files[i]);
	}
	free(list.files);
	return *num - before;
}

void recall_free(char **files, const size_t num[2])
{
	for (size_t i = 0; i < num[0] + num[1]; i++)
		free(files[i]);
	free(files);
}

char **recall_expand(const char *folder, char *const *files, size_t num[2])
{
	char **expanded = NULL;
	size_t all = 0, room = 0, next = 0;

	for (int side = 0; side < 2; side++) {
		size_t wanted = num[side];

		num[side] = 0;
		for (size_t i = 0; i < wanted; i++)
			num[side] += expand(folder, files[next++], &expanded, &all, &room);
	}
	return expanded;
}
