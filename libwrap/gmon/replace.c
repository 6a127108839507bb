// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * How a file comes to its name: whole, in place of an old one, which stays if there is
 * any error.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include "gmon.h"
#include "internal.h"

/* <unistd.h> declares profil(), see internal.h. */
int close(int fd);
int link(const char *old, const char *new);
int unlink(const char *path);
off_t lseek(int fd, off_t offset, int whence);
int getpid(void);
int ftruncate(int fd, off_t length);

#define PARTS_MAX 100	/* names that are tried, of a file that is not whole yet */

/*
 * Always a new one: a process of this number in another namespace may be writing its own
 * part here.
 */
static int open_part(char *part, size_t bytes, const char *path)
{
	int fd = -1;

	for (int i = 0; i < PARTS_MAX && fd < 0; i++) {
		int len = i ? snprintf(part, bytes, "%s.tmp%d-%d", path, getpid(), i) :
			      snprintf(part, bytes, "%s.tmp%d", path, getpid());

		if ((size_t)len >= bytes) {
			errno = ENAMETOOLONG;
			return -1;
		}
		fd = open(part, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
		if (fd < 0 && errno != EEXIST)
			return -1;
	}
	return fd;
}

/* The name is taken by an empty file: that is then ours to replace. */
static int rename_claimed(const char *part, const char *path)
{
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
	int err;

	if (fd < 0)
		return -1;
	close(fd);
	if (!rename(part, path))
		return 0;
	err = errno;
	unlink(path);
	errno = err;
	return -1;
}

/* Without a moment in which a file of that name could be replaced. */
static int rename_new(const char *part, const char *path)
{
	if (!renameat2(AT_FDCWD, part, AT_FDCWD, path, RENAME_NOREPLACE))
		return 0;
	/* Not every file system knows of that, nor has every other one links. */
	if (errno == EEXIST)
		return -1;
	if (link(part, path))
		return errno == EEXIST ? -1 : rename_claimed(part, path);
	unlink(part);
	return 0;
}

static int write_and_close(const struct libprofil_gmon *gmon, int fd)
{
	int err = libprofil_file_write(gmon, fd);

	if (close(fd) && !err)
		err = errno;
	return err;
}

/* 0, or why not. */
static int write_new(const struct libprofil_gmon *gmon, const char *path, bool replace)
{
	/* In no one's stack: signal handlers have a small one. */
	static char part[PATH_MAX];
	int fd = open_part(part, sizeof(part), path);
	int err;

	if (fd < 0)
		return errno;
	err = write_and_close(gmon, fd);
	if (!err && (replace ? rename(part, path) : rename_new(part, path)))
		err = errno;
	if (err)
		unlink(part);
	return err;
}

/* The first bytes of one file, so many or all, to the beginning of another. */
static int copy(int to, int from, off_t most)
{
	off_t done = 0;
	ssize_t num;

	if (lseek(to, 0, SEEK_SET) < 0)
		return errno;
	do {
		num = sendfile(to, from, &done, most - done);
	} while (num > 0 || (num < 0 && errno == EINTR));
	return num < 0 ? errno : 0;
}

static bool is_for_want_of_room(int err)
{
	return err == ENOSPC || err == EDQUOT || err == EFBIG;
}

/*
 * Room is there before the first byte is changed, where the file system can tell.  Of the
 * old bytes only those are kept that are written over: there may be any number of others,
 * which stay until they are cut off.
 */
static int overwrite(int fd, int new, int old)
{
	struct stat before, after;
	int err;

	if (fstat(fd, &before) || fstat(new, &after) ||
	    (fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, after.st_size) && is_for_want_of_room(errno)))
		return errno;
	err = copy(old, fd, after.st_size);
	if (err)
		return err;
	err = copy(fd, new, after.st_size);
	if (!err && !ftruncate(fd, after.st_size))
		return 0;
	err = err ? err : errno;
	copy(fd, old, after.st_size);
	ftruncate(fd, before.st_size);
	return err;
}

static bool is_stream(mode_t mode)
{
	return S_ISFIFO(mode) || S_ISCHR(mode);
}

/*
 * The name may have become another file's after it was looked at.  Nothing of that one is
 * changed: then the name is taken.
 */
static int open_old(const char *path, int flags, bool stream)
{
	int fd = open(path, flags | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
	struct stat stat;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &stat) && (stream ? is_stream(stat.st_mode) : S_ISREG(stat.st_mode)))
		return fd;
	close(fd);
	errno = EEXIST;
	return -1;
}

/* The file is whole in memory before the old one is opened. */
static int write_in_place(const struct libprofil_gmon *gmon, const char *path)
{
	int new = memfd_create("gmon.out", MFD_CLOEXEC);
	int old = memfd_create("gmon.out", MFD_CLOEXEC);
	int fd = -1, err;

	if (new < 0 || old < 0)
		err = errno;
	else
		err = libprofil_file_write(gmon, new);
	if (!err) {
		fd = open_old(path, O_RDWR, false);
		err = fd < 0 ? errno : overwrite(fd, new, old);
	}
	if (fd >= 0 && close(fd) && !err)
		err = errno;
	if (new >= 0)
		close(new);
	if (old >= 0)
		close(old);
	return err;
}

/*
 * As the C library does, it waits for a reader, but only at the end of a program.  Otherwise it
 * is opened once, without waiting: the only reader may be gone before it is opened again.
 */
static int write_into(const struct libprofil_gmon *gmon, const char *path)
{
	int fd, err;

	libprofil_state_may_die(true);
	fd = open_old(path, O_WRONLY | (gmon->last ? 0 : O_NONBLOCK), true);
	/* Who reads slowly is waited for. */
	if (fd >= 0)
		fcntl(fd, F_SETFL, 0);
	err = fd < 0 ? errno : write_and_close(gmon, fd);
	libprofil_state_may_die(false);
	return err;
}

/* The folder takes no new file, or not under this name: the old one may still be written. */
static bool is_of_folder(int err)
{
	return err == EACCES || err == EPERM || err == EROFS || err == EBUSY;
}

static int write_file(const struct libprofil_gmon *gmon, const char *path, bool replace)
{
	bool exists;
	struct stat stat;
	int err = 0;

	exists = !lstat(path, &stat);
	if (exists && is_stream(stat.st_mode))
		return write_into(gmon, path);
	if (exists && !(replace && S_ISREG(stat.st_mode)))
		err = S_ISLNK(stat.st_mode) ? ELOOP : S_ISDIR(stat.st_mode) ? EISDIR : EEXIST;
	if (!err)
		err = write_new(gmon, path, replace);
	if (exists && replace && (is_of_folder(err) || is_for_want_of_room(err)))
		err = write_in_place(gmon, path);
	return err;
}

/**
 * libprofil_replace() - Write all that is known of an object
 * @gmon: What to write
 * @path: The file
 * @replace: It may be one that is there already
 *
 * Context: One at a time.
 * Return: 0, or why not.  The file is an old one then, or none.  EEXIST and ELOOP are of a
 * name that somebody else has.
 */
int libprofil_replace(const struct libprofil_gmon *gmon, const char *path, bool replace)
{
	int err = write_file(gmon, path, replace);

	if (gmon->anew)
		libprofil_written_end(!err);
	return err;
}
