// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Programs without the start-up file of gcc -pg, but with code of gcc -pg, such as
 * in a library.  Its first call of mcount could not begin a profile, for it may come
 * from where the C library must not be called: so whoever needs mcount is looked for.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
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

static const char *const counting[] = { "mcount", "_mcount", "__fentry__", NULL };
static const char *const starting[] = { "__monstartup", "monstartup", NULL };

/* What a start-up file will start, or starts itself, is more than what needs mcount. */
static bool look(void *arg, const char *name, uintptr_t *place)
{
	int *found = arg;

	(void)place;
	if (libprofil_is_one_of(name, starting))
		*found = -1;
	else if (!*found && libprofil_is_one_of(name, counting))
		*found = 1;
	return *found >= 0;
}

static int look_at_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	int found = 0;

	(void)size;
	(void)arg;
	libprofil_needed_each(info, look, &found);
	return found;
}

/* Starts, if there is code of gcc -pg and nothing else does, where the loader may be asked. */
static __attribute__((constructor)) void detect(void)
{
	if (!libprofil_profile.num && libprofil_loaded_each(look_at_object, NULL) > 0)
		__monstartup(0, 0);
}

static void say_uncounted(void)
{
	const char *name = program_invocation_name;
	const char *const parts[LIBPROFIL_PARTS] = {
		"profil: ", name, " is not counted: it was not compiled with gcc -pg, and it "
		"never called profil(); the command \"profil run -- ", name, "\" counts it\n",
	};

	libprofil_say(parts);
}

/* Where a start-up file does it, that comes before. */
static __attribute__((destructor)) void finish(void)
{
	detect();
	if (libprofil_profile.num)
		_mcleanup();
	else if (libprofil_is_set("PROFIL_VERBOSE") && !libprofil_commanded())
		say_uncounted();
}

/*
 * Libraries that come and go.  dlopen() looks at who called it: a name without a
 * folder is searched where DT_RUNPATH or DT_RPATH of that object says, and $ORIGIN
 * is that object's folder.  So the C library's is called from here where that makes
 * no difference, and is otherwise jumped to, as if this had not been between.
 */

/* The program's DT_RPATH counts for all callers. */
static bool is_no_search_path(void *arg, long tag, uintptr_t value)
{
	const bool *program = arg;

	(void)value;
	return tag != DT_RUNPATH && (tag != DT_RPATH || *program);
}

static int see_search_path(struct dl_phdr_info *info, size_t size, void *arg)
{
	bool *program = arg;
	int found;

	(void)size;
	/* The kernel's own object calls nothing, and some have a path. */
	if (info->dlpi_addr == getauxval(AT_SYSINFO_EHDR))
		return 0;
	/* So may one that cannot be read. */
	found = !libprofil_dynamic_each(info, is_no_search_path, program);
	*program = false;
	return found;
}

static bool caller_matters(const char *file)
{
	bool program = true;

	if (!file || strchr(file, '$'))
		return true;
	if (strchr(file, '/'))
		return false;
	/* If not even the program was seen, anyone may have a path. */
	return libprofil_loaded_each(see_search_path, &program) || program;
}

static void follow(void)
{
	detect();
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
	if (handle && mode & RTLD_DEEPBIND)
		libprofil_rebind(handle);
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
