// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* What RTLD_DEEPBIND passes by. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include "gmon.h"

/* What this library has instead of the C library. */
static const char *const names_of_both[] = {
	"profil", "sprofil", "mcount", "_mcount", "__fentry__", "__monstartup", "monstartup",
	"moncontrol", "_mcleanup", "dlopen", "dlclose", "_exit", "_Exit"
};

#define NAMES (sizeof(names_of_both) / sizeof(*names_of_both))

struct rebinding {
	const struct dl_phdr_info *info;
	const struct link_map *opened;
	struct {
		uintptr_t theirs, first, opened;
	} names[NAMES];
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

	for (size_t i = 0; i < NAMES; i++) {
		uintptr_t theirs = rebinding->names[i].theirs, first = rebinding->names[i].first;

		if (!strcmp(name, names_of_both[i]) && theirs && first != theirs &&
		    (*place == theirs || (rebinding->names[i].opened == theirs &&
					  is_lazy(rebinding, *place))))
			put(rebinding->info, place, first);
	}
	return true;
}

static int rebind_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct rebinding *rebinding = arg;

	(void)size;
	/* Where no lock keeps the others there, what was opened is still its opener's. */
	if (libprofil_forked && rebinding->opened->l_addr != info->dlpi_addr)
		return 0;
	rebinding->info = info;
	libprofil_needed_each(info, rebind, rebinding);
	return 0;
}

/**
 * libprofil_rebind() - Stand before the C library where RTLD_DEEPBIND passed this by
 * @handle: What was opened so
 *
 * All names are looked up first.  dlsym() takes the lock of the loader, and a thread that
 * loads a library has that one when it asks for the lock under which objects are gone
 * through.
 */
void libprofil_rebind(void *handle)
{
	struct rebinding rebinding = { .opened = handle };

	for (size_t i = 0; i < NAMES; i++) {
		const char *name = names_of_both[i];

		rebinding.names[i].theirs = (uintptr_t)dlsym(RTLD_NEXT, name);
		rebinding.names[i].first = (uintptr_t)dlsym(RTLD_DEFAULT, name);
		rebinding.names[i].opened = (uintptr_t)dlsym(handle, name);
	}
	/* Not every machine has all of them, and the program is not to hear of it. */
	dlerror();
	libprofil_loaded_each(rebind_object, &rebinding);
}
