// SPDX-License-Identifier: GPL-2.0-only
/* What a file with code says of places in it, by elfutils; names by libiberty. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>
#include "file.h"
#include "reader.h"
#include "say.h"
#include "separate.h"

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = separate_find,
	.section_address = dwfl_offline_section_address,
	.debuginfo_path = &separate_path,
};

void file_search(const char *folder)
{
	free(separate_path);
	if (asprintf(&separate_path, "%s:%s/usr/lib/debug::.debug:/usr/lib/debug", folder,
		     folder) < 0)
		allocated(NULL);
}

static void open_elf(struct file *file, int fd, const char *path)
{
	Dwfl *dwfl = dwfl_begin(&callbacks);

	memset(file, 0, sizeof(*file));
	if (!dwfl)
		return;
	file->module = dwfl_report_elf(dwfl, path, path, fd, 0, true);
	dwfl_report_end(dwfl, NULL, NULL);
	if (!file->module)
		return;
	file->elf = dwfl_module_getelf(file->module, &file->bias);
}

void file_open(struct file *file, int fd, const char *path)
{
	open_elf(file, fd, path);
	if (!file->elf)
		return;
	symbols_load(file->module, &file->symbols);
	frames_find(file->elf, &file->frames);
}

bool file_segment(const struct file *file, size_t i, GElf_Phdr *segment)
{
	return gelf_getphdr(file->elf, i, segment) && segment->p_type == PT_LOAD;
}

size_t file_segments(const struct file *file)
{
	size_t num = 0;

	if (file->elf)
		elf_getphdrnum(file->elf, &num);
	return num;
}

/* From the first segment with code to the end of the last one. */
void file_find_code(struct file *file)
{
	size_t num = file_segments(file);
	GElf_Phdr segment;

	for (size_t i = 0; i < num; i++) {
		if (!file_segment(file, i, &segment) || !(segment.p_flags & PF_X))
			continue;
		if (!file->limit || segment.p_vaddr < file->start) {
			file->start = segment.p_vaddr;
			file->offset = segment.p_offset;
		}
		if (segment.p_vaddr + segment.p_memsz > file->limit)
			file->limit = segment.p_vaddr + segment.p_memsz;
	}
}

/* Where the file would have this byte of it loaded; without segments, the offset. */
static GElf_Addr address_at(const struct file *file, GElf_Off offset)
{
	size_t num = file_segments(file);
	GElf_Phdr segment;

	for (size_t i = 0; i < num; i++)
		if (file_segment(file, i, &segment) && offset >= segment.p_offset &&
		    offset - segment.p_offset < segment.p_filesz)
			return segment.p_vaddr + (offset - segment.p_offset);
	return offset;
}

void file_tell_build_id(const struct file *file, FILE *out)
{
	const unsigned char *bits = NULL;
	GElf_Addr address;
	int length = file->elf ? dwfl_module_build_id(file->module, &bits, &address) : 0;

	for (int i = 0; i < length; i++)
		fprintf(out, "%02x", bits[i]);
	putc('\0', out);
}

void file_tell_id(int fd, const char *path, FILE *out)
{
	struct file file;

	open_elf(&file, fd, path);
	file_tell_build_id(&file, out);
}

const struct symbol *file_symbol(const struct file *file, GElf_Addr address, GElf_Addr *start)
{
	const struct symbol *symbol = symbols_find(&file->symbols, address + file->bias);

	if (!frames_start(&file->frames, address, start))
		*start = 0;
	/* a label without a size does not reach into the next function */
	if (symbol && *start && !symbol->sized && *start + file->bias > symbol->start)
		return NULL;
	return symbol;
}

/* The function, as people write it, and as its file has it. */
static void tell_name(const struct file *file, GElf_Addr address, FILE *out)
{
	GElf_Addr start;
	const struct symbol *symbol = file_symbol(file, address, &start);
	char begin[32] = "";
	char *name;

	if (!symbol) {
		if (start)
			snprintf(begin, sizeof(begin), "fn@%" PRIx64, start);
		tell_text(out, begin);
		tell_text(out, begin);
		return;
	}
	name = cplus_demangle(symbol->name, DMGL_AUTO | DMGL_ANSI);
	tell_text(out, name ? name : symbol->name);
	tell_text(out, symbol->name);
	free(name);
}

static void tell_line(Dwfl_Module *module, GElf_Addr address, FILE *out)
{
	Dwfl_Line *line = module ? dwfl_module_getsrc(module, address) : NULL;
	int number = 0;
	const char *source = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;

	tell_text(out, source ? source : "");
	tell_number(out, source && number > 0 ? number : 0);
}

/* Of a place, as it was asked for. */
static GElf_Addr address_of(const struct file *file, uint64_t place, unsigned int how)
{
	return how & FILE_ADDRESSES ? place : address_at(file, place);
}

/*
 * Whether its lines are compressed, as those of Debian's packages are, which takes libdw a
 * tenth of a second for libc.  Its symbols are in the same file as its lines.
 */
static bool is_compressed(const struct file *file)
{
	int num = dwfl_module_getsymtab(file->module);
	Elf_Scn *section = NULL;
	GElf_Addr address, bias;
	GElf_Word index;
	GElf_Shdr header;
	GElf_Sym symbol;
	Elf *elf = NULL;

	if (num > 0)
		dwfl_module_getsym_info(file->module, num - 1, &symbol, &address, &index, &elf,
					&bias);
	while (elf && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_flags & SHF_COMPRESSED)
			return true;
	return false;
}

void file_tell(int fd, const char *path, const uint64_t *places, size_t num, unsigned int how,
	       FILE *out)
{
	struct file file;
	bool lines;

	file_open(&file, fd, path);
	file_find_code(&file);
	file_tell_build_id(&file, out);
	tell_number(out, file.start);
	tell_number(out, file.limit);
	tell_number(out, file.offset);
	for (size_t i = 0; i < num; i++) {
		GElf_Addr address = address_of(&file, places[i], how);

		tell_number(out, address);
		tell_name(&file, address, out);
	}
	fflush(out);
	lines = file.elf && !(how & FILE_CHEAP && is_compressed(&file));
	for (size_t i = 0; how & FILE_LINES && i < num; i++)
		tell_line(lines ? file.module : NULL, address_of(&file, places[i], how) + file.bias,
			  out);
}
