// SPDX-License-Identifier: GPL-2.0-only
/* All functions of a file: for a process of its own, as file.c is, see reader.h. */
#include <errno.h>
#include <inttypes.h>
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>
#include "dump.h"
#include "file.h"
#include "order.h"
#include "profile.h"
#include "say.h"

#define TEXTS_MAX ((size_t)64 << 20)
#define FUNCTIONS_MAX 1000000

struct dump {
	struct file file;
	struct dump_head head;
	uint64_t *bounds;		/* addresses where another function may begin or end */
	size_t num_bounds, room_bounds;
	struct dump_function *functions;
	size_t room_functions;
	char *texts;
	size_t num_texts, room_texts;
	const struct symbol *symbol;	/* of the function that was added last */
	GElf_Addr start;
};

static uint32_t add_text(struct dump *dump, const char *text)
{
	size_t length = strnlen(text, PROFILE_TEXT_MAX), at = dump->num_texts;

	if (length >= TEXTS_MAX - at)
		return 0;
	while (at + length >= dump->room_texts)
		dump->texts = more(dump->texts, &dump->room_texts, dump->room_texts, 1);
	memcpy(dump->texts + at, text, length);
	dump->texts[at + length] = '\0';
	dump->num_texts += length + 1;
	return at;
}

static void add_bound(struct dump *dump, uint64_t address)
{
	dump->bounds = more(dump->bounds, &dump->room_bounds, dump->num_bounds,
			    sizeof(*dump->bounds));
	dump->bounds[dump->num_bounds++] = address;
}

static void find_bounds(struct dump *dump)
{
	const struct file *file = &dump->file;
	GElf_Addr address = 0;

	for (size_t i = 0; i < file->symbols.num; i++) {
		add_bound(dump, file->symbols.list[i].start - file->bias);
		add_bound(dump, file->symbols.list[i].end - file->bias);
	}
	while ((address = frames_next(&file->frames, address)))
		add_bound(dump, address);
}

static int by_address(const void *a, const void *b)
{
	return compare_numbers(*(const uint64_t *)a, *(const uint64_t *)b);
}

static void name_function(struct dump *dump, struct dump_function *function,
			  const struct symbol *symbol, GElf_Addr start)
{
	char begin[32];
	char *name;

	if (!symbol) {
		snprintf(begin, sizeof(begin), "fn@%" PRIx64, start);
		function->name = start ? add_text(dump, begin) : 0;
		function->symbol = function->name;
		return;
	}
	function->symbol = add_text(dump, symbol->name);
	name = cplus_demangle(symbol->name, DMGL_AUTO | DMGL_ANSI);
	function->name = name ? add_text(dump, name) : function->symbol;
	free(name);
}

static void add_function(struct dump *dump, uint64_t address)
{
	GElf_Addr start;
	const struct symbol *symbol = file_symbol(&dump->file, address, &start);
	struct dump_function *function;

	if (symbol)
		start = 0;
	if (dump->head.functions && symbol == dump->symbol && start == dump->start)
		return;
	dump->symbol = symbol;
	dump->start = start;
	dump->functions = more(dump->functions, &dump->room_functions, dump->head.functions,
			       sizeof(*function));
	function = &dump->functions[dump->head.functions++];
	function->start = address;
	name_function(dump, function, symbol, start);
}

static void add_functions(struct dump *dump)
{
	uint64_t *bounds = dump->bounds;
	size_t named = 0;

	if (dump->num_bounds)
		qsort(bounds, dump->num_bounds, sizeof(*bounds), by_address);
	for (size_t i = 0; i < dump->num_bounds && dump->head.functions < FUNCTIONS_MAX; i++) {
		if (i && bounds[i] == bounds[i - 1])
			continue;
		add_function(dump, bounds[i]);
		named += !!dump->symbol;
	}
	dump->head.few = named < dump->head.functions / 2;
}

/* Those that are loaded, the first ones.  Returns how many there are. */
static uint32_t find_segments(const struct file *file, struct dump_segment *segments)
{
	size_t num = file_segments(file);
	uint32_t found = 0;
	GElf_Phdr segment;

	for (size_t i = 0; i < num && found < DUMP_SEGMENTS_MAX; i++)
		if (file_segment(file, i, &segment))
			segments[found++] = (struct dump_segment) {
				segment.p_offset, segment.p_filesz, segment.p_vaddr,
			};
	return found;
}

/* The libraries leave it as the kernel's last answer was. */
static bool is_passing(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM || error == EIO ||
		error == ESTALE;
}

bool dump_write(int fd, const char *path, uint32_t asked, FILE *out)
{
	struct dump dump = { .head = { .magic = DUMP_MAGIC, .asked = asked } };
	struct dump_segment segments[DUMP_SEGMENTS_MAX];
	struct dump_head *head = &dump.head;
	size_t length;
	char *id;
	FILE *text = allocated(open_memstream(&id, &length));

	errno = 0;
	file_open(&dump.file, fd, path);
	if (is_passing(errno))
		return false;
	file_find_code(&dump.file);
	file_tell_build_id(&dump.file, text);
	if (fclose(text))
		allocated(NULL);
	add_text(&dump, "");
	head->build_id = add_text(&dump, id);
	head->start = dump.file.start;
	head->limit = dump.file.limit;
	head->offset = dump.file.offset;
	head->segments = find_segments(&dump.file, segments);
	find_bounds(&dump);
	add_functions(&dump);
	head->texts = dump.num_texts;
	fwrite(head, sizeof(*head), 1, out);
	fwrite(segments, sizeof(*segments), head->segments, out);
	fwrite(dump.functions, sizeof(*dump.functions), head->functions, out);
	fwrite(dump.texts, 1, dump.num_texts, out);
	/* the process ends: what it has goes with it */
	return true;
}
