// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * What an object needs of others.  Who needs a symbol has a relocation for it.  How many
 * symbols there are is not said anywhere: strings may be before them, or far behind with
 * nothing mapped between, and an empty hash table of GNU's does not count what is
 * undefined.
 */
#define _GNU_SOURCE
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include "gmon.h"

struct relocs {
	const ElfW(Rela) *first;
	size_t bytes;
};

struct names {
	const ElfW(Sym) *symbols;
	const char *strings;
	size_t bytes;
	struct relocs calls, others;
};

static void find_names(struct names *names, const ElfW(Dyn) *dyn)
{
	for (; dyn->d_tag != DT_NULL; dyn++)
		if (dyn->d_tag == DT_SYMTAB)
			names->symbols = (const void *)dyn->d_un.d_ptr;
		else if (dyn->d_tag == DT_STRTAB)
			names->strings = (const void *)dyn->d_un.d_ptr;
		else if (dyn->d_tag == DT_STRSZ)
			names->bytes = dyn->d_un.d_val;
		else if (dyn->d_tag == DT_JMPREL)
			names->calls.first = (const void *)dyn->d_un.d_ptr;
		else if (dyn->d_tag == DT_PLTRELSZ)
			names->calls.bytes = dyn->d_un.d_val;
		else if (dyn->d_tag == DT_RELA)
			names->others.first = (const void *)dyn->d_un.d_ptr;
		else if (dyn->d_tag == DT_RELASZ)
			names->others.bytes = dyn->d_un.d_val;
}

static bool relocs_each(const struct relocs *relocs, const struct names *names,
			uintptr_t base, libprofil_needed_fn *each, void *arg)
{
	for (size_t i = 0; i < relocs->bytes / sizeof(*relocs->first); i++) {
		const ElfW(Rela) *reloc = &relocs->first[i];
		const ElfW(Sym) *symbol = names->symbols + ELF64_R_SYM(reloc->r_info);

		if (symbol->st_shndx == SHN_UNDEF && symbol->st_name < names->bytes &&
		    !each(arg, names->strings + symbol->st_name,
			  (uintptr_t *)(base + reloc->r_offset)))
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

	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			find_names(&names, (const void *)(info->dlpi_addr +
							  info->dlpi_phdr[i].p_vaddr));
	/* Those of the kernel's own object are no addresses. */
	if (!names.symbols || (uintptr_t)names.symbols < info->dlpi_addr)
		return;
	if (relocs_each(&names.calls, &names, info->dlpi_addr, each, arg))
		relocs_each(&names.others, &names, info->dlpi_addr, each, arg);
}
