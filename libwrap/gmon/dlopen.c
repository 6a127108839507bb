// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Libraries that come and go.  dlopen() looks at who called it: a name without a
 * folder is searched where DT_RUNPATH or DT_RPATH of that object says, and $ORIGIN
 * is that object's folder.  So the C library's is called from here where that makes
 * no difference, and is otherwise jumped to, as if this had not been between.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include "gmon.h"
#include "internal.h"

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
	return !strchr(file, '/') && dl_iterate_phdr(see_search_path, &program);
}

static void follow(void)
{
	libprofil_startup();
	libprofil_gmon_follow();
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
