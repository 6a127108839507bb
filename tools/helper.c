// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "helper.h"
#include "say.h"

/* The terminal is the screen's: nothing of this process may reach it. */
static _Noreturn void child(void (*work)(void *data, FILE *out), void *data, bool messages, int fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	FILE *out = allocated(fdopen(fd, "w"));

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < 3 && null >= 0; i++)
		dup2(i == STDERR_FILENO && messages ? fd : null, i);
	work(data, out);
	_exit(fflush(out) ? 1 : 0);
}

bool helper_start(struct helper *helper, void (*work)(void *data, FILE *out), void *data,
		  bool messages)
{
	int ends[2];

	*helper = (struct helper) { .fd = -1 };
	if (pipe2(ends, O_CLOEXEC))
		return false;
	helper->pid = fork();
	if (!helper->pid)
		child(work, data, messages, ends[1]);
	close(ends[1]);
	helper->fd = ends[0];
	if (helper->pid > 0 && !fcntl(ends[0], F_SETFL, O_NONBLOCK))
		return true;
	helper_end(helper);
	return false;
}

bool helper_read(struct helper *helper)
{
	ssize_t n;

	do {
		/* one more, for who wants a NUL byte at its end */
		helper->text = more(helper->text, &helper->room, helper->length + 1, 1);
		n = read(helper->fd, helper->text + helper->length,
			 helper->room - helper->length - 1);
		if (n > 0)
			helper->length += n;
	} while (n > 0 || (n < 0 && errno == EINTR));
	helper->text[helper->length] = '\0';
	return n == 0 || errno != EAGAIN;
}

const char *helper_last_line(struct helper *helper)
{
	const char *line;

	while (helper->length && helper->text[helper->length - 1] == '\n')
		helper->text[--helper->length] = '\0';
	line = strrchr(helper->text, '\n');
	return line ? line + 1 : helper->text;
}

void helper_end(struct helper *helper)
{
	if (helper->pid > 0) {
		kill(helper->pid, SIGKILL);
		while (waitpid(helper->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	if (helper->fd >= 0)
		close(helper->fd);
	free(helper->text);
	*helper = (struct helper) { .fd = -1 };
}
