// SPDX-License-Identifier: GPL-2.0-only
/* A function: where its code is in its file, what that does, and where it was written. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>
#include "code.h"
#include "file.h"
#include "function.h"
#include "inlined.h"
#include "say.h"

/* Bytes of code in all; more than that nobody reads. */
#define CODE_MAX (1 << 20)
/* Bytes shown at an address of which not even the beginning of the function is known. */
#define ALONE 64

struct function {
	const struct function_wish *wish;
	struct file file;
	struct code *code;
	struct inlined inlined;
	FILE *out;
	GElf_Addr start, end;
	GElf_Addr told;		/* the end of what was told */
	size_t left;		/* of CODE_MAX */
	size_t next;		/* of the addresses, that was not told */
};

/* A place in the source; the text is libdw's, or to be freed. */
struct origin {
	const char *source;
	char *joined;
	int line;
	const char *inlined;
};

/* As report calls it; to be freed. */
static char *name_at(const struct symbol *symbol, GElf_Addr start)
{
	char *name = symbol ? cplus_demangle(symbol->name, DMGL_AUTO | DMGL_ANSI) : NULL;

	if (name)
		return name;
	if (symbol)
		return allocated(strdup(symbol->name));
	if (asprintf(&name, "fn@%" PRIx64, start) < 0)
		allocated(NULL);
	return name;
}

/* Some names of sources are relative to where the compiler ran. */
static char *join(const char *folder, const char *source)
{
	char *path;

	if (!source || source[0] == '/' || !folder)
		return NULL;
	if (asprintf(&path, "%s/%s", folder, source) < 0)
		allocated(NULL);
	return path;
}

static struct origin find_origin(const struct function *function, GElf_Addr address)
{
	const struct file *file = &function->file;
	Dwfl_Line *line = dwfl_module_getsrc(file->module, address + file->bias);
	struct origin origin = { .inlined = "" };

	if (!line)
		return origin;
	origin.source = dwfl_lineinfo(line, NULL, &origin.line, NULL, NULL, NULL);
	origin.joined = join(dwfl_line_comp_dir(line), origin.source);
	origin.inlined = inlined_at(&function->inlined, address + file->bias);
	return origin;
}

static void tell_source(FILE *out, const char *source, const char *joined, int line)
{
	tell_text(out, joined ? joined : source ? source : "");
	tell_number(out, source && line > 0 ? line : 0);
}

static void tell_code(const struct function *function, const struct instruction *instruction,
		      const struct origin *origin)
{
	FILE *out = function->out;

	tell_text(out, "code");
	tell_number(out, instruction->address);
	tell_text(out, instruction->text);
	tell_number(out, instruction->target);
	tell_number(out, instruction->jumps);
	tell_source(out, origin->source, origin->joined, origin->line);
	tell_text(out, origin->inlined);
}

/* What is called, or jumped to, elsewhere in the file. */
static void name_target(const struct function *function, struct instruction *instruction)
{
	const struct file *file = &function->file;
	GElf_Addr target = instruction->target, start;
	size_t length = strlen(instruction->text);
	const struct symbol *symbol;
	char *name;

	if (!target || (target >= function->start && target < function->end))
		return;
	symbol = file_symbol(file, target, &start);
	if (symbol)
		start = symbol->start - file->bias;
	else if (!start)
		return;
	name = name_at(symbol, start);
	snprintf(instruction->text + length, sizeof(instruction->text) - length,
		 target > start ? " <%s+%#" PRIx64 ">" : " <%s>", name, target - start);
	free(name);
}

static void tell_instructions(const struct function *function, const uint8_t *bytes, size_t length)
{
	GElf_Addr address = function->start;
	struct instruction instruction;

	while (code_next(function->code, &bytes, &length, &address, &instruction)) {
		struct origin origin = find_origin(function, instruction.address);

		name_target(function, &instruction);
		tell_code(function, &instruction, &origin);
		free(origin.joined);
	}
}

static bool same_origin(const struct origin *a, const struct origin *b)
{
	return a->source == b->source && a->line == b->line && a->inlined == b->inlined;
}

