// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <elfutils/libdwelf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "fetch.h"
#include "separate.h"

char *separate_path;
int separate_fetcher = -1;

/* What is there of the names that libdwfl tries. */
struct seen {
	bool any;
	bool other;	/* one is a pipe or the like: libdwfl would wait for its other end */
};

/* Beside the file, and where files of this folder have theirs; all end so. */
static void look_for(const char *file, const char *name, const char *end, struct seen *seen)
{
	static const char *const forms[] = {
		"%.*s/%s%s", "%.*s/.debug/%s%s", "/usr/lib/debug%.*s/%s%s",
	};
	const char *slash = strrchr(file, '/');
	int length = slash ? slash - file : 1;
	char path[PATH_MAX];
	struct stat st;

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		snprintf(path, sizeof(path), forms[i], length, slash ? file : ".", name, end);
		if (stat(path, &st) || S_ISDIR(st.st_mode))
			continue;
		seen->any = true;
		seen->other = seen->other || !S_ISREG(st.st_mode);
	}
}

/* Without the name of a file, it is for what several programs have in common. */
static int fetch(Dwfl_Module *module, const char *file)
{
	const void *id = NULL;
	const unsigned char *bits = NULL;
	const char *name;
	GElf_Addr address;
	Dwarf_Addr bias;
	Dwarf *dwarf;
	ssize_t length;

	if (separate_fetcher < 0)
		return -1;
	if (file) {
		length = dwfl_module_build_id(module, &bits, &address);
		return length > 0 ? fetch_file(separate_fetcher, bits, length) : -1;
	}
	dwarf = dwfl_module_getdwarf(module, &bias);
	length = dwarf ? dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id) : 0;
	return length > 0 ? fetch_file(separate_fetcher, id, length) : -1;
}

int separate_find(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
		  const char *file, const char *link, GElf_Word crc, char **found)
{
	const char *slash = file ? strrchr(file, '/') : NULL, *own = slash ? slash + 1 : file;
	struct seen linked = { 0 }, same = { 0 };
	int fd;

	if (file)
		look_for(file, link ? link : own, link ? "" : ".debug", &linked);
	if (file && !link)
		look_for(file, own, "", &same);
	if (!linked.other && !same.other && (separate_path || !file || linked.any))
		fd = dwfl_standard_find_debuginfo(module, data, name, base, file, link, crc,
						  found);
	else
		fd = dwfl_build_id_find_debuginfo(module, data, name, base, file, link, crc,
						  found);
	return fd < 0 ? fetch(module, file) : fd;
}
