// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "apart.h"
#include "clock.h"
#include "debuginfod.h"
#include "fetch.h"
#include "reader.h"
#include "sandbox.h"
#include "say.h"
#include "separate.h"

#define SECONDS 180
#define GRACE 2			/* more seconds, for one that its own timer does not end */
#define FETCH_SECONDS "20"
#define FETCH_BYTES "1073741824"
#define FILE_BYTES ((rlim_t)128 << 20)
#define TEXTS_MAX ((size_t)256 << 20)

int reader_ends = -1;
bool reader_has_asked;

bool reader_ended(void)
{
	return poll(&(struct pollfd) { .fd = reader_ends, .events = POLLIN }, 1, 0) > 0;
}

/* A server need not say how much it sends, and libdebuginfod believes what it says. */
static void limit_bytes(void)
{
	long long most = atoll(getenv("DEBUGINFOD_MAXSIZE"));

	signal(SIGXFSZ, SIG_IGN);	/* the file is then removed */
	if (most > 0)
		apart_limit(RLIMIT_FSIZE, most);
}

/* The user may have set these; what takes more than this is not worth it. */
static _Noreturn void fetch_apart(int socket)
{
	int kept[] = { STDERR_FILENO, socket };

	apart_begin(kept, 2, SECONDS);
	setenv("DEBUGINFOD_TIMEOUT", FETCH_SECONDS, 0);
	setenv("DEBUGINFOD_MAXTIME", FETCH_SECONDS, 0);
	setenv("DEBUGINFOD_MAXSIZE", FETCH_BYTES, 0);
	limit_bytes();
	if (isatty(STDERR_FILENO))
		setenv("DEBUGINFOD_PROGRESS", "1", 0);
	fetch_serve(socket);
	_exit(0);
}

static _Noreturn void read_apart(int fd, struct reader_how how, reader_tell *tell, void *data,
				 int out_fd)
{
	FILE *out = allocated(fdopen(out_fd, "w"));
	int kept[] = {
		fd, out_fd, separate_fetcher, how.also ? how.also : -1,
#ifdef __SANITIZE_ADDRESS__
		STDERR_FILENO,	/* what it finds is to be seen */
#endif
	};

	apart_begin(kept, sizeof(kept) / sizeof(*kept), how.seconds);
	apart_limit(RLIMIT_FSIZE, FILE_BYTES);
	unsetenv("DEBUGINFOD_URLS");	/* libdwfl would ask itself */
	sandbox_enter();
	tell(data, fd, out);
	_exit(fflush(out) ? 1 : 0);
}

/* Before the reader, which will have what it asks by: 0 where nobody is to be asked. */
static pid_t start_fetching(bool fetch)
{
	int ends[2];
	pid_t pid;

	if (!fetch || !debuginfod_servers() ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return 0;
	pid = fork();
	if (!pid) {
		close(ends[0]);
		fetch_apart(ends[1]);
	}
	close(ends[1]);
	separate_fetcher = ends[0];
	reader_has_asked = true;
	return pid;
}

static pid_t start(int fd, struct reader_how how, reader_tell *tell, void *data, int *out)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	pid = fork();
	if (!pid)
		read_apart(fd, how, tell, data, ends[1]);
	close(ends[1]);
	*out = ends[0];
	return pid;
}

/* By then it has ended, or is killed; and who cannot even be killed is not waited for. */
static void end(pid_t pid, int *status, double until)
{
	bool killed = false;

	while (!waitpid(pid, status, WNOHANG)) {
		if (clock_now() > until) {
			*status = SIGKILL;
			if (killed)
				break;
			kill(pid, SIGKILL);
			killed = true;
			until = clock_now() + GRACE;
		}
		usleep(100);
	}
}

static void end_fetching(pid_t pid)
{
	int status;

	if (pid > 0)
		end(pid, &status, 0);
	if (separate_fetcher >= 0)
		close(separate_fetcher);
	separate_fetcher = -1;
}

/* All that comes, or NULL if that is too much, or not there in time, or not to be waited for. */
static char *read_texts(int fd, size_t *length, double until)
{
	struct pollfd polled[] = {
		{ .fd = fd, .events = POLLIN }, { .fd = reader_ends, .events = POLLIN },
	};
	char *texts = NULL;
	size_t room = 0;
	ssize_t n = -1;

	*length = 0;
	while (n && *length < TEXTS_MAX) {
		double left = until - clock_now();

		if (left <= 0)
			break;
		polled[0].revents = 0;
		polled[1].revents = 0;
		poll(polled, 2, left * 1000 + 1);
		if (polled[1].revents)
			break;
		if (!polled[0].revents)
			continue;
		texts = more(texts, &room, *length + 1, 1);
		n = read(fd, texts + *length, room - *length);
		if (n > 0)
			*length += n;
	}
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

/* Not what its bytes do to who reads them, now and each time again. */
static bool passes(pid_t pid, int status)
{
	static const int lasting[] = {
		SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGXCPU, SIGALRM,
	};

	for (size_t i = 0; i < sizeof(lasting) / sizeof(*lasting); i++)
		if (pid > 0 && WIFSIGNALED(status) && WTERMSIG(status) == lasting[i])
			return false;
	return true;
}

void reader_run(int fd, struct reader_how how, reader_tell *tell, void *data, struct told *told)
{
	int out = -1, status = 0;
	size_t length = 0;
	pid_t fetcher, pid;
	double until;

	*told = (struct told) { .passes = true };
	if (reader_ended()) {
		close(fd);
		return;
	}
	how.seconds = how.seconds > 0 ? how.seconds : SECONDS;
	until = clock_now() + how.seconds + GRACE;
	fetcher = start_fetching(how.fetch);
	pid = start(fd, how, tell, data, &out);
	close(fd);
	if (pid > 0) {
		told->texts = read_texts(out, &length, until);
		end(pid, &status, told->texts ? until : 0);
	}
	end_fetching(fetcher);
	close(out);
	told->next = told->texts;
	told->end = told->texts ? told->texts + length : NULL;
	told->failure = failure(pid, status);
	told->passes = passes(pid, status);
}
