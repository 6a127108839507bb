// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "separate.h"

char *separate_path;

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

int separate_find(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
		  const char *file, const char *link, GElf_Word crc, char **found)
{
	const char *slash = file ? strrchr(file, '/') : NULL, *own = slash ? slash + 1 : file;
	struct seen linked = { 0 }, same = { 0 };

	if (file)
		look_for(file, link ? link : own, link ? "" : ".debug", &linked);
	if (file && !link)
		look_for(file, own, "", &same);
	if (!linked.other && !same.other &&
	    (separate_path || getenv("DEBUGINFOD_URLS") || !file || linked.any))
		return dwfl_standard_find_debuginfo(module, data, name, base, file, link, crc,
						    found);
	return dwfl_build_id_find_debuginfo(module, data, name, base, file, link, crc, found);
}
