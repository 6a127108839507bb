// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * A gmon.out as gprof reads it.  It sums records of the same range, so that a
 * count above 16 bits is written in several; and it silently ignores all but the
 * first rate.
 */
#include <errno.h>
#include <string.h>
#include <sys/types.h>
#include "arcs.h"
#include "block.h"
#include "gmon.h"
#include "internal.h"

/* <unistd.h> declares profil(), see internal.h. */
ssize_t write(int fd, const void *buf, size_t num);

#define GMON_VERSION	1
#define RECORD_HISTOGRAM 0
#define RECORD_ARC	1
#define RECORD_BLOCKS	2
#define BIN_BYTES	2	/* of code, unless there was no memory for that */
#define BIN_MAX		0xffff
/*
 * Code that has no samples is left out.  Parts are the same in all files of a program,
 * for gprof adds histograms of the same range only, and refuses others that overlap.
 */
#define WHOLE_BINS	8192	/* up to so many are one part */
#define PART_BINS	512

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

struct part {
	size_t first, num;	/* bins */
};

static uint32_t highest(const struct libprofil_gmon *gmon, const struct part *part)
{
	uint32_t max = 0;

	for (size_t i = part->first; gmon->counts && i < part->first + part->num; i++)
		if (gmon->counts[i] > max)
			max = gmon->counts[i];
	return max;
}

/* Of each count what is above @below, as much as a bin can hold. */
static void put_bins(struct out *out, const struct part *part, uint32_t below)
{
	const uint32_t *counts = out->gmon->counts;

	for (size_t i = part->first; i < part->first + part->num; i++) {
		uint32_t count = counts ? __atomic_load_n(&counts[i], __ATOMIC_RELAXED) : 0;
		uint16_t bin = count <= below ? 0 :
			       count - below < BIN_MAX ? count - below : BIN_MAX;

		put(out, &bin, sizeof(bin));
	}
}

static void put_histogram(struct out *out, const struct part *part, uint32_t below)
{
	static const char dimension[15] = "seconds", unit = 's';
	const struct libprofil_object *object = out->gmon->object;
	uintptr_t bytes = (uintptr_t)BIN_BYTES << object->shift;

	put_byte(out, RECORD_HISTOGRAM);
	put_address(out, object->low + part->first * bytes);
	put_address(out, object->low + (part->first + part->num) * bytes);
	put_int(out, part->num);
	put_int(out, out->gmon->rate);
	put(out, dimension, sizeof(dimension));
	put(out, &unit, sizeof(unit));
	put_bins(out, part, below);
}

static void put_histograms(struct out *out)
{
	size_t all = libprofil_object_bins(out->gmon->object);
	struct part part = { .num = all <= WHOLE_BINS ? all : PART_BINS }, none = part;
	bool any = false;

	for (; part.first < all; part.first += part.num) {
		uint32_t max, below = 0;

		if (part.num > all - part.first)
			part.num = all - part.first;
		max = highest(out->gmon, &part);
		for (; below < max; below = max - below > BIN_MAX ? below + BIN_MAX : max)
			put_histogram(out, &part, below);
		any |= max;
	}
	/* gprof wants one. */
	if (!any)
		put_histogram(out, &none, 0);
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

	put(out, "gmon", 4);
	put_int(out, GMON_VERSION);
	put(out, unused, sizeof(unused));
	put_histograms(out);
	libprofil_object_arcs(out->gmon->object, put_arc, out);
	put_blocks(out);
	flush(out);
}

/**
 * libprofil_file_write() - Write all that is known of an object
 * @gmon: What to write
 * @fd: Where to
 *
 * Context: One at a time.
 * Return: 0, or why not all was written.
 */
int libprofil_file_write(const struct libprofil_gmon *gmon, int fd)
{
	/* In no one's stack: signal handlers have a small one. */
	static struct out out;

	if (gmon->anew && !libprofil_written_begin(gmon->object))
		return errno;
	out.gmon = gmon;
	out.fd = fd;
	out.err = 0;
	/* Of its parent a forked child may have what another thread was writing. */
	out.used = 0;
	put_all(&out);
	return out.err;
}
