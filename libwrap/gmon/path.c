// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Where a file of an object is put, and what it is called. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "gmon.h"
#include "internal.h"

/* <unistd.h> declares profil(), see internal.h. */
int getpid(void);
char *getcwd(char *buf, size_t bytes);

/* Where it may be, in the order of trying: as the environment says, and as it is without. */
#define IN_HOME		(1 << 0)	/* where the program began: daemons leave */
#define NO_PREFIX	(1 << 1)	/* as the C library does */
#define PLACES		4

#define TAGS_MAX	16

struct name {
	bool has_pid;
	char path[2 * PATH_MAX];
};

/* In no one's stack: signal handlers have a small one. */
static struct name first, name;
static char prefix[PATH_MAX];
static char home[PATH_MAX];	/* where the program began, or "" */

static const char *remedy(int err)
{
	switch (err) {
	case EFBIG:
		return "; raise its limit (ulimit -f)\n";
	case EMFILE:
		return "; raise its limit (ulimit -n)\n";
	case ENOMEM:
	case EAGAIN:
		return "; raise its limit (ulimit -v or ulimit -l)\n";
	case ENOSPC:
	case EDQUOT:
		return "; remove files there, or name another place in GMON_OUT_PREFIX\n";
	case ENXIO:
	case EPIPE:
		return "; start a reader before, that reads to the end\n";
	default:
		return "; name another place in GMON_OUT_PREFIX\n";
	}
}

static void say_elsewhere(int err)
{
	const char *const parts[LIBPROFIL_PARTS] = {
		"profil: cannot write ", first.path, ": ", libprofil_reason(err), "; it is ",
		name.path, "\n",
	};

	libprofil_say(parts);
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
static void name_library(char *library, size_t bytes, const struct libprofil_object *object)
{
	if (!*object->name)
		*library = 0;
	else if (!object->number)
		snprintf(library, bytes, ".%s", object->name);
	else
		snprintf(library, bytes, ".%s-%u", object->name, object->number + 1);
}

/* 0, or why there is no such name.  @tag: another one, unless it is 0. */
static int choose(struct name *to, const struct libprofil_object *object,
		  unsigned int place, unsigned int tag)
{
	const char *start = *prefix && !(place & NO_PREFIX) ? prefix : "gmon.out";
	unsigned int series = libprofil_state->series;
	char pid[48] = "", library[sizeof(object->name) + 16];
	int len = 0;

	name_library(library, sizeof(library), object);
	to->has_pid = start == prefix || series || tag || !libprofil_state->first;
	if (to->has_pid)
		len = snprintf(pid, sizeof(pid), ".%d", getpid());
	if (tag)
		len += snprintf(pid + len, sizeof(pid) - len, "-%x", tag);
	if (series)
		snprintf(pid + len, sizeof(pid) - len, ".%u", series);
	len = snprintf(to->path, sizeof(to->path), "%s%s%s%s%s", place & IN_HOME ? home : "",
		       place & IN_HOME ? "/" : "", start, pid, library);
	return len < PATH_MAX ? 0 : ENAMETOOLONG;
}

/**
 * libprofil_path_complain() - Say that there is no file, and why
 * @object: Whose it would have been
 * @err: Why not
 */
void libprofil_path_complain(const struct libprofil_object *object, int err)
{
	const char *const parts[LIBPROFIL_PARTS] = {
		"profil: cannot write ", first.path, ": ", libprofil_reason(err), remedy(err),
	};

	choose(&first, object, 0, 0);
	libprofil_say(parts);
}

/* Later than what any process has that this one is forked from. */
static unsigned long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec + 1;
}

static bool is_taken(int err)
{
	return err == EEXIST || err == ELOOP;
}

/*
 * 0, or why not.  A name with a number is nobody else's only here: in another namespace,
 * on another machine or before, there may be a process of this number, too.
 */
static int write_to(const struct libprofil_gmon *gmon, unsigned int place, int *why)
{
	struct libprofil_object *object = gmon->object;
	bool ours = object->file.process == libprofil_state->id &&
		    object->file.place == place;
	unsigned int tag = ours ? object->file.tag : 0;
	int err = choose(&name, object, place, tag);

	ours &= object->file.series == libprofil_state->series;
	if (!err)
		err = libprofil_replace(gmon, name.path, ours || !name.has_pid);
	/* That it has a tag is no news. */
	if (!*why && !(err == EEXIST && name.has_pid))
		*why = err;
	for (int i = 0; i < TAGS_MAX && is_taken(err); i++) {
		tag = now() / 1000 | 1;
		err = choose(&name, object, place, tag);
		if (!err)
			err = libprofil_replace(gmon, name.path, false);
	}
	if (!err) {
		object->file.process = libprofil_state->id;
		object->file.series = libprofil_state->series;
		object->file.place = place;
		object->file.tag = tag;
	}
	return err;
}

static bool is_for_want_of_folder(int err)
{
	return err == EACCES || err == EPERM || err == EROFS || err == ENOENT ||
	       err == ENOTDIR;
}

static bool is_possible(unsigned int place, int err)
{
	if (place & NO_PREFIX && !*prefix)
		return false;
	if (!(place & IN_HOME))
		return true;
	return *home && is_for_want_of_folder(err) && (place & NO_PREFIX || *prefix != '/');
}

/**
 * libprofil_path_write() - Write a file where it belongs, or where it may be
 * @gmon: What is in it
 *
 * Return: 0, and a line says if it is in another place; or why there is no file.
 */
int libprofil_path_write(const struct libprofil_gmon *gmon)
{
	int err = 0, why = 0;

	if (!libprofil_state->id)
		libprofil_state->id = now();
	for (unsigned int place = 0; place < PLACES; place++) {
		if (place && !is_possible(place, err))
			continue;
		err = write_to(gmon, place, &why);
		if (!err && why) {
			choose(&first, gmon->object, 0, 0);
			say_elsewhere(why);
		}
		if (!err)
			return 0;
	}
	return why ? why : err;
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