/* Without instructions: where lines begin, and what was asked for. */
static void tell_lines(const struct function *function)
{
	struct origin before = { .line = -1 };
	size_t next = function->next;

	for (GElf_Addr at = function->start; at < function->end; at++) {
		struct instruction nothing = { .address = at };
		struct origin origin = find_origin(function, at);

		while (next < function->wish->num && function->wish->addresses[next] < at)
			next++;
		if (!same_origin(&origin, &before) ||
		    (next < function->wish->num && function->wish->addresses[next] == at))
			tell_code(function, &nothing, &origin);
		free(origin.joined);
		before = origin;
	}
}

/* As much of it as the file has, and as is left of what is shown. */
static bool cut(struct function *function, GElf_Addr address, GElf_Off *offset)
{
	size_t num = file_segments(&function->file);
	GElf_Phdr segment;

	for (size_t i = 0; i < num; i++) {
		if (!file_segment(&function->file, i, &segment) || address < segment.p_vaddr ||
		    address - segment.p_vaddr >= segment.p_filesz)
			continue;
		if (function->start < segment.p_vaddr)
			function->start = segment.p_vaddr;
		if (function->end - segment.p_vaddr > segment.p_filesz)
			function->end = segment.p_vaddr + segment.p_filesz;
		if (address - function->start >= function->left)
			function->start = address;
		if (function->end - function->start > function->left)
			function->end = function->start + function->left;
		function->left -= function->end - function->start;
		*offset = segment.p_offset + (function->start - segment.p_vaddr);
		return function->end > function->start;
	}
	return false;
}

/* The code around an address, which is behind what was told. */
static const struct symbol *find_range(struct function *function, GElf_Addr address)
{
	const struct file *file = &function->file;
	GElf_Addr start;
	const struct symbol *symbol = file_symbol(file, address, &start);

	if (symbol) {
		function->start = symbol->start - file->bias;
		function->end = symbol->end - file->bias;
	} else {
		function->start = start ? start : address;
		function->end = start ? frames_next(&file->frames, address) : address + ALONE;
		if (!function->end)
			function->end = UINT64_MAX;
	}
	if (function->start < function->told)
		function->start = function->told;
	return symbol;
}

static void tell_function(struct function *function, GElf_Addr address)
{
	const struct symbol *symbol = find_range(function, address);
	const struct file *file = &function->file;
	Elf_Data *data;
	GElf_Off offset;
	char *joined, *name;

	if (!cut(function, address, &offset))
		return;
	data = elf_getdata_rawchunk(file->elf, offset, function->end - function->start,
				    ELF_T_BYTE);
	if (!data || !data->d_buf || data->d_size < function->end - function->start)
		return;
	inlined_find(&function->inlined, file->module, address + file->bias);
	tell_text(function->out, "range");
	name = name_at(symbol, function->start);
	tell_text(function->out, name);
	free(name);
	tell_number(function->out, function->start);
	tell_number(function->out, function->end);
	joined = join(function->inlined.folder, function->inlined.source);
	tell_source(function->out, function->inlined.source, joined, function->inlined.line);
	free(joined);
	if (function->code)
		tell_instructions(function, data->d_buf, data->d_size);
	else
		tell_lines(function);
	free(function->inlined.list);
	function->told = function->end;
}

void function_tell(void *data, int fd, FILE *out)
{
	struct function function = { .wish = data, .out = out, .left = CODE_MAX };
	const char *missing = "it is no ELF file";

	file_open(&function.file, fd, function.wish->path);
	if (function.file.elf)
		function.code = code_open(function.file.elf, &missing);
	file_tell_build_id(&function.file, out);
	tell_text(out, function.code ? "" : missing);
	for (; function.next < function.wish->num; function.next++) {
		GElf_Addr address = function.wish->addresses[function.next];

		if (function.file.elf && address >= function.told)
			tell_function(&function, address);
	}
	tell_text(out, "end");
	code_close(function.code);
}
