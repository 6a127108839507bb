// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "file.h"
#include "names.h"
#include "order.h"
#include "reader.h"
#include "say.h"
#include "source.h"
#include "sysroot.h"

enum { KEY_NAMES = 3072 };

#define SAID_FROM 100	/* a file with fewer samples than this part of all is not missed */

enum way { BY_ID, BY_PATH, BY_NAME };

/* Where a file may be; what has all symbols comes first. */
static const struct candidate {
	enum way way;
	bool code;		/* else it has nothing but debug symbols */
	const char *format;
} candidates[] = {
	{ BY_ID, false, "%s/.build-id/%.2s/%s.debug" },
	{ BY_ID, false, "%s/usr/lib/debug/.build-id/%.2s/%s.debug" },
	{ BY_ID, false, "%s/%.2s%s/debuginfo" },
	{ BY_PATH, false, "%s%s.debug" },
	{ BY_PATH, false, "%s/usr/lib/debug%s.debug" },
	{ BY_NAME, false, "%s/%s.debug" },
	{ BY_ID, true, "%s/.build-id/%.2s/%s" },
	{ BY_ID, true, "%s/%.2s%s/executable" },
	{ BY_PATH, true, "%s%s" },
	{ BY_NAME, true, "%s/%s" },
};

#define CANDIDATES (sizeof(candidates) / sizeof(candidates[0]))

