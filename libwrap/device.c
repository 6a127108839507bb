// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* The way to /dev/profil, and what is said when there is none. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include "internal.h"

#define DEVICE "/dev/profil"

/* The lowest number of the descriptor that stays, if the limit allows it. */
#define HIGH 1000

/*
 * The descriptor of a START, or -1.  It stays open, so that later calls work where the
 * device cannot be opened any more: after chroot(), in another mount namespace, with
 * RLIMIT_NOFILE used up, behind a filter of system calls.  Its number is out of the way
 * of programs that look at theirs, and exec() closes it.
 */
static atomic_int kept = -1;
static atomic_uint kept_device;

/*
 * Programs that close all of their descriptors close ours, too, and use its number.
 * @unknown: the answer where a filter forbids the question
 */
static bool is_device(int fd, bool unknown)
{
	struct stat status;

	if (fd < 0)
		return false;
	if (!fstat(fd, &status))
		return S_ISCHR(status.st_mode) &&
		       (unsigned int)status.st_rdev == atomic_load(&kept_device);
	return errno != EBADF && unknown;
}

/* The number is as high as the limit allows, but for powers of two. */
static int move_up(int fd)
{
	int high = -1;

	for (int from = HIGH; from > STDERR_FILENO && high < 0; from /= 2)
		high = fcntl(fd, F_DUPFD_CLOEXEC, from);
	if (high < 0 && fd > STDERR_FILENO)
		return fd;
	close(fd);
	return high;
}

static void keep(int fd)
{
	int none = -1, old = atomic_load(&kept);
	struct stat status;

	/* Before there is a new one, which may get its number. */
	if (!is_device(old, true))
		atomic_compare_exchange_strong(&kept, &old, none);
	fd = move_up(fd);
	if (fd < 0)
		return;
	if (!fstat(fd, &status)) {
		atomic_store(&kept_device, status.st_rdev);
		/* That of another thread may be in use: it stays. */
		if (atomic_compare_exchange_strong(&kept, &none, fd))
			return;
	}
	close(fd);
}

/* Closes the descriptor that stays. */
void libprofil_device_close(void)
{
	int err = errno;
	int cancel, fd;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	fd = atomic_exchange(&kept, -1);
	if (is_device(fd, false))
		close(fd);
	pthread_setcancelstate(cancel, NULL);
	errno = err;
}

static int command(int fd, unsigned long cmd, void *arg)
{
	int err = errno;
	int ret;

	if (cmd == PROFIL_IOC_START)
		libprofil_anchor_begin();
	ret = ioctl(fd, cmd, arg) < 0 ? -1 : 0;
	if (cmd == PROFIL_IOC_START)
		libprofil_anchor_end(ret ? NULL : arg);
	if (!ret)
		errno = err;
	return ret;
}

/* The same as libprofil_command(), but opens nothing. */
int libprofil_command_kept(unsigned long cmd, void *arg)
{
	int fd = atomic_load(&kept);
	int ret;

	if (!is_device(fd, true))
		return NO_DEVICE;
	ret = command(fd, cmd, arg);
	/* Closed meanwhile, or never ours. */
	return ret && (errno == EBADF || errno == ENOTTY) ? NO_DEVICE : ret;
}

static int command_opened(unsigned long cmd, void *arg)
{
	int fd = open(DEVICE, O_RDONLY | O_CLOEXEC);
	int ret, err;

	if (fd < 0)
		return NO_DEVICE;
	ret = command(fd, cmd, arg);
	err = errno;
	if (!ret && cmd == PROFIL_IOC_START)
		keep(fd);
	else
		close(fd);
	errno = err;
	return ret;
}

static atomic_bool commanded;

bool libprofil_commanded(void)
{
	return atomic_load(&commanded);
}

/*
 * One command: 0, -1, or NO_DEVICE, with errno; on success errno stays as it was.
 */
int libprofil_command(unsigned long cmd, void *arg)
{
	int err = errno;
	int cancel, ret;

	atomic_store(&commanded, true);
	/* profil() and sprofil() are declared to throw nothing. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	ret = libprofil_command_kept(cmd, arg);
	if (ret == NO_DEVICE)
		ret = command_opened(cmd, arg);
	if (!ret)
		errno = err;
	pthread_setcancelstate(cancel, NULL);
	return ret;
}

/*
 * In English, like all that is said here.  strerror() looks for a translation under a lock
 * that a forked child may find taken.
 */
const char *libprofil_reason(int err)
{
	const char *reason = strerrordesc_np(err);

	return reason ? reason : "unknown error";
}

static const char *remedy(int err)
{
	switch (err) {
	case ENOENT:
	case ENODEV:
	case ENXIO:
		return "; load the module (sudo modprobe profil)";
	case EPERM:	/* by the rules of a control group */
		return "; in a container: start it with --device " DEVICE;
	case EACCES:
		return "; let users open it (sudo chmod 666 " DEVICE ")";
	default:
		return "";
	}
}

void libprofil_signal_drop(int number, const sigset_t *before)
{
	static const struct timespec now;
	sigset_t set;

	sigpending(&set);
	if (!sigismember(&set, number) || sigismember(before, number))
		return;
	sigemptyset(&set);
	sigaddset(&set, number);
	sigtimedwait(&set, NULL, &now);
}

/*
 * No stdio: a call from a constructor or a forked child must not touch the program's own
 * buffers.  No signal: a program that never writes to stderr need not know what that is.
 */
void libprofil_say(const char *const parts[LIBPROFIL_PARTS])
{
	struct iovec line[LIBPROFIL_PARTS];
	sigset_t broken, before, mask;
	int err = errno, cancel, n;

	for (n = 0; n < LIBPROFIL_PARTS && parts[n]; n++)
		line[n] = (struct iovec) { (void *)parts[n], strlen(parts[n]) };
	sigemptyset(&broken);
	sigaddset(&broken, SIGPIPE);
	sigaddset(&broken, SIGXFSZ);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	pthread_sigmask(SIG_BLOCK, &broken, &mask);
	sigpending(&before);
	/* Without a stderr, errno alone has to do. */
	writev(STDERR_FILENO, line, n);
	libprofil_signal_drop(SIGPIPE, &before);
	libprofil_signal_drop(SIGXFSZ, &before);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	pthread_setcancelstate(cancel, NULL);
	errno = err;
}

static atomic_int quiet = -1;	/* not known before */

static bool is_quiet(void)
{
	const char *value = getenv("PROFIL_QUIET");

	return value && !strcmp(value, "1");
}

void libprofil_quiet_begin(void)
{
	atomic_store(&quiet, is_quiet());
}

void libprofil_say_once(atomic_flag *said, const char *const parts[LIBPROFIL_PARTS])
{
	int known = atomic_load(&quiet);

	if (known < 0 ? is_quiet() : known)
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
		libprofil_reason(err),
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
	complain_once("profil: cannot start a profile with " DEVICE ": ", start_remedy(errno), "");
}
