// SPDX-License-Identifier: GPL-2.0-only
/* The functions of files with code, kept in a folder. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "clock.h"
#include "debuginfod.h"
#include "dump.h"
#include "dumped.h"
#include "hash.h"
#include "reader.h"
#include "say.h"
#include "table_room.h"
#include "tables.h"

#define FOLDER ".names"
#define NEW "new"
#define FETCHES 4		/* files that debuginfod is asked for after an interval */
#define WANTED 32
#define DAY 86400

/* A table that is to be made when there is time: after the profile of an interval. */
struct wanted {
	int fd;
	bool fetch;
	char *path;
	char key[TABLES_KEY];
};

static struct {
	bool used;
	int folder;
	double until;		/* files are read until then */
	bool made;		/* a table, since tables were counted */
	struct wanted wanted[WANTED];
	size_t num, fetches;
} tables;

bool tables_use(int spool, double seconds)
{
	if (mkdirat(spool, FOLDER, 0700) && errno != EEXIST)
		return false;
	if (!tables.used)
		tables.folder = openat(spool, FOLDER,
				       O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	tables.used = tables.folder >= 0;
	tables.until = clock_now() + seconds;
	return tables.used;
}

bool tables_used(void)
{
	return tables.used;
}

double tables_left(void)
{
	return tables.until - clock_now();
}

uint64_t tables_boot(void)
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	char text[64];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));

	if (fd >= 0)
		close(fd);
	return hash_bytes(HASH_BEGIN, text, n > 0 ? n : 0);
}

/* What is in brackets is no file, but a copy that this program has made: "[vdso]". */
static bool key_of_copy(int fd, char key[TABLES_KEY])
{
	uint64_t hash = HASH_BEGIN;
	unsigned char bytes[4096];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, bytes, sizeof(bytes), at)) > 0) {
		hash = hash_bytes(hash, bytes, n);
		at += n;
	}
	snprintf(key, TABLES_KEY, "copy-%" PRIx64, hash);
	return !n;
}

/*
 * Which file it is, and of when.  Not by its build id: that is what a file says of itself,
 * and anybody's could name itself the C library.  No user can set the time of change, but an
 * image of a file system has those that its maker gave it, in whole seconds, and the next
 * image may have the same: its files are told apart by the boot, too, with which images come.
 */
static bool key_of(int fd, const char *path, char key[TABLES_KEY])
{
	struct stat st;

	if (path[0] == '[')
		return key_of_copy(fd, key);
	if (fstat(fd, &st))
		return false;
	snprintf(key, TABLES_KEY, "%" PRIx64 "-%" PRIx64 "-%" PRIx64 "-%" PRIx64 ".%09" PRIx64,
		 (uint64_t)st.st_dev, (uint64_t)st.st_ino, (uint64_t)st.st_size,
		 (uint64_t)st.st_ctim.tv_sec,
		 st.st_ctim.tv_nsec ? (uint64_t)st.st_ctim.tv_nsec : tables_boot());
	return true;
}

