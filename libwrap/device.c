// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* The way to /dev/profil, and what is said when there is none. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>
#include "internal.h"

#define DEVICE "/dev/profil"

atomic_bool libprofil_started;

/*
 * One command: 0, -1, or NO_DEVICE, with errno; on success errno stays as it
 * was.  The descriptor lives for this command alone, for there are programs
 * that close all of theirs, and never over exec().
 */
int libprofil_command(unsigned long cmd, void *arg)
{
	int err = errno;
	int ret = NO_DEVICE;
	int cancel, fd;

	/* profil() and sprofil() are declared to throw nothing. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	fd = open(DEVICE, O_RDWR | O_CLOEXEC);
	if (fd >= 0) {
		/* Before the command, so that a stop right after it sees this. */
		if (cmd == PROFIL_IOC_START)
			atomic_store(&libprofil_started, true);
		ret = ioctl(fd, cmd, arg) < 0 ? -1 : 0;
		err = ret ? errno : err;
		close(fd);
		errno = err;
	}
	pthread_setcancelstate(cancel, NULL);
	return ret;
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

/*
 * No stdio: a call from a constructor or a forked child must not touch the
 * program's own buffers.
 */
void libprofil_say(const char *const parts[LIBPROFIL_PARTS])
{
	struct iovec line[LIBPROFIL_PARTS];
	int err = errno;
	int cancel, n;

	for (n = 0; n < LIBPROFIL_PARTS && parts[n]; n++)
		line[n] = (struct iovec) { (void *)parts[n], strlen(parts[n]) };
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	/* Without a stderr, errno alone has to do. */
	if (writev(STDERR_FILENO, line, n) < 0)
		errno = err;
	pthread_setcancelstate(cancel, NULL);
}

void libprofil_say_once(atomic_flag *said, const char *const parts[LIBPROFIL_PARTS])
{
	const char *quiet = getenv("PROFIL_QUIET");

	if (quiet && !strcmp(quiet, "1"))
		return;
	if (!atomic_flag_test_and_set(said))
		libprofil_say(parts);
}

/*
 * Callers from before this library ignore the result of profil(), and would
 * find an empty histogram without a word.
 */
static void complain_once(const char *what, const char *advice, const char *note)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	int err = errno;
	const char *const parts[LIBPROFIL_PARTS] = {
		what,
		strerror(err),
		advice,
		note,
		"\n",
	};

	errno = err;
	libprofil_say_once(&said, parts);
}

void libprofil_complain(const char *note)
{
	complain_once("profil: cannot open " DEVICE ": ", remedy(errno), note);
}

static const char *start_remedy(int err)
{
	switch (err) {
	case ENOSPC:
		return "; raise max_profiles_user or max_regions_user, see profil(4)";
	case ENOMEM:
		return "; raise its limit (ulimit -v)";
	case EAGAIN:
		return "; raise its limit (ulimit -l)";
	default:
		return "; see ERRORS in profil(4)";
	}
}

/* For programs of gcc -pg, which have no result to look at. */
void libprofil_complain_start(void)
{
	complain_once("profil: cannot start a profile with " DEVICE ": ",
		      start_remedy(errno), "");
}
