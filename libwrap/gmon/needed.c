// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * What an object needs of others.  Who needs a symbol has a relocation for it.  How many
 * symbols there are is not said anywhere: strings may be before them, or far behind with
 * nothing mapped between, and an empty hash table of GNU's does not count what is
 * undefined.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include "gmon.h"
#include "internal.h"

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

/* What this library has instead of the C library. */
static const char *const names_of_both[] = {
	"profil", "sprofil", "mcount", "_mcount", "__fentry__", "__monstartup", "monstartup",
	"moncontrol", "_mcleanup", "dlopen", "dlclose", "_exit", "_Exit", NULL
};

struct rebinding {
	const struct dl_phdr_info *info;
	const struct link_map *opened;
};

/* Not yet bound: it leads to where the object has it bound at the first call. */
static bool is_lazy(const struct rebinding *rebinding, uintptr_t value)
{
	const struct dl_phdr_info *info = rebinding->info;

	if (rebinding->opened->l_addr != info->dlpi_addr)
		return false;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD &&
		    value - info->dlpi_addr - info->dlpi_phdr[i].p_vaddr <
		    info->dlpi_phdr[i].p_memsz)
			return true;
	return false;
}

/* After relocation, some of it is read-only. */
static void put(const struct dl_phdr_info *info, uintptr_t *place, uintptr_t value)
{
	uintptr_t size = getauxval(AT_PAGESZ);
	uintptr_t page = (uintptr_t)place & -size;
	bool locked = false;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		uintptr_t end = (begin + info->dlpi_phdr[i].p_memsz) & -size;

		if (info->dlpi_phdr[i].p_type == PT_GNU_RELRO)
			locked = page >= (begin & -size) && page < end;
	}
	if (locked && mprotect((void *)page, size, PROT_READ | PROT_WRITE))
		return;
	__atomic_store_n(place, value, __ATOMIC_RELAXED);
	if (locked)
		mprotect((void *)page, size, PROT_READ);
}

/* To what it would be without the flag: a program may have one of its own. */
static bool rebind(void *arg, const char *name, uintptr_t *place)
{
	const struct rebinding *rebinding = arg;
	uintptr_t theirs, first;

	if (!libprofil_is_one_of(name, names_of_both))
		return true;
	theirs = (uintptr_t)dlsym(RTLD_NEXT, name);
	first = (uintptr_t)dlsym(RTLD_DEFAULT, name);
	if (theirs && first != theirs &&
	    (*place == theirs ||
	     (is_lazy(rebinding, *place) &&
	      (uintptr_t)dlsym((void *)rebinding->opened, name) == theirs)))
		put(rebinding->info, place, first);
	return true;
}

static int rebind_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct rebinding rebinding = { info, arg };

	(void)size;
	libprofil_needed_each(info, rebind, &rebinding);
	return 0;
}

/**
 * libprofil_rebind() - Stand before the C library where RTLD_DEEPBIND passed this by
 * @handle: What was opened so
 */
void libprofil_rebind(void *handle)
{
	libprofil_loaded_each(rebind_object, handle);
}
