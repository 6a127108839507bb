// SPDX-License-Identifier: GPL-2.0-only
/* Stands in for open, ioctl, close and writev: ld --wrap sends them here. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include "mock.h"
#include "tap.h"

int __wrap_open(const char *path, int flags, ...);
int __wrap_ioctl(int fd, unsigned long cmd, void *arg);
int __wrap_close(int fd);
ssize_t __wrap_writev(int fd, const struct iovec *iov, int num);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct mock_step *expected;
static size_t left;
static bool failed;
static char text[4096];

void mock_expect(const struct mock_step *steps, size_t num)
{
	expected = steps;
	left = num;
}

bool mock_done(void)
{
	if (left)
		return tap_fail("%zu expected calls were not made", left);
	return !failed;
}

const char *mock_stderr(void)
{
	static char last[sizeof(text)];

	memcpy(last, text, sizeof(text));
	text[0] = 0;
	return last;
}

static int step(enum mock_call call, unsigned long cmd, void *arg, bool args_ok)
{
	const struct mock_step *want = expected;
	int err = EIO;

	pthread_mutex_lock(&lock);
	if (!left || want->call != call || want->cmd != cmd || !args_ok) {
		failed = true;
		tap_fail("unexpected %s, command %#lx",
			 call == MOCK_OPEN ? "open" :
			 call == MOCK_IOCTL ? "ioctl" : "close or arguments", cmd);
	} else {
		if (want->check && !want->check(arg))
			failed = true;
		err = want->err;
		expected++;
		left--;
	}
	pthread_mutex_unlock(&lock);

	errno = err ? err : MOCK_ERRNO;
	return err ? -1 : 0;
}

int __wrap_open(const char *path, int flags, ...)
{
	bool ok = !strcmp(path, "/dev/profil") && flags == (O_RDWR | O_CLOEXEC);

	return step(MOCK_OPEN, 0, NULL, ok) ? -1 : MOCK_FD;
}

int __wrap_ioctl(int fd, unsigned long cmd, void *arg)
{
	return step(MOCK_IOCTL, cmd, arg, fd == MOCK_FD);
}

int __wrap_close(int fd)
{
	return step(MOCK_CLOSE, 0, NULL, fd == MOCK_FD);
}

ssize_t __wrap_writev(int fd, const struct iovec *iov, int num)
{
	ssize_t len = 0;

	pthread_mutex_lock(&lock);
	if (fd != STDERR_FILENO)
		failed = true;
	for (int i = 0; i < num; i++) {
		strncat(text, iov[i].iov_base, iov[i].iov_len);
		len += iov[i].iov_len;
	}
	pthread_mutex_unlock(&lock);
	return len;
}
