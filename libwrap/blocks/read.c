// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* The blocks of an object, with those that were never reached. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>
#include "arcs.h"
#include "block.h"
#include "gmon.h"

#define WINDOW	65536	/* bytes of code at a time */
#define PAGE	4096	/* the smallest that a kernel has */

struct window {
	const struct libprofil_object *object;
	uintptr_t low, high;
	bool anew;			/* the next file begins with what comes now */
	uintptr_t counts[WINDOW];	/* of the block at each byte */
	unsigned char code[WINDOW + 2 * PAGE];
};

/*
 * What cannot be read, or is not mapped any more, is 0, and what comes after it is read.
 * Where an object was, another's code may be.
 */
static void read_code(struct window *window)
{
	uintptr_t at = window->low, bytes;

	memset(window->code, 0, sizeof(window->code));
	if (!window->object->mapped)
		return;
	for (; at < window->high + CALL_BYTES; at += bytes) {
		bytes = PAGE - at % PAGE;
		libprofil_read_own(window->code + (at - window->low), at, bytes);
	}
}

static bool read_count(void *arg, struct libprofil_arc *arc)
{
	struct window *window = arg;
	uintptr_t count;

	if (arc->self != BLOCK_SELF || arc->from < window->low || arc->from >= window->high)
		return true;
	count = atomic_load(&arc->count) - arc->written;
	if (count && (!window->anew || libprofil_written_add(arc, count)))
		window->counts[arc->from - window->low] += count;
	return true;
}

static bool is_block(const struct window *window, uintptr_t i)
{
	return window->counts[i] ||
	       libprofil_block_calls(block_callee(window->code + i, window->low + i));
}

static bool window_each(struct window *window, libprofil_blocks_fn *each, void *arg)
{
	memset(window->counts, 0, sizeof(window->counts));
	read_code(window);
	libprofil_object_arcs(window->object, read_count, window);
	for (uintptr_t i = 0; i < window->high - window->low; i += CALL_STEP)
		if (is_block(window, i) && !each(arg, window->low + i, window->counts[i]))
			return false;
	return true;
}

static bool blocks_each(struct window *window, libprofil_blocks_fn *each, void *arg)
{
	const struct libprofil_object *object = window->object;
	uintptr_t low = object->low;

	for (; low < object->high; low = window->high) {
		window->low = low;
		window->high = object->high - low < WINDOW ? object->high : low + WINDOW;
		if (!window_each(window, each, arg))
			return false;
	}
	return true;
}

static bool is_call(void *arg, struct libprofil_arc *arc)
{
	(void)arg;
	return arc->self != BLOCK_SELF;
}

/**
 * libprofil_block_any() - Whether a block was reached there
 * @object: What is, or was, mapped
 */
bool libprofil_block_any(const struct libprofil_object *object)
{
	return libprofil_block_counted() && !libprofil_object_arcs(object, is_call, NULL);
}

/**
 * libprofil_blocks_each() - Find all blocks of an object
 * @gmon: For which file
 * @each: Called for each, in the order of addresses, until it returns false
 * @arg: For @each
 *
 * Context: One at a time, while others count.
 * Return: Whether @each was called for all; if there is no memory, errno says so.
 */
bool libprofil_blocks_each(const struct libprofil_gmon *gmon,
			   libprofil_blocks_fn *each, void *arg)
{
	struct window *window;
	bool all;

	if (!libprofil_block_any(gmon->object))
		return true;
	window = mmap(NULL, sizeof(*window), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (window == MAP_FAILED)
		return false;
	window->object = gmon->object;
	window->anew = gmon->anew;
	all = blocks_each(window, each, arg);
	munmap(window, sizeof(*window));
	return all;
}
