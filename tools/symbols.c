// SPDX-License-Identifier: GPL-2.0-only
/* The functions of a file, sorted once, looked up by bisection. */
#include <stdlib.h>
#include <string.h>
#include "order.h"
#include "say.h"
#include "symbols.h"

/* Functions lie within others in some files; no further back is looked for the outer one. */
#define NESTED_MAX 32

static int by_start(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;
	int order = compare_numbers(x->start, y->start);

	if (!order)
		order = compare_numbers(x->rank, y->rank);
	if (!order)
		order = compare_numbers(strlen(x->name), strlen(y->name));
	return order ? order : strcmp(x->name, y->name);
}

/* What is code, and its best name: functions before labels, global ones before others. */
static int rank(const GElf_Sym *symbol, const char *name)
{
	int type = GELF_ST_TYPE(symbol->st_info), bind = GELF_ST_BIND(symbol->st_info);
	bool function = type == STT_FUNC || type == STT_GNU_IFUNC;

	if (!function && (type != STT_NOTYPE || bind == STB_LOCAL))
		return -1;
	if (!name || !name[0] || name[0] == '$' || symbol->st_shndx == SHN_UNDEF)
		return -1;
	return (function ? 0 : 3) + (bind == STB_GLOBAL ? 0 : bind == STB_WEAK ? 1 : 2);
}

/* Labels of assembly have no size: they reach to what follows in their section. */
static uint64_t end_of_section(Elf *elf, GElf_Word index, uint64_t bias)
{
	Elf_Scn *section = elf_getscn(elf, index);
	GElf_Shdr header;

	if (!section || !gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR))
		return 0;
	return header.sh_addr + header.sh_size + bias;
}

static void add_symbol(Dwfl_Module *module, int i, struct symbols *symbols)
{
	GElf_Word section;
	GElf_Addr address, bias;
	GElf_Sym symbol;
	Elf *elf;
	const char *name = dwfl_module_getsym_info(module, i, &symbol, &address, &section, &elf,
						   &bias);
	struct symbol new = { .start = address, .name = name };

	new.rank = name ? rank(&symbol, name) : -1;
	if (new.rank < 0)
		return;
	new.sized = symbol.st_size;
	new.end = new.sized ? address + symbol.st_size : end_of_section(elf, section, bias);
	if (new.end <= new.start)
		return;
	symbols_add(symbols, new);
}

void symbols_add(struct symbols *symbols, struct symbol symbol)
{
	symbols->list = more(symbols->list, &symbols->room, symbols->num, sizeof(symbol));
	symbols->list[symbols->num++] = symbol;
}

void symbols_load(Dwfl_Module *module, struct symbols *symbols)
{
	int num = dwfl_module_getsymtab(module);

	for (int i = 0; i < num; i++)
		add_symbol(module, i, symbols);
	symbols_sort(symbols);
}

void symbols_sort(struct symbols *symbols)
{
	size_t n = 0;

	if (!symbols->num)
		return;
	qsort(symbols->list, symbols->num, sizeof(*symbols->list), by_start);
	for (size_t i = 0; i < symbols->num; i++)
		if (!n || symbols->list[n - 1].start != symbols->list[i].start)
			symbols->list[n++] = symbols->list[i];
	symbols->num = n;
	for (size_t i = 0; i + 1 < n; i++)
		if (!symbols->list[i].sized && symbols->list[i].end > symbols->list[i + 1].start)
			symbols->list[i].end = symbols->list[i + 1].start;
}

const struct symbol *symbols_find(const struct symbols *symbols, uint64_t address)
{
	size_t num = UP_TO(symbols->list, symbols->num, start, address);

	for (size_t i = 0; i < NESTED_MAX && num; i++)
		if (symbols->list[--num].end > address)
			return &symbols->list[num];
	return NULL;
}
