// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "fetch.h"
#include "reader.h"
#include "sandbox.h"
#include "say.h"
#include "separate.h"

#define SECONDS_OF_CPU 60
#define SECONDS 180
#define FETCH_SECONDS "20"
#define FETCH_BYTES "1073741824"
#define MEMORY ((rlim_t)8 << 30)
#define TEXTS_MAX ((size_t)256 << 20)

int reader_ends = -1;

bool reader_ended(void)
{
	return poll(&(struct pollfd) { .fd = reader_ends, .events = POLLIN }, 1, 0) > 0;
}

static void limit(int resource, rlim_t most)
{
	struct rlimit now;

	if (getrlimit(resource, &now) || now.rlim_cur <= most)
		return;
	now.rlim_cur = most;
	setrlimit(resource, &now);
}

/* What any process has that is apart from the command. */
static void begin_apart(void)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGINT, SIG_DFL);	/* Ctrl-C goes on without this file */
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_CPU, SECONDS_OF_CPU);
#ifndef __SANITIZE_ADDRESS__
	limit(RLIMIT_DATA, MEMORY);
#endif
	alarm(SECONDS);
}

/* A server need not say how much it sends, and libdebuginfod believes what it says. */
static void limit_bytes(void)
{
	long long most = atoll(getenv("DEBUGINFOD_MAXSIZE"));

	signal(SIGXFSZ, SIG_IGN);	/* the file is then removed */
	if (most > 0)
		limit(RLIMIT_FSIZE, most);
}

/* The user may have set these; what takes more than this is not worth it. */
static _Noreturn void fetch_apart(int socket)
{
	begin_apart();
	setenv("DEBUGINFOD_TIMEOUT", FETCH_SECONDS, 0);
	setenv("DEBUGINFOD_MAXTIME", FETCH_SECONDS, 0);
	setenv("DEBUGINFOD_MAXSIZE", FETCH_BYTES, 0);
	limit_bytes();
	if (isatty(STDERR_FILENO))
		setenv("DEBUGINFOD_PROGRESS", "1", 0);
	fetch_serve(socket);
	_exit(0);
}

static _Noreturn void read_apart(int fd, reader_tell *tell, void *data, int out_fd)
{
	FILE *out = allocated(fdopen(out_fd, "w"));

	begin_apart();
	unsetenv("DEBUGINFOD_URLS");	/* libdwfl would ask itself */
	sandbox_enter();
	tell(data, fd, out);
	_exit(fflush(out) ? 1 : 0);
}

/* Before the reader, which will have what it asks by: 0 where nobody is to be asked. */
static pid_t start_fetching(bool fetch)
{
	const char *servers = getenv("DEBUGINFOD_URLS");
	int ends[2];
	pid_t pid;

	if (!fetch || !servers || !servers[0] ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return 0;
	pid = fork();
	if (!pid) {
		close(ends[0]);
		fetch_apart(ends[1]);
	}
	close(ends[1]);
	separate_fetcher = ends[0];
	return pid;
}

static pid_t start(int fd, reader_tell *tell, void *data, int *out)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	pid = fork();
	if (!pid)
		read_apart(fd, tell, data, ends[1]);
	close(ends[1]);
	*out = ends[0];
	return pid;
}

static void end(pid_t pid, int *status)
{
	while (waitpid(pid, status, 0) < 0 && errno == EINTR)
		;
}

static void end_fetching(pid_t pid)
{
	int status;

	if (pid > 0) {
		kill(pid, SIGKILL);
		end(pid, &status);
	}
	if (separate_fetcher >= 0)
		close(separate_fetcher);
	separate_fetcher = -1;
}

/* Waits for more to read.  False: it is not to be waited for. */
static bool comes(int fd)
{
	struct pollfd polled[] = {
		{ .fd = fd, .events = POLLIN }, { .fd = reader_ends, .events = POLLIN },
	};

	while (poll(polled, 2, -1) < 0 && errno == EINTR)
		;
	return !polled[1].revents;
}

/* All that comes, or NULL if that is too much, or too late. */
static char *read_texts(int fd, size_t *length)
{
	char *texts = NULL;
	size_t room = 0;
	ssize_t n = -1;

	*length = 0;
	do {
		if (!comes(fd))
			break;
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

static const char *failure(pid_t pid, int status)
{
	if (pid > 0 && WIFSIGNALED(status))
		return strsignal(WTERMSIG(status));
	return pid > 0 && !status ? NULL : "its reader failed";
}

void reader_run(int fd, bool fetch, reader_tell *tell, void *data, struct told *told)
{
	int out = -1, status = 0;
	size_t length = 0;
	pid_t fetcher, pid;

	*told = (struct told) { 0 };
	if (reader_ended()) {
		close(fd);
		return;
	}
	fetcher = start_fetching(fetch);
	pid = start(fd, tell, data, &out);
	close(fd);
	if (pid > 0) {
		told->texts = read_texts(out, &length);
		if (!told->texts)
			kill(pid, SIGKILL);
		end(pid, &status);
	}
	end_fetching(fetcher);
	close(out);
	told->next = told->texts;
	told->end = told->texts ? told->texts + length : NULL;
	told->failure = failure(pid, status);
}

const char *told_text(struct told *told)
{
	const char *text = told->next;
	const char *nul = text ? memchr(text, '\0', told->end - text) : NULL;

	told->next = nul ? nul + 1 : NULL;
	return nul ? text : NULL;
}

bool told_number(struct told *told, uint64_t *number)
{
	const char *text = told_text(told);
	char *end;

	if (!text || text[0] < '0' || text[0] > '9')
		return false;
	*number = strtoull(text, &end, 10);
	return !*end;
}

bool told_string(struct told *told, struct profile *profile, const char **string)
{
	const char *text = told_text(told);

	if (text)
		*string = profile_string(profile, text);
	return text;
}

void tell_text(FILE *out, const char *text)
{
	fputs(text, out);
	putc('\0', out);
}

void tell_number(FILE *out, uint64_t number)
{
	fprintf(out, "%" PRIu64, number);
	putc('\0', out);
}
