// SPDX-License-Identifier: GPL-2.0-only
/* A table of dump.h, looked up where it lies. */
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "dumped.h"

#define TEXTS_MOST (12 << 20)	/* bytes; they are there once more where they are written */

static bool is_whole(struct dumped *dumped)
{
	const struct dump_head *head = dumped->head;
	uint64_t length = sizeof(*head);

	if (dumped->length < length || memcmp(head->magic, DUMP_MAGIC, sizeof(head->magic)))
		return false;
	dumped->segments = (const void *)(head + 1);
	dumped->functions = (const void *)(dumped->segments + head->segments);
	dumped->texts = (const void *)(dumped->functions + head->functions);
	length += (uint64_t)head->segments * sizeof(*dumped->segments);
	length += (uint64_t)head->functions * sizeof(*dumped->functions);
	length += head->texts;
	return length == dumped->length && head->segments <= DUMP_SEGMENTS_MAX && head->texts &&
		!dumped->texts[head->texts - 1];
}

bool dumped_open(struct dumped *dumped, int fd)
{
	struct stat st;
	void *bytes;

	if (fstat(fd, &st) || !st.st_size)
		return false;
	bytes = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return false;
	*dumped = (struct dumped) { .head = bytes, .length = st.st_size };
	if (is_whole(dumped))
		return true;
	dumped_close(dumped);
	return false;
}

static uint64_t address_at(const struct dumped *dumped, uint64_t offset)
{
	for (size_t i = 0; i < dumped->head->segments; i++) {
		const struct dump_segment *segment = &dumped->segments[i];

		if (offset >= segment->offset && offset - segment->offset < segment->length)
			return segment->address + (offset - segment->offset);
	}
	return offset;
}

const struct dump_function *dumped_function(const struct dumped *dumped, uint64_t address)
{
	static const struct dump_function none;
	size_t low = 0, high = dumped->head->functions;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (dumped->functions[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &dumped->functions[low - 1] : &none;
}

/*
 * Who makes files with long names is not to take away the memory that a service has for all of
 * them: a place that comes after that has its address.
 */
static const char *text(struct profile *profile, const struct dumped *dumped, uint32_t at)
{
	bool room = profile->texts_size < TEXTS_MOST;

	return profile_string(profile, room && at < dumped->head->texts ? dumped->texts + at : "");
}

void dumped_find(const struct dumped *dumped, struct profile *profile, struct object *object,
		 struct place *places, size_t num)
{
	const struct dump_head *head = dumped->head;

	object->build_id = text(profile, dumped, head->build_id);
	object->start = head->start;
	object->limit = head->limit;
	object->offset = head->offset;
	for (size_t i = 0; i < num; i++) {
		const struct dump_function *function;

		places[i].address = address_at(dumped, places[i].address);
		function = dumped_function(dumped, places[i].address);
		places[i].function = text(profile, dumped, function->name);
		places[i].symbol = text(profile, dumped, function->symbol);
	}
}

void dumped_close(struct dumped *dumped)
{
	munmap((void *)dumped->head, dumped->length);
}
