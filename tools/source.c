// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "say.h"
#include "source.h"

/* All of them together: DWARF may name any number of large files. */
#define SIZE_MOST ((off_t)128 << 20)
#define LINE_MAX_BYTES 1024
#define TAB 8

/* Merely to open a device may do something: what is opened is what was looked at, and no other. */
int open_ordinary(const char *path, struct stat *st)
{
	int seen = open(path, O_PATH | O_CLOEXEC), fd = -1, error = EINVAL;
	char self[32];

	if (seen < 0)
		return -1;
	if (!fstat(seen, st) && S_ISREG(st->st_mode)) {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", seen);
		fd = open(self, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		error = errno;
	}
	close(seen);
	errno = error;
	return fd;
}

static bool read_bytes(struct source *source, int fd)
{
	size_t size = source->st.st_size, length = 0;

	source->bytes = allocated(malloc(size + 1));
	while (length < size) {
		ssize_t n = read(fd, source->bytes + length, size - length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		if (!n)
			break;
		length += n;
	}
	source->bytes[length] = '\0';
	source->st.st_size = length;
	return true;
}

static void find_lines(struct source *source)
{
	const char *end = source->bytes + source->st.st_size;
	size_t room = 0;

	for (const char *p = source->bytes; p < end;) {
		const char *feed = memchr(p, '\n', end - p);

		source->lines = more(source->lines, &room, source->num + 1, sizeof(size_t));
		source->lines[source->num++] = p - source->bytes;
		p = feed ? feed + 1 : end;
		source->lines[source->num] = p - source->bytes;
	}
}

static struct source *read_source(const char *path, off_t most)
{
	struct source *source = allocated(calloc(1, sizeof(*source)));
	int fd = open_ordinary(path, &source->st);

	source->path = path;
	if (fd < 0) {
		source->error = errno;
		return source;
	}
	if (source->st.st_size > most)
		source->error = EFBIG;
	else if (!read_bytes(source, fd))
		source->error = errno;
	else
		find_lines(source);
	close(fd);
	return source;
}

const struct source *sources_find(struct sources *sources, const char *path)
{
	struct source *source;

	for (size_t i = 0; i < sources->num; i++)
		if (sources->list[i]->path == path)
			return sources->list[i];
	source = read_source(path, SIZE_MOST - sources->size);
	if (source->bytes)
		sources->size += source->st.st_size;
	sources->list = more(sources->list, &sources->room, sources->num, sizeof(source));
	sources->list[sources->num++] = source;
	return source;
}

void sources_free(struct sources *sources)
{
	for (size_t i = 0; i < sources->num; i++) {
		free(sources->list[i]->bytes);
		free(sources->list[i]->lines);
		free(sources->list[i]);
	}
	free(sources->list);
}

/* With blanks in the place of tabs, which have no width of their own. */
const char *source_line(struct profile *profile, const struct source *source, size_t number)
{
	static char text[LINE_MAX_BYTES + TAB];
	size_t length = 0;

	if (!number || number > source->num)
		return profile_string(profile, "");
	for (size_t i = source->lines[number - 1]; i < source->lines[number]; i++) {
		char c = source->bytes[i];

		if (length >= LINE_MAX_BYTES || c == '\n' ||
		    (c == '\r' && source->bytes[i + 1] == '\n'))
			break;
		do {
			text[length++] = c == '\t' ? ' ' : c;
		} while (c == '\t' && length % TAB);
	}
	return profile_text(profile, text, length);
}
