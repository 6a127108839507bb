// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* What RTLD_DEEPBIND passes by. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include "gmon.h"

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
