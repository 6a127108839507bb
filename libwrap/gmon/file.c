// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * A gmon.out as gprof reads it.  It sums records of the same range, so that a
 * count above 16 bits is written in several; and it silently ignores all but the
 * first rate.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "arcs.h"
#include "block.h"
#include "gmon.h"
#include "internal.h"

/* <unistd.h> declares profil(), see internal.h. */
ssize_t write(int fd, const void *buf, size_t num);
int close(int fd);
int unlink(const char *path);
int getpid(void);

#define GMON_VERSION	1
#define RECORD_HISTOGRAM 0
#define RECORD_ARC	1
#define RECORD_BLOCKS	2
#define BIN_BYTES	2	/* of code; functions need not be aligned */
#define BIN_MAX		0xffff

struct out {
	const struct libprofil_gmon *gmon;
	int fd;
	int err;		/* of the first write that failed */
	size_t used;
	unsigned char buffer[8192];
};

static void flush(struct out *out)
{
	size_t done = 0;
	ssize_t num;

	while (!out->err && done < out->used) {
		num = write(out->fd, out->buffer + done, out->used - done);
		if (num >= 0)
			done += num;
		else if (errno != EINTR)
			out->err = errno;
	}
	out->used = 0;
}

static void put(struct out *out, const void *data, size_t bytes)
{
	if (out->used + bytes > sizeof(out->buffer))
		flush(out);
	memcpy(out->buffer + out->used, data, bytes);
	out->used += bytes;
}

static void put_byte(struct out *out, unsigned char byte)
{
	put(out, &byte, 1);
}

static void put_int(struct out *out, uint32_t value)
{
	put(out, &value, sizeof(value));
}

static void put_address(struct out *out, uintptr_t address)
{
	address -= out->gmon->object->base;
	put(out, &address, sizeof(address));
}

static size_t bins(const struct libprofil_object *object)
{
	return (object->high - object->low) / BIN_BYTES;
}

static uint32_t highest(const struct libprofil_gmon *gmon)
{
	uint32_t max = 0;

	for (size_t i = 0; i < bins(gmon->object); i++)
		if (gmon->counts[i] > max)
			max = gmon->counts[i];
	return max;
}

/* Of each count what is above @below, as much as a bin can hold. */
static void put_bins(struct out *out, const uint32_t *counts, size_t num, uint32_t below)
{
	for (size_t i = 0; i < num; i++) {
		uint32_t count = __atomic_load_n(&counts[i], __ATOMIC_RELAXED);
		uint16_t bin = count <= below ? 0 :
			       count - below < BIN_MAX ? count - below : BIN_MAX;

		memcpy(out->buffer + out->used, &bin, sizeof(bin));
		out->used += sizeof(bin);
	}
}

static void put_histogram(struct out *out, uint32_t below)
{
	static const char dimension[15] = "seconds", unit = 's';
	const struct libprofil_object *object = out->gmon->object;

	put_byte(out, RECORD_HISTOGRAM);
	put_address(out, object->low);
	put_address(out, object->high);
	put_int(out, bins(object));
	put_int(out, out->gmon->rate);
	put(out, dimension, sizeof(dimension));
	put(out, &unit, sizeof(unit));
	for (size_t i = 0, num; i < bins(object); i += num) {
		flush(out);
		num = bins(object) - i;
		if (num > sizeof(out->buffer) / sizeof(uint16_t))
			num = sizeof(out->buffer) / sizeof(uint16_t);
		put_bins(out, out->gmon->counts + i, num, below);
	}
}

static void put_calls(struct out *out, const struct libprofil_arc *arc, uintptr_t count)
{
	uint32_t part;

	for (; count; count -= part) {
		part = count < UINT32_MAX ? count : UINT32_MAX;
		put_byte(out, RECORD_ARC);
		put_address(out, arc->from);
		put_address(out, arc->self);
		put_int(out, part);
	}
}

static bool put_arc(void *arg, struct libprofil_arc *arc)
{
	struct out *out = arg;
	uintptr_t count = atomic_load(&arc->count) - arc->written;

	/* Those have records of their own. */
	if (arc->self == BLOCK_SELF)
		return true;
	if (count && (!out->gmon->anew || libprofil_written_add(arc, count)))
		put_calls(out, arc, count);
	return !out->err;
}

/* A record each: how many there are is not known before. */
static bool put_block(void *arg, uintptr_t at, uintptr_t count)
{
	struct out *out = arg;

	put_byte(out, RECORD_BLOCKS);
	put_int(out, 1);
	put_address(out, at);
	put(out, &count, sizeof(count));
	return !out->err;
}

static void put_blocks(struct out *out)
{
	if (!libprofil_blocks_each(out->gmon, put_block, out) && !out->err)
		out->err = errno;
}

static void put_all(struct out *out)
{
	static const uint32_t unused[3];
	uint32_t max = highest(out->gmon), below = 0;

	put(out, "gmon", 4);
	put_int(out, GMON_VERSION);
	put(out, unused, sizeof(unused));
	/* The first one also when it is empty: gprof wants one. */
	do {
		put_histogram(out, below);
		below += BIN_MAX;
	} while (below >= BIN_MAX && below < max);
	libprofil_object_arcs(out->gmon->object, put_arc, out);
	put_blocks(out);
	flush(out);
}

/**
 * libprofil_file_write() - Write all that is known of an object
 * @gmon: What to write
 * @path: The file, which appears whole or not at all
 *
 * Context: One at a time.
 * Return: Whether that was possible; if not, errno says why.
 */
bool libprofil_file_write(const struct libprofil_gmon *gmon, const char *path)
{
	/* In no one's stack: signal handlers have a small one. */
	static char part[PATH_MAX];
	static struct out out;

	if ((size_t)snprintf(part, sizeof(part), "%s.tmp%d", path, getpid()) >=
	    sizeof(part)) {
		errno = ENAMETOOLONG;
		return false;
	}
	out.gmon = gmon;
	out.err = 0;
	unlink(part);
	out.fd = open(part, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
	if (out.fd < 0)
		return false;
	if (!gmon->anew || libprofil_written_begin(gmon->object))
		put_all(&out);
	else
		out.err = errno;
	if (close(out.fd) && !out.err)
		out.err = errno;
	if (!out.err && rename(part, path))
		out.err = errno;
	if (gmon->anew)
		libprofil_written_end(!out.err);
	if (!out.err)
		return true;
	unlink(part);
	errno = out.err;
	return false;
}
