// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * What an object says of itself, and what it needs of others.  Who needs a symbol has a
 * relocation for it.  How many symbols there are is not said anywhere: strings may be
 * before them, or far behind with nothing mapped between, and an empty hash table of
 * GNU's does not count what is undefined.
 */
#define _GNU_SOURCE
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include "gmon.h"

/* Where something is, and then, where it can be looked at. */
struct table {
	uintptr_t first;
	size_t bytes;
	bool copied;
};

struct names {
	struct table symbols, strings, calls, others;
};

/*
 * In a forked child no lock keeps it there, and what looks like an object may be a file that
 * is mapped for some other purpose: it has a copy, or nothing.  A zero ends it.
 */
static bool take(struct table *table)
{
	void *copy;

	if (!libprofil_forked)
		return true;
	copy = mmap(NULL, table->bytes + 1, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy == MAP_FAILED)
		return false;
	table->copied = libprofil_read_own(copy, table->first, table->bytes) == table->bytes;
	if (table->copied)
		table->first = (uintptr_t)copy;
	else
		munmap(copy, table->bytes + 1);
	return table->copied;
}

static void drop(const struct table *table)
{
	if (table->copied)
		munmap((void *)table->first, table->bytes + 1);
}

static bool find_names(void *arg, long tag, uintptr_t value)
{
	struct names *names = arg;

	if (tag == DT_SYMTAB)
		names->symbols.first = value;
	else if (tag == DT_STRTAB)
		names->strings.first = value;
	else if (tag == DT_STRSZ)
		names->strings.bytes = value;
	else if (tag == DT_JMPREL)
		names->calls.first = value;
	else if (tag == DT_PLTRELSZ)
		names->calls.bytes = value;
	else if (tag == DT_RELA)
		names->others.first = value;
	else if (tag == DT_RELASZ)
		names->others.bytes = value;
	return true;
}

/* As many symbols as there are relocations for. */
static void count_symbols(struct names *names, const struct table *relocs)
{
	const ElfW(Rela) *first = (const void *)relocs->first;

	for (size_t i = 0; i < relocs->bytes / sizeof(*first); i++) {
		size_t bytes = (ELF64_R_SYM(first[i].r_info) + 1) * sizeof(ElfW(Sym));

		if (bytes > names->symbols.bytes)
			names->symbols.bytes = bytes;
	}
}

static bool take_names(struct names *names)
{
	if (!take(&names->calls) || !take(&names->others) || !take(&names->strings))
		return false;
	count_symbols(names, &names->calls);
	count_symbols(names, &names->others);
	return take(&names->symbols);
}

static void drop_names(const struct names *names)
{
	drop(&names->calls);
	drop(&names->others);
	drop(&names->strings);
	drop(&names->symbols);
}

static bool relocs_each(const struct table *relocs, const struct names *names,
			uintptr_t base, libprofil_needed_fn *each, void *arg)
{
	const ElfW(Rela) *first = (const void *)relocs->first;
	const ElfW(Sym) *symbols = (const void *)names->symbols.first;
	const char *strings = (const char *)names->strings.first;

	for (size_t i = 0; i < relocs->bytes / sizeof(*first); i++) {
		const ElfW(Sym) *symbol = symbols + ELF64_R_SYM(first[i].r_info);

		if (symbol->st_shndx == SHN_UNDEF && symbol->st_name < names->strings.bytes &&
		    !each(arg, strings + symbol->st_name,
			  (uintptr_t *)(base + first[i].r_offset)))
			return false;
	}
	return true;
}

bool libprofil_is_one_of(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(name, *list))
			return true;
	return false;
}

static bool entries_each(const struct table *table, libprofil_dynamic_fn *each, void *arg)
{
	const ElfW(Dyn) *dyn = (const void *)table->first;

	for (size_t i = 0; i < table->bytes / sizeof(*dyn) && dyn[i].d_tag != DT_NULL; i++)
		if (!each(arg, dyn[i].d_tag, dyn[i].d_un.d_ptr))
			return false;
	return true;
}

/**
 * libprofil_dynamic_each() - Find what an object says of itself
 * @info: The object
 * @each: Called for each tag, with its value, until it returns false
 * @arg: For @each
 *
 * Return: Whether @each was called for all.
 */
bool libprofil_dynamic_each(const struct dl_phdr_info *info, libprofil_dynamic_fn *each,
			    void *arg)
{
	struct table table = { 0 };
	bool all;

	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) {
			table.first = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
			table.bytes = info->dlpi_phdr[i].p_memsz;
		}
	all = take(&table) && entries_each(&table, each, arg);
	drop(&table);
	return all;
}

/**
 * libprofil_needed_each() - Find what an object needs of others
 * @info: The object
 * @each: Called for each place of it where the address of something goes, with its
 *        name, until it returns false
 * @arg: For @each
 */
void libprofil_needed_each(const struct dl_phdr_info *info, libprofil_needed_fn *each,
			   void *arg)
{
	struct names names = { 0 };

	/* Those of the kernel's own object are no addresses. */
	if (!libprofil_dynamic_each(info, find_names, &names) || !names.symbols.first ||
	    names.symbols.first < info->dlpi_addr)
		return;
	if (take_names(&names) &&
	    relocs_each(&names.calls, &names, info->dlpi_addr, each, arg))
		relocs_each(&names.others, &names, info->dlpi_addr, each, arg);
	drop_names(&names);
}
