// SPDX-License-Identifier: GPL-2.0-only
/* A folder with one profile for each interval. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "profile.h"
#include "say.h"
#include "spool.h"
#include "whole.h"

#define FORM "%Y%m%dT%H%M%S"	/* then milliseconds */
#define END "Z.pb.gz"
#define LENGTH (sizeof("20261128T020000.000Z.pb.gz") - 1)
#define NEW ".new-"		/* before the name of a file that is being written */
#define WRITABLE 0222
#define NS 1000000000ULL
#define TRIES 1000		/* clocks that go back give a time twice */
#define AGED_MAX 16		/* too old files that go at once: the clock may be wrong */

static void name_of(uint64_t time_ns, char name[SPOOL_NAME])
{
	time_t seconds = time_ns / NS;
	struct tm tm;
	size_t n;

	gmtime_r(&seconds, &tm);
	n = strftime(name, SPOOL_NAME, FORM, &tm);
	snprintf(name + n, SPOOL_NAME - n, ".%03u" END,
		 (unsigned int)(time_ns % NS / NS_OF_MS));
}

bool spool_time(const char *name, uint64_t *time_ns)
{
	struct tm tm = { 0 };
	char same[SPOOL_NAME];
	unsigned int ms;
	const char *rest;

	if (strlen(name) != LENGTH)
		return false;
	rest = strptime(name, FORM, &tm);
	if (!rest || sscanf(rest, ".%3u", &ms) != 1 || timegm(&tm) < 0)
		return false;
	*time_ns = timegm(&tm) * NS + ms * NS_OF_MS;
	name_of(*time_ns, same);
	return !strcmp(name, same);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct spool_file *)a)->name, ((const struct spool_file *)b)->name);
}