bool tables_map(const char *key, struct dumped *dumped)
{
	int fd = openat(tables.folder, key, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;
	bool whole;

	if (fd < 0)
		return false;
	/* its time tells when it was used, to a day; where it cannot, it is removed sooner */
	if (!fstat(fd, &st) && time(NULL) - st.st_mtime > DAY && futimens(fd, NULL))
		tables.made = true;
	whole = dumped_open(dumped, fd);
	close(fd);
	return whole;
}

void tables_keep(const char *key, void (*write)(void *data, FILE *out), void *data)
{
	int fd = openat(tables.folder, NEW, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	FILE *out = fd < 0 ? NULL : allocated(fdopen(fd, "w"));
	bool failed;

	if (!out)
		return;
	write(data, out);
	failed = ferror(out);
	if (fclose(out) || failed || renameat(tables.folder, NEW, tables.folder, key))
		unlinkat(tables.folder, NEW, 0);
	tables.made = true;
}

struct making {
	const char *path;
	int out;
	uint32_t asked;
};

static void tell(void *data, int fd, FILE *out)
{
	const struct making *making = data;
	FILE *table = allocated(fdopen(making->out, "w"));
	bool whole = dump_write(fd, making->path, making->asked, table);

	if (!fclose(table) && whole)
		tell_text(out, "written");
}

/* A file that no reader survives has an empty table: it is not read again. */
static bool write_empty(int out)
{
	struct dump_head head = { .magic = DUMP_MAGIC, .texts = 1 };
	char bytes[sizeof(head) + 1] = "";

	memcpy(bytes, &head, sizeof(head));
	return !ftruncate(out, 0) && pwrite(out, bytes, sizeof(bytes), 0) == sizeof(bytes);
}

static uint32_t today(void)
{
	return time(NULL) / DAY;
}

/* Before the answer is there: nobody asks twice a day, whatever comes. */
static void set_asked(const char *key)
{
	uint32_t asked = today();
	int fd = openat(tables.folder, key, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return;
	if (pwrite(fd, &asked, sizeof(asked), offsetof(struct dump_head, asked)) < 0)
		unlinkat(tables.folder, key, 0);
	close(fd);
}

/* Closes the descriptor.  What cannot be done in so many seconds is left for later. */
static void make(int fd, const char *path, const char *key, bool fetch, double seconds)
{
	struct making making = { .path = path, .asked = fetch ? today() : 0 };
	struct reader_how how = { .fetch = fetch, .seconds = seconds };
	struct told told;
	bool written;

	/* else it would be opened by its path, which may be another one by now */
	if (fd < 0)
		return;
	making.out = openat(tables.folder, NEW, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (making.out < 0) {
		close(fd);
		return;
	}
	how.also = making.out;
	reader_run(fd, how, tell, &making, &told);
	written = told_text(&told);
	if (!written && seconds > 0 && tables_left() <= 0) {
		unlinkat(tables.folder, NEW, 0);
	} else if (!written) {
		say("%s could not be read for names (%s); profil report shows its addresses",
		    path, told.failure ? told.failure : "its reader failed");
		if (fetch || told.passes || !write_empty(making.out))
			unlinkat(tables.folder, NEW, 0);
	}
	renameat(tables.folder, NEW, tables.folder, key);
	tables.made = true;
	free(told.texts);
	close(making.out);
}

/* Hotter files come first. */
static void want(int fd, const char *path, const char *key, bool fetch)
{
	struct wanted *wanted = &tables.wanted[tables.num];

	if (tables.num == WANTED)
		return;
	if (fetch && (tables.fetches == FETCHES || !debuginfod_servers()))
		return;
	wanted->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (wanted->fd < 0)
		return;
	wanted->path = allocated(strdup(path));
	strcpy(wanted->key, key);
	wanted->fetch = fetch;
	tables.num++;
	tables.fetches += fetch;
}

bool tables_find(struct profile *profile, int fd, const char *path, bool fetch,
		 struct object *object, struct place *places, size_t num)
{
	struct dumped dumped;
	char key[TABLES_KEY];
	bool found;

	if (!tables.used || !key_of(fd, path, key))
		return false;
	found = tables_map(key, &dumped);
	if (!found && tables_left() > 0) {
		make(fcntl(fd, F_DUPFD_CLOEXEC, 0), path, key, false, tables_left());
		found = tables_map(key, &dumped);
	}
	if (!found)
		want(fd, path, key, false);
	if (found) {
		if (fetch && dumped.head->few && dumped.head->asked != today())
			want(fd, path, key, true);
		dumped_find(&dumped, profile, object, places, num);
		dumped_close(&dumped);
	}
	close(fd);
	return true;
}

void tables_finish(void)
{
	for (size_t i = 0; i < tables.num; i++) {
		struct wanted *wanted = &tables.wanted[i];

		if (wanted->fetch)
			set_asked(wanted->key);
		make(wanted->fd, wanted->path, wanted->key, wanted->fetch, 0);
		free(wanted->path);
	}
	tables.num = 0;
	tables.fetches = 0;
	if (tables.made)
		table_room(tables.folder);
	tables.made = false;
}
