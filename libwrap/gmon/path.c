// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Where a file of an object is put, and what it is called. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "gmon.h"
#include "internal.h"

/* <unistd.h> declares profil(), see internal.h. */
int getpid(void);
char *getcwd(char *buf, size_t bytes);

/* In no one's stack: signal handlers have a small one. */
static char path[PATH_MAX], prefix[PATH_MAX];
static char home[PATH_MAX];	/* where the program began, or "" */

/**
 * libprofil_path_complain() - Say that there is no file, and why
 */
void libprofil_path_complain(void)
{
	const char *const parts[LIBPROFIL_PARTS] = {
		"profil: cannot write ", path, ": ", strerror(errno),
		"; name another place in GMON_OUT_PREFIX\n",
	};

	libprofil_say(parts);
}

static void tell_elsewhere(const char *elsewhere, int err)
{
	const char *const parts[LIBPROFIL_PARTS] = {
		"profil: cannot write ", path, ": ", strerror(err), "; it is ",
		elsewhere, "\n",
	};

	libprofil_say(parts);
}

static bool is_for_want_of_folder(int err)
{
	return err == EACCES || err == EPERM || err == EROFS || err == ENOENT;
}

/**
 * libprofil_path_write() - Write a file where it has been named
 * @gmon: What is in it
 *
 * Daemons leave for a folder in which they may not write.
 *
 * Return: Whether it was written; if not, errno says why.
 */
bool libprofil_path_write(const struct libprofil_gmon *gmon)
{
	static char elsewhere[2 * PATH_MAX];
	int err;

	if (libprofil_file_write(gmon, path))
		return true;
	err = errno;
	snprintf(elsewhere, sizeof(elsewhere), "%s/%s", home, path);
	if (is_for_want_of_folder(err) && *path != '/' && *home &&
	    libprofil_file_write(gmon, elsewhere)) {
		tell_elsewhere(elsewhere, err);
		return true;
	}
	errno = err;
	return false;
}

/**
 * libprofil_path_look() - See what prefix files have: programs set it late, too
 */
void libprofil_path_look(void)
{
	const char *value = secure_getenv("GMON_OUT_PREFIX");

	snprintf(prefix, sizeof(prefix), "%s", value ? value : "");
}

/* After the library's name, so that gprof is given the same for all of a series. */
static void name_library(char *name, size_t bytes, const struct libprofil_object *object)
{
	if (!*object->name)
		*name = 0;
	else if (!object->number)
		snprintf(name, bytes, ".%s", object->name);
	else
		snprintf(name, bytes, ".%s-%u", object->name, object->number + 1);
}

/**
 * libprofil_path_choose() - Name the next file
 * @object: Whose it is
 *
 * Return: Whether there is a name; if not, errno says why.
 */
bool libprofil_path_choose(const struct libprofil_object *object)
{
	unsigned int series = libprofil_state->series;
	char number[16] = "", library[sizeof(object->name) + 16];
	int pid = getpid();
	int len;

	name_library(library, sizeof(library), object);
	if (series)
		snprintf(number, sizeof(number), ".%u", series);
	if (!*prefix && !series && pid == libprofil_profile.first_pid)
		len = snprintf(path, sizeof(path), "gmon.out%s", library);
	else
		len = snprintf(path, sizeof(path), "%s.%d%s%s",
			       *prefix ? prefix : "gmon.out", pid, number, library);
	if ((size_t)len < sizeof(path))
		return true;
	errno = ENAMETOOLONG;
	return false;
}

/**
 * libprofil_path_begin() - See where the program begins
 */
void libprofil_path_begin(void)
{
	libprofil_path_look();
	if (!getcwd(home, sizeof(home)))
		*home = 0;
}
