// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of places.  Files are read by a process of its own: one that is made to crash its
 * reader, or to keep it busy, costs its own names alone.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "file.h"
#include "names.h"
#include "say.h"

#define SECONDS_OF_CPU 60
#define SECONDS 180
#define FETCH_SECONDS "20"
#define MEMORY ((rlim_t)8 << 30)
#define TEXTS_MAX ((size_t)256 << 20)

static void limit(int resource, rlim_t most)
{
	struct rlimit now;

	if (getrlimit(resource, &now) || now.rlim_cur <= most)
		return;
	now.rlim_cur = most;
	setrlimit(resource, &now);
}

/* The user may have set these; what takes longer than this is not worth it. */
static void allow_fetching(bool fetch)
{
	if (!fetch)
		unsetenv("DEBUGINFOD_URLS");
	setenv("DEBUGINFOD_TIMEOUT", FETCH_SECONDS, 0);
	setenv("DEBUGINFOD_MAXTIME", FETCH_SECONDS, 0);
	if (isatty(STDERR_FILENO))
		setenv("DEBUGINFOD_PROGRESS", "1", 0);
}

static _Noreturn void reader(int fd, const char *path, bool fetch, const struct place *places,
			     size_t num, int out_fd)
{
	uint64_t *offsets = allocated(calloc(num + 1, sizeof(*offsets)));
	FILE *out = allocated(fdopen(out_fd, "w"));
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGINT, SIG_DFL);	/* Ctrl-C goes on without these names */
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_CPU, SECONDS_OF_CPU);
#ifndef __SANITIZE_ADDRESS__
	limit(RLIMIT_DATA, MEMORY);
#endif
	alarm(SECONDS);
	allow_fetching(fetch);
	for (size_t i = 0; i < num; i++)
		offsets[i] = places[i].address;
	file_tell(fd, path, offsets, num, out);
	_exit(fflush(out) ? 1 : 0);
}

/* All that comes, or NULL if that is too much. */
static char *read_texts(int fd, size_t *length)
{
	char *texts = NULL;
	size_t room = 0;
	ssize_t n;

	*length = 0;
	do {
		texts = more(texts, &room, *length + 1, 1);
		n = read(fd, texts + *length, room - *length);
		if (n > 0)
			*length += n;
	} while ((n > 0 && *length < TEXTS_MAX) || (n < 0 && errno == EINTR));
	if (!n)
		return texts;
	free(texts);
	return NULL;
}

struct texts_left {
	const char *next, *end;
};

/* The next text, or NULL: a reader that went astray may say anything. */
static const char *next_text(struct texts_left *left)
{
	const char *text = left->next;
	const char *nul = text ? memchr(text, '\0', left->end - text) : NULL;

	left->next = nul ? nul + 1 : NULL;
	return nul ? text : NULL;
}

static bool next_number(struct texts_left *left, uint64_t *number)
{
	const char *text = next_text(left);
	char *end;

	if (!text || text[0] < '0' || text[0] > '9')
		return false;
	*number = strtoull(text, &end, 10);
	return !*end;
}

static bool next_string(struct profile *profile, struct texts_left *left, const char **string)
{
	const char *text = next_text(left);

	if (text)
		*string = profile_string(profile, text);
	return text;
}

/* All of it but the lines, which come last. */
static bool take_names(struct profile *profile, struct texts_left *left, struct object *object,
		       struct place *places, size_t num)
{
	if (!next_string(profile, left, &object->build_id) ||
	    !next_number(left, &object->start) || !next_number(left, &object->limit) ||
	    !next_number(left, &object->offset))
		return false;
	for (size_t i = 0; i < num; i++)
		if (!next_number(left, &places[i].address) ||
		    !next_string(profile, left, &places[i].function) ||
		    !next_string(profile, left, &places[i].symbol))
			return false;
	return true;
}

static bool take_lines(struct profile *profile, struct texts_left *left, struct place *places,
		       size_t num)
{
	for (size_t i = 0; i < num; i++) {
		const char *source;
		uint64_t line;

		if (!next_string(profile, left, &source) || !next_number(left, &line))
			return false;
		places[i].source = source;
		places[i].line = line;
	}
	return true;
}

/* What there is without a reader: offsets for addresses, and no names. */
static void take_none(struct profile *profile, struct object *object, struct place *places,
		      const uint64_t *offsets, size_t num)
{
	const char *none = profile_string(profile, "");

	*object = (struct object) { .file = object->file, .build_id = none };
	for (size_t i = 0; i < num; i++)
		places[i] = (struct place) {
			.object = places[i].object, .address = offsets[i],
			.function = none, .symbol = none, .source = none,
		};
}

static pid_t start_reader(int fd, const char *path, bool fetch, const struct place *places,
			  size_t num, int *out)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	pid = fork();
	if (!pid)
		reader(fd, path, fetch, places, num, ends[1]);
	close(ends[1]);
	*out = ends[0];
	return pid;
}

void names_find(struct profile *profile, int fd, const char *path, bool fetch,
		struct object *object, struct place *places, size_t num)
{
	uint64_t *offsets = allocated(calloc(num + 1, sizeof(*offsets)));
	int out = -1, status = 0;
	size_t length = 0;
	char *texts = NULL;
	struct texts_left left;
	bool named;
	pid_t pid;

	for (size_t i = 0; i < num; i++)
		offsets[i] = places[i].address;
	pid = start_reader(fd, path, fetch, places, num, &out);
	close(fd);
	if (pid > 0) {
		texts = read_texts(out, &length);
		if (!texts)
			kill(pid, SIGKILL);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	close(out);
	left = (struct texts_left) { texts, texts ? texts + length : NULL };
	named = take_names(profile, &left, object, places, num);
	if (!named)
		take_none(profile, object, places, offsets, num);
	if (!named || !take_lines(profile, &left, places, num))
		say("%s could not be read for %s (%s); profil report shows its addresses", path,
		    named ? "lines" : "names",
		    WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "its reader failed");
	free(texts);
	free(offsets);
}
