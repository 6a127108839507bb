// SPDX-License-Identifier: GPL-2.0-only
/* Where the code of a slot comes from: a file, the vdso, or what is no file. */
#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>
#include "objects.h"
#include "say.h"

static const char *const no_files[PROFIL_OBJECT_FILES] = {
	[PROFIL_OBJECT_ADDRESS] = "[not looked up]",
	[PROFIL_OBJECT_ANONYMOUS] = "[anonymous]",
	[PROFIL_OBJECT_NONE] = "[not mapped]",
	[PROFIL_OBJECT_VDSO] = "[vdso]",
	[PROFIL_OBJECT_KERNEL] = "[kernel]",
};

/* This process has the same one. */
static int open_vdso(void)
{
	const ElfW(Ehdr) *vdso = (const void *)getauxval(AT_SYSINFO_EHDR);
	int fd = vdso ? memfd_create("vdso", MFD_CLOEXEC) : -1;
	size_t length;

	if (fd < 0)
		return -1;
	/* section headers come last */
	length = vdso->e_shoff + (size_t)vdso->e_shentsize * vdso->e_shnum;
	if (write(fd, vdso, length) == (ssize_t)length)
		return fd;
	close(fd);
	return -1;
}

char *object_open(struct session *session, unsigned int object, int *fd)
{
	char *path;

	if (object < PROFIL_OBJECT_FILES) {
		*fd = object == PROFIL_OBJECT_VDSO ? open_vdso() : -1;
		return allocated(strdup(no_files[object] ? no_files[object] : "[unknown]"));
	}
	path = session_object(session, object, fd);
	if (path[0])
		return path;
	free(path);
	/* a path of more than PATH_MAX */
	if (asprintf(&path, "[file %u]", object) < 0)
		allocated(NULL);
	return path;
}
