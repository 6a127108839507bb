// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Programs without the start-up file of gcc -pg, but with code of gcc -pg, such as
 * in a library.  Its first call of mcount could not begin a profile, for it may come
 * from where the C library must not be called: so whoever needs mcount is looked for.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include "gmon.h"
#include "internal.h"

/* Constructors of others may come before ours. */
_Atomic unsigned char libprofil_arcs_state = ARCS_ON_FS;

void __monstartup(unsigned long low, unsigned long high);
void _mcleanup(void);

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

static bool is_one_of(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(name, *list))
			return true;
	return false;
}

static bool any_is_for(const struct relocs *relocs, const struct names *names,
		       const char *const *list)
{
	for (size_t i = 0; i < relocs->bytes / sizeof(*relocs->first); i++) {
		const ElfW(Sym) *symbol = names->symbols + ELF64_R_SYM(relocs->first[i].r_info);

		if (symbol->st_shndx == SHN_UNDEF && symbol->st_name < names->bytes &&
		    is_one_of(names->strings + symbol->st_name, list))
			return true;
	}
	return false;
}

/*
 * Whoever needs a symbol has a relocation for it.  How many symbols there are is not
 * said anywhere: strings may be before them, or far behind with nothing mapped between,
 * and an empty hash table of GNU's does not count what is undefined.
 */
static bool needs(const struct names *names, const char *const *list)
{
	return any_is_for(&names->calls, names, list) ||
	       any_is_for(&names->others, names, list);
}

static const char *const counting[] = { "mcount", "_mcount", "__fentry__", NULL };
static const char *const starting[] = { "__monstartup", "monstartup", NULL };

/* 1 if it needs mcount, -1 if a start-up file will start it, or it does so itself. */
static int look(const struct dl_phdr_info *info, const ElfW(Phdr) *phdr)
{
	struct names names = { 0 };

	find_names(&names, (const void *)(info->dlpi_addr + phdr->p_vaddr));
	/* Those of the kernel's own object are no addresses. */
	if (!names.symbols || (uintptr_t)names.symbols < info->dlpi_addr)
		return 0;
	if (needs(&names, starting))
		return -1;
	return needs(&names, counting);
}

static int look_at_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	int found = 0;

	(void)size;
	(void)arg;
	for (int i = 0; i < info->dlpi_phnum && !found; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			found = look(info, &info->dlpi_phdr[i]);
	return found;
}

/**
 * libprofil_detect() - Start, if there is code of gcc -pg and nothing else does
 *
 * Context: libprofil_loaded_each() may be called.
 */
__attribute__((constructor))
void libprofil_detect(void)
{
	if (!libprofil_profile.num && libprofil_loaded_each(look_at_object, NULL) > 0)
		__monstartup(0, 0);
}

/* Where a start-up file does it, that comes before. */
static __attribute__((destructor)) void finish(void)
{
	libprofil_detect();
	if (libprofil_profile.num)
		_mcleanup();
}

/*
 * Libraries that come and go.  dlopen() looks at who called it: a name without a
 * folder is searched where DT_RUNPATH or DT_RPATH of that object says, and $ORIGIN
 * is that object's folder.  So the C library's is called from here where that makes
 * no difference, and is otherwise jumped to, as if this had not been between.
 */

/* The program's DT_RPATH counts for all callers. */
static bool has_search_path(const struct dl_phdr_info *info, const ElfW(Phdr) *phdr,
			    bool program)
{
	const ElfW(Dyn) *dyn = (const ElfW(Dyn) *)(info->dlpi_addr + phdr->p_vaddr);

	for (; dyn->d_tag != DT_NULL; dyn++)
		if (dyn->d_tag == DT_RUNPATH || (dyn->d_tag == DT_RPATH && !program))
			return true;
	return false;
}

static int see_search_path(struct dl_phdr_info *info, size_t size, void *arg)
{
	bool *program = arg;
	int found = 0;

	(void)size;
	/* The kernel's own object calls nothing, and some have a path. */
	if (info->dlpi_addr == getauxval(AT_SYSINFO_EHDR))
		return 0;
	for (int i = 0; i < info->dlpi_phnum && !found; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			found = has_search_path(info, &info->dlpi_phdr[i], *program);
	*program = false;
	return found;
}

static bool caller_matters(const char *file)
{
	bool program = true;

	if (!file || strchr(file, '$'))
		return true;
	return !strchr(file, '/') && libprofil_loaded_each(see_search_path, &program);
}

static void follow(void)
{
	libprofil_detect();
	libprofil_sampling_follow();
}

/* Compiled so that the last call is a jump: see the Makefile. */
PROFIL_API
void *dlopen(const char *file, int mode)
{
	__typeof__(dlopen) *next = (__typeof__(dlopen) *)dlsym(RTLD_NEXT, "dlopen");
	void *handle;

	if (caller_matters(file))
		return next(file, mode);
	handle = next(file, mode);
	if (handle)
		follow();
	return handle;
}

PROFIL_API
int dlclose(void *handle)
{
	__typeof__(dlclose) *next = (__typeof__(dlclose) *)dlsym(RTLD_NEXT, "dlclose");
	int ret;

	/* Whoever was jumped to may have brought what goes now. */
	follow();
	ret = next(handle);
	follow();
	return ret;
}
