// SPDX-License-Identifier: GPL-2.0-only
/* Profiles of a spool, pushed to a server that takes them as Pyroscope does. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "http.h"
#include "push.h"
#include "say.h"
#include "session.h"
#include "tally.h"

#define NS 1000000000ULL
#define PUSHED ".pushed"	/* of 0.9: has the name of the last one */
#define TRIES 5			/* of a file, before the next interval */
#define WAIT_MAX 60		/* seconds */
#define BYTES_MAX (64U << 20)

void push_begin(int folder)
{
	int fd = openat(folder, PUSHED, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char last[SPOOL_NAME] = "";
	uint64_t time_ns;
	struct spool_list list;

	if (fd < 0)
		return;
	if (read(fd, last, sizeof(last) - 1) > 0 && spool_time(last, &time_ns) &&
	    spool_read(folder, &list)) {
		for (size_t i = 0; i < list.num && strcmp(list.files[i].name, last) <= 0; i++)
			spool_set_pushed(folder, &list.files[i]);
		free(list.files);
	}
	close(fd);
	unlinkat(folder, PUSHED, 0);
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
	if (fstat(fd, &st))
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

/* Twice as long each time, and not at the same moment as all other machines. */
static void wait_for(const struct http_answer *answer, int try)
{
	/* a date that is over by this machine's clock is below 0 in some versions of the library */
	long seconds = answer->retry_after > 0 ? answer->retry_after : 1L << try;

	if (seconds > WAIT_MAX)
		seconds = WAIT_MAX;
	usleep(seconds * 1000000 + random() % (seconds * 1000000));
}

/* And does not push the file again. */
static void count(const struct push *push, const struct spool_file *file, enum tally tally,
		  FILE *out)
{
	fprintf(out, "%s 1\n", tally_names[tally]);
	fflush(out);
	if (!spool_set_pushed(push->spool->fd, file))
		say("that a profile was pushed cannot be kept in %s: %m; it is pushed again each time: name a folder of another file system with -o",
		    push->spool->path);
}

/* Returns whether the next file's turn has come. */
static bool push_file(const struct push *push, const struct spool_file *file, FILE *out)
{
	struct http_answer answer = { 0 };
	size_t length;
	char *bytes, *url;

	if (file->size > BYTES_MAX) {
		say("a profile in %s has more than %u MB, and is not pushed; give profil watch a shorter --every",
		    push->spool->path, BYTES_MAX >> 20);
		count(push, file, TALLY_REFUSED, out);
		return true;
	}
	bytes = read_file(push->spool->fd, file->name, &length);
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
		count(push, file, TALLY_PUSHED, out);
	} else {
		say("%s refuses profiles (%ld%s%s), which are not pushed again; look at its address and at the credentials",
		    push->url, answer.status, answer.error[0] ? ": " : "", answer.error);
		count(push, file, TALLY_REFUSED, out);
	}
	return true;
}

void push_work(void *data, FILE *out)
{
	const struct push *push = data;
	struct spool_list list;
	unsigned int seed = getpid();

	session_leave(NULL);
	/* a pid is the same in many containers */
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) < 0)
		seed ^= time(NULL);
	srandom(seed);
	if (!spool_read(push->spool->fd, &list))
		return;
	for (size_t i = 0; i < list.num; i++)
		if (!spool_pushed(&list.files[i]) && !push_file(push, &list.files[i], out))
			break;
	free(list.files);
}
