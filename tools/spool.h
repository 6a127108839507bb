/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A folder with one profile for each interval, which profil watch writes.  Names are the
 * time at which the interval began, in UTC: their order is that of time.
 */
#ifndef TOOLS_SPOOL_H
#define TOOLS_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SPOOL_FOLDER "/var/lib/profil-watch"
#define SPOOL_NAME 32	/* bytes of a name with its NUL byte */

struct spool {
	const char *path;
	int fd;			/* of the folder, which is locked */
	uint64_t keep_ns;	/* files that are older go away; 0: none does */
	uint64_t size_max;	/* of all files, in bytes */
	bool push;		/* somebody is to get the files */
};

struct spool_file {
	char name[SPOOL_NAME];
	uint64_t time_ns;	/* when its interval began */
	uint64_t end_ns;	/* and ended, which is the time of its last change */
	uint64_t size;
	mode_t mode;
};

struct spool_list {
	struct spool_file *files;	/* the oldest first */
	size_t num, room;
	uint64_t size;			/* of all */
};

/*
 * Opens the folder to write to it, and makes it if there is none.  Ends the program, with
 * the reason, if that is not for this user alone, or another profil watch has it.  What a
 * profil watch has left that was killed while it wrote goes away.
 */
void spool_open(struct spool *spool);

/* Removes what one that was killed has not finished; nobody else may be writing. */
void spool_tidy(const struct spool *spool);

/*
 * Writes a file, whole or not at all, and what has to go away for it goes: the oldest first,
 * and never what is no file of a spool.  Returns 0, or an errno; @name is what the file is
 * called, @dropped grows by those that went before their time.
 */
int spool_write(const struct spool *spool, uint64_t time_ns, uint64_t end_ns, const void *bytes,
		size_t length, char name[SPOOL_NAME], uint64_t *dropped);

/* Removes what is too old, a few at once for the clock may be wrong, and what is too much. */
void spool_trim(const struct spool *spool, uint64_t now_ns, uint64_t *dropped);

/* The files of a folder, to be freed; false, with errno, if it cannot be read. */
bool spool_read(int fd, struct spool_list *list);

/*
 * That somebody has got a file, or does not want it, is in its mode: nobody may write to it any
 * more.  Names do not tell, since a clock may be set back.
 */
bool spool_pushed(const struct spool_file *file);

/* False, with errno: that cannot be kept there. */
bool spool_set_pushed(int fd, const struct spool_file *file);

/* Whether a name is that of a file of a spool, and of which time. */
bool spool_time(const char *name, uint64_t *time_ns);

#endif /* TOOLS_SPOOL_H */
