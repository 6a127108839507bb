// SPDX-License-Identifier: GPL-2.0-only
/* Files that are there whole, or not at all. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "say.h"
#include "whole.h"

bool whole_write_all(int fd, const void *data, size_t length)
{
	const char *bytes = data;

	while (length) {
		ssize_t n = write(fd, bytes, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes += n;
		length -= n;
	}
	return true;
}

static mode_t mode_of_new_files(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

/* What is no ordinary file, like a pipe, is written to as it is. */
static bool write_in_place(const char *file, const char *bytes, size_t length)
{
	int fd = open(file, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	bool written;

	if (fd < 0)
		return false;
	written = whole_write_all(fd, bytes, length);
	return !close(fd) && written;
}

static bool write_renamed(const char *file, const char *bytes, size_t length)
{
	bool written = false;
	char *new;
	int fd, error;

	if (asprintf(&new, "%s.XXXXXX", file) < 0)
		allocated(NULL);
	fd = mkostemp(new, O_CLOEXEC);
	if (fd >= 0) {
		written = whole_write_all(fd, bytes, length) && !fchmod(fd, mode_of_new_files());
		written = !close(fd) && written && !rename(new, file);
		error = errno;
		if (!written)
			unlink(new);
		errno = error;
	}
	free(new);
	return written;
}

static bool is_own(const struct stat *st)
{
	return st->st_uid == geteuid() || st->st_uid == 0;
}

/*
 * Nobody else can put another file there while one looks at it.  The group of the user is not
 * asked about: with umask 002 it is his alone.
 */
static bool is_in_own_folder(const char *file)
{
	char *copy = allocated(strdup(file));
	struct stat st;
	bool own = !stat(dirname(copy), &st) && is_own(&st) &&
		(st.st_mode & S_ISVTX ||
		 !(st.st_mode & (st.st_gid == getegid() ? 0002 : 0022)));

	free(copy);
	return own;
}

/*
 * A pipe, or a link to what is no ordinary file, counts only if this user or root has made it:
 * in somebody else's folder it could lead a profile to him, or root's into a disk.
 */
static bool is_in_place(const char *file)
{
	struct stat st, own;

	return is_in_own_folder(file) && !lstat(file, &own) &&
		(S_ISCHR(own.st_mode) || S_ISBLK(own.st_mode) || is_own(&own)) &&
		!stat(file, &st) && !S_ISREG(st.st_mode);
}

static bool write_as(const char *file, const void *bytes, size_t length)
{
	if (!strcmp(file, "-"))
		return whole_write_all(STDOUT_FILENO, bytes, length);
	if (is_in_place(file))
		return write_in_place(file, bytes, length);
	return write_renamed(file, bytes, length);
}

bool whole_write(const char *file, const void *bytes, size_t length)
{
	/* beyond ulimit -f, an error and not the end of us */
	sighandler_t before = signal(SIGXFSZ, SIG_IGN);
	bool written = write_as(file, bytes, length);
	int error = errno;

	signal(SIGXFSZ, before);
	errno = error;
	return written;
}