static const struct argp_option options[] = {
	{ "names", KEY_NAMES, "DIR", 0,
	  "Look for missing names in DIR: debug symbols, or files of the machine that was profiled",
	  0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct sysroot *sysroot = state->input;
	struct stat st;

	if (key != KEY_NAMES)
		return ARGP_ERR_UNKNOWN;
	sysroot_free(sysroot);
	sysroot->folder = realpath(arg, NULL);
	if (!sysroot->folder || stat(sysroot->folder, &st))
		argp_error(state, "--names %s cannot be read: %s", arg, strerror(errno));
	else if (!S_ISDIR(st.st_mode))
		argp_error(state, "--names takes a folder, and %s is none", arg);
	return 0;
}

const struct argp sysroot_argp = { options, parse, NULL, NULL, NULL, NULL, NULL };

void sysroot_free(struct sysroot *sysroot)
{
	free(sysroot->folder);
	sysroot->folder = NULL;
}

/* Build ids come from files that anybody may have made. */
static bool is_id(const char *id)
{
	return strlen(id) > 2 && id[strspn(id, "0123456789abcdef")] == '\0';
}

/* What a candidate is called, to be freed; NULL: the object cannot be found in this way. */
static char *path_of(const struct sysroot *sysroot, const struct object *object,
		     const struct candidate *candidate)
{
	/* of the root folder, no path begins with two slashes */
	const char *folder = sysroot->folder[1] ? sysroot->folder : "";
	const char *id = object->build_id;
	char *path, *file;
	int length;

	if (candidate->way == BY_ID && !is_id(id))
		return NULL;
	file = allocated(strndup(object->file, file_length(object->file)));
	if (candidate->way == BY_ID)
		length = asprintf(&path, candidate->format, folder, id, id + 2);
	else
		length = asprintf(&path, candidate->format, folder, candidate->way == BY_PATH ?
				  file : last_part(file));
	free(file);
	return length < 0 ? allocated(NULL) : path;
}

static void tell_id(void *data, int fd, FILE *out)
{
	file_tell_id(fd, data, out);
}

/* Of an object without a build id, only the path says that a file is it. */
static bool fits(struct profile *profile, const struct object *object, const char *path, int fd,
		 bool said)
{
	const char *id = "";
	struct told told;

	reader_run(dup(fd), (struct reader_how) { 0 }, tell_id, (void *)path, &told);
	if (!told_string(&told, profile, &id))
		id = "";
	free(told.texts);
	if (!strcmp(id, object->build_id) || (!object->build_id[0] && !object->limit))
		return true;
	if (said && id[0] && object->build_id[0])
		say("%s is not the file that was profiled: its build id is %s, and was %s; put that one there",
		    path, id, object->build_id);
	return false;
}

/* The first file that fits; -1 if there is none.  The path is to be freed. */
static int find(const struct sysroot *sysroot, struct profile *profile,
		const struct object *object, bool code, char **path, struct stat *st)
{
	for (size_t i = 0; i < CANDIDATES && sysroot->folder; i++) {
		int fd = -1;

		if (code && !candidates[i].code)
			continue;
		*path = path_of(sysroot, object, &candidates[i]);
		if (*path)
			fd = open_ordinary(*path, st);
		if (fd >= 0 && fits(profile, object, *path, fd, candidates[i].way == BY_PATH))
			return fd;
		if (fd >= 0)
			close(fd);
		free(*path);
	}
	return -1;
}

/* What a place has, stays. */
static void fill_place(struct place *place, const struct place *found)
{
	if (!is_named(place) && is_named(found)) {
		place->function = found->function;
		place->symbol = found->symbol;
	}
	if (!place->source[0] && is_named(place)) {
		place->source = found->source;
		place->line = found->line;
	}
}

/* @fd is closed.  A file that could not be read when it was profiled has offsets, no addresses. */
static void fill(struct profile *profile, size_t object, int fd, const char *path, bool fetch)
{
	struct place *found = allocated(calloc(profile->num_places + 1, sizeof(*found)));
	bool offsets = !profile->objects[object].limit;
	struct object now = profile->objects[object];
	size_t num = 0;

	for (size_t i = 0; i < profile->num_places; i++)
		if (profile->places[i].object == object)
			found[num++] = profile->places[i];
	if (offsets)
		names_find(profile, fd, path, fetch, false, &now, found, num);
	else
		names_find_again(profile, fd, path, fetch, &now, found, num);
	if (offsets)
		profile->objects[object] = now;
	num = 0;
	for (size_t i = 0; i < profile->num_places; i++) {
		if (profile->places[i].object != object)
			continue;
		profile->places[i].address = found[num].address;
		fill_place(&profile->places[i], &found[num++]);
	}
	free(found);
}

/* Where names of the file that has most of those without one could be. */
static void say_missing(const struct sysroot *sysroot, struct profile *profile,
			const uint64_t *unnamed, uint64_t all)
{
	const struct object *object = NULL;
	uint64_t most = all / SAID_FROM;
	char *debug, *code;

	for (size_t i = 0; i < profile->num_objects; i++)
		if (unnamed[i] > most) {
			most = unnamed[i];
			object = &profile->objects[i];
		}
	if (!object)
		return;
	/* the debug symbols of a system are where its packages have them */
	debug = path_of(sysroot, object, &candidates[(is_id(object->build_id) ? 0 : 3) +
						     !sysroot->folder[1]]);
	code = path_of(sysroot, object, &candidates[CANDIDATES - 2]);
	say("%s has nothing of %s: put its debug symbols there as %s, or the file itself as %s",
	    sysroot->folder, object_name(object), debug, code);
	free(debug);
	free(code);
}

void sysroot_names(const struct sysroot *sysroot, struct profile *profile)
{
	uint64_t *samples, *unnamed, all = 0;

	if (!sysroot->folder)
		return;
	file_search(sysroot->folder);
	/* of several profiles of one file it is looked for once */
	profile_order(profile);
	samples = allocated(calloc(profile->num_objects + 1, sizeof(*samples)));
	unnamed = allocated(calloc(profile->num_objects + 1, sizeof(*unnamed)));
	for (size_t i = 0; i < profile->num_samples; i++) {
		const struct place *place = &profile->places[profile->samples[i].place];

		add(&all, profile->samples[i].samples);
		add(&samples[place->object], profile->samples[i].samples);
		if (!is_named(place))
			add(&unnamed[place->object], profile->samples[i].samples);
	}
	for (size_t i = 0; i < profile->num_objects; i++) {
		const struct object *object = &profile->objects[i];
		struct stat st;
		char *path;
		int fd = -1;

		if (object->file[0] == '/')
			fd = find(sysroot, profile, object, false, &path, &st);
		if (fd >= 0) {
			fill(profile, i, fd, path, names_fetched(samples[i], all));
			free(path);
		}
		if (fd >= 0 || object->file[0] != '/')
			unnamed[i] = 0;
	}
	say_missing(sysroot, profile, unnamed, all);
	free(samples);
	free(unnamed);
}

int sysroot_open(const struct sysroot *sysroot, struct profile *profile,
		 const struct object *object, const char **path, struct stat *st)
{
	char *found;
	int fd = find(sysroot, profile, object, true, &found, st);

	if (fd < 0) {
		*path = object->file;
		return open_ordinary(object->file, st);
	}
	*path = profile_string(profile, found);
	free(found);
	return fd;
}
