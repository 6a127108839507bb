// SPDX-License-Identifier: GPL-2.0-only
/* Profiles of a spool, pushed to a server that takes them as Pyroscope does. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "http.h"
#include "push.h"
#include "say.h"
#include "session.h"
#include "tally.h"

#define NS 1000000000ULL
#define PUSHED ".pushed"	/* has the name of the last one */
#define TRIES 5			/* of a file, before the next interval */
#define WAIT_MAX 60		/* seconds */
#define BYTES_MAX ((off_t)64 << 20)

void push_last(int folder, char name[SPOOL_NAME])
{
	int fd = openat(folder, PUSHED, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	uint64_t time_ns;
	ssize_t n = fd < 0 ? 0 : read(fd, name, SPOOL_NAME - 1);

	name[n > 0 ? n : 0] = '\0';
	if (!spool_time(name, &time_ns))
		name[0] = '\0';
	if (fd >= 0)
		close(fd);
}

/* If that fails, it is pushed once more: the server sees the same profile again. */
static void set_last(int folder, const char *name)
{
	int fd = openat(folder, PUSHED ".new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	bool written;

	if (fd < 0)
		return;
	written = write(fd, name, strlen(name)) == (ssize_t)strlen(name);
	if (!close(fd) && written)
		renameat(folder, PUSHED ".new", folder, PUSHED);
}

/* To be freed; or NULL. */
static void *read_file(int folder, const char *name, size_t *length)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;
	char *bytes;
	ssize_t n;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) || st.st_size > BYTES_MAX)
		st.st_size = 0;
	bytes = allocated(malloc(st.st_size + 1));
	n = read(fd, bytes, st.st_size);
	close(fd);
	if (n > 0 && n == st.st_size) {
		*length = n;
		return bytes;
	}
	free(bytes);
	return NULL;
}

static char *make_url(const struct push *push, const struct spool_file *file)
{
	size_t length = strlen(push->url);
	char *name, *escaped, *url;

	while (length && push->url[length - 1] == '/')
		length--;
	if (asprintf(&name, "profil{%s}", push->labels) < 0)
		allocated(NULL);
	escaped = http_escape(name);
	if (asprintf(&url, "%.*s/ingest?name=%s&from=%" PRIu64 "&until=%" PRIu64
		     "&format=pprof&spyName=profil", (int)length, push->url, escaped,
		     (uint64_t)(file->time_ns / NS), (uint64_t)(file->end_ns / NS)) < 0)
		allocated(NULL);
	free(name);
	free(escaped);
	return url;
}

/* Is it of use to try again?  A redirection is none: it could lead credentials astray. */
static bool is_passing(long status)
{
	return !status || status == 408 || status == 429 || status >= 500;
}

/* Twice as long each time, and not at the same moment as all others. */
static void wait_for(const struct http_answer *answer, int try)
{
	long seconds = answer->retry_after ? answer->retry_after : 1L << try;

	if (seconds > WAIT_MAX)
		seconds = WAIT_MAX;
	usleep(seconds * 1000000 + random() % 1000000);
}

/* Returns whether the next file's turn has come. */
static bool push_file(const struct push *push, const struct spool_file *file, FILE *out)
{
	struct http_answer answer = { 0 };
	size_t length;
	char *bytes = read_file(push->spool->fd, file->name, &length);
	char *url;

	/* it was too old meanwhile, and counted where it was removed */
	if (!bytes)
		return true;
	url = make_url(push, file);
	for (int try = 0; try < TRIES; try++) {
		if (try)
			wait_for(&answer, try - 1);
		http_post(url, push->credentials, bytes, length, &answer);
		if (!is_passing(answer.status))
			break;
	}
	free(bytes);
	free(url);
	if (is_passing(answer.status)) {
		/* The file stays for the next time. */
		say("%s takes no profiles now (%ld%s%s); they wait in %s", push->url, answer.status,
		    answer.error[0] ? ": " : "", answer.error, push->spool->path);
		return false;
	}
	if (answer.status >= 200 && answer.status < 300) {
		fprintf(out, "%s 1\n", tally_names[TALLY_PUSHED]);
	} else {
		say("%s refuses profiles (%ld%s%s), which are not pushed again; look at its address and at the credentials",
		    push->url, answer.status, answer.error[0] ? ": " : "", answer.error);
		fprintf(out, "%s 1\n", tally_names[TALLY_REFUSED]);
	}
	fflush(out);
	set_last(push->spool->fd, file->name);
	return true;
}

void push_work(void *data, FILE *out)
{
	const struct push *push = data;
	struct spool_list list;
	char last[SPOOL_NAME];

	session_leave(NULL);
	srandom(getpid());
	push_last(push->spool->fd, last);
	if (!spool_read(push->spool->fd, &list))
		return;
	for (size_t i = 0; i < list.num; i++)
		if (strcmp(list.files[i].name, last) > 0 &&
		    !push_file(push, &list.files[i], out))
			break;
	free(list.files);
}
