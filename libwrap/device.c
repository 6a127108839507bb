// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* The way to /dev/profil, and what is said when there is none. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>
#include "internal.h"

#define DEVICE "/dev/profil"

int libprofil_open(void)
{
	return open(DEVICE, O_RDWR | O_CLOEXEC);
}

/* Hands on the result of the last command, and its errno. */
int libprofil_close(int fd, int ret)
{
	int err = errno;

	close(fd);
	errno = err;
	return ret;
}

int libprofil_ioctl(int fd, unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg) < 0 ? -1 : 0;
}

static const char *remedy(int err)
{
	switch (err) {
	case ENOENT:
	case ENODEV:
	case ENXIO:
		return "; load the module (insmod profil.ko)";
	case EACCES:
	case EPERM:
		return "; let users open it (chmod 666 " DEVICE ")";
	default:
		return "";
	}
}

static struct iovec piece(const char *text)
{
	return (struct iovec) { (void *)text, strlen(text) };
}

/*
 * Callers from before this library ignore the result of profil(), and would
 * find an empty histogram without a word.  No stdio: a call from a constructor
 * or a forked child must not touch the program's own buffers.
 */
void libprofil_complain(const char *note)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	const char *quiet = getenv("PROFIL_QUIET");
	int err = errno;
	struct iovec line[] = {
		piece("profil: cannot open " DEVICE ": "),
		piece(strerror(err)),
		piece(remedy(err)),
		piece(note),
		piece("\n"),
	};

	if (quiet && !strcmp(quiet, "1"))
		return;
	if (atomic_flag_test_and_set(&said))
		return;
	/* Without a stderr, errno alone has to do. */
	if (writev(STDERR_FILENO, line, 5) < 0)
		errno = err;
}