bool spool_read(int fd, struct spool_list *list)
{
	/* one of its own, which begins at the begin */
	int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = own < 0 ? NULL : fdopendir(own);
	struct dirent *entry;

	*list = (struct spool_list) { 0 };
	if (!folder)
		return false;
	while ((entry = readdir(folder))) {
		struct spool_file file;
		struct stat st;

		if (!spool_time(entry->d_name, &file.time_ns) ||
		    fstatat(own, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		strcpy(file.name, entry->d_name);
		file.size = st.st_size;
		file.mode = st.st_mode & 07777;
		file.end_ns = st.st_mtim.tv_sec * NS + st.st_mtim.tv_nsec;
		list->files = more(list->files, &list->room, list->num, sizeof(file));
		list->files[list->num++] = file;
		list->size += file.size;
	}
	closedir(folder);
	if (list->num)
		qsort(list->files, list->num, sizeof(*list->files), by_name);
	return true;
}

bool spool_pushed(const struct spool_file *file)
{
	return !(file->mode & WRITABLE);
}

bool spool_set_pushed(int fd, const struct spool_file *file)
{
	return !fchmodat(fd, file->name, file->mode & ~WRITABLE, 0) || errno == ENOENT;
}

void spool_tidy(const struct spool *spool)
{
	int own = openat(spool->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = own < 0 ? NULL : fdopendir(own);
	struct dirent *entry;
	uint64_t time_ns;

	if (!folder)
		return;
	while ((entry = readdir(folder)))
		if (!strncmp(entry->d_name, NEW, strlen(NEW)) &&
		    spool_time(entry->d_name + strlen(NEW), &time_ns))
			unlinkat(own, entry->d_name, 0);
	closedir(folder);
}

void spool_open(struct spool *spool)
{
	const char *path = spool->path;
	struct stat st;

	if (mkdir(path, 0700) && errno != EEXIST)
		die("the folder %s cannot be made: %m; make it, or name another one with -o", path);
	spool->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (spool->fd < 0 || fstat(spool->fd, &st))
		die("the folder %s cannot be opened: %m; name another one with -o", path);
	if (st.st_uid != geteuid())
		die("the folder %s belongs to another user; name another one with -o", path);
	if (st.st_mode & 077)
		die("the folder %s is open to other users, and a profile tells what runs here; name one for its user alone (mode 700) with -o",
		    path);
	if (flock(spool->fd, LOCK_EX | LOCK_NB))
		die("another profil watch writes to %s; name another folder with -o", path);
	spool_tidy(spool);
}

/* Returns an errno. */
static int write_new(int folder, const char *new, uint64_t end_ns, const void *bytes,
		     size_t length)
{
	struct timespec end = { end_ns / NS, end_ns % NS };
	struct timespec times[2] = { end, end };
	int fd = openat(folder, new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int error;

	if (fd < 0)
		return errno;
	error = whole_write_all(fd, bytes, length) && !futimens(fd, times) && !fsync(fd) ? 0 :
		errno;
	if (close(fd) && !error)
		error = errno;
	return error;
}

/* NFS and FUSE cannot rename so that nothing is replaced.  A link replaces nothing. */
static bool name_new(int folder, const char *new, const char *name)
{
	if (!renameat2(folder, new, folder, name, RENAME_NOREPLACE))
		return true;
	if (errno != EINVAL || linkat(folder, new, folder, name, 0))
		return false;
	/* where it stays, it goes away with the next start */
	unlinkat(folder, new, 0);
	return true;
}

/* A name that there is already is that of the next millisecond. */
static int rename_new(int folder, const char *new, uint64_t time_ns, char name[SPOOL_NAME])
{
	for (int i = 0; i < TRIES; i++) {
		name_of(time_ns + i * (uint64_t)NS_OF_MS, name);
		if (name_new(folder, new, name))
			return fsync(folder) ? errno : 0;
		if (errno != EEXIST)
			break;
	}
	return errno;
}

static int write_once(const struct spool *spool, uint64_t time_ns, uint64_t end_ns,
		      const void *bytes, size_t length, char name[SPOOL_NAME])
{
	char new[sizeof(NEW) + SPOOL_NAME];
	int error;

	name_of(time_ns, name);
	snprintf(new, sizeof(new), NEW "%s", name);
	error = write_new(spool->fd, new, end_ns, bytes, length);
	if (!error)
		error = rename_new(spool->fd, new, time_ns, name);
	if (error)
		unlinkat(spool->fd, new, 0);
	return error;
}

/* Of a list, from this one on; returns whether there was one that could be removed. */
static bool remove_oldest(const struct spool *spool, struct spool_list *list, size_t *first)
{
	while (*first < list->num) {
		const struct spool_file *file = &list->files[(*first)++];

		if (unlinkat(spool->fd, file->name, 0))
			continue;
		list->size -= file->size;
		return true;
	}
	return false;
}

void spool_trim(const struct spool *spool, uint64_t now_ns, uint64_t *dropped)
{
	struct spool_list list;
	size_t first = 0, aged = 0;

	if (!spool_read(spool->fd, &list))
		return;
	for (size_t i = 0; i < list.num && spool->keep_ns && aged < AGED_MAX; i++) {
		struct spool_file *file = &list.files[i];

		/* of a clock that went back, files are in the future: they would never be old */
		if (difference(file->time_ns, now_ns) <= spool->keep_ns ||
		    unlinkat(spool->fd, file->name, 0))
			continue;
		aged++;
		/* by its age, nobody misses it, but who was to get it */
		*dropped += spool->push && !spool_pushed(file);
		list.size -= file->size;
		file->size = 0;
	}
	while (list.size > spool->size_max && remove_oldest(spool, &list, &first))
		++*dropped;
	free(list.files);
}

int spool_write(const struct spool *spool, uint64_t time_ns, uint64_t end_ns, const void *bytes,
		size_t length, char name[SPOOL_NAME], uint64_t *dropped)
{
	int error = write_once(spool, time_ns, end_ns, bytes, length, name);
	struct spool_list list;
	size_t first = 0;

	if ((error != ENOSPC && error != EDQUOT) || !spool_read(spool->fd, &list))
		return error;
	while ((error == ENOSPC || error == EDQUOT) && remove_oldest(spool, &list, &first)) {
		++*dropped;
		error = write_once(spool, time_ns, end_ns, bytes, length, name);
	}
	free(list.files);
	return error;
}
