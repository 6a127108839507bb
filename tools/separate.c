// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "separate.h"

char *separate_path;

/* Whether there is one beside the file, or where files of this folder have theirs. */
static bool is_linked(const char *file, const char *link)
{
	static const char *const forms[] = {
		"%.*s/%s%s", "%.*s/.debug/%s%s", "/usr/lib/debug%.*s/%s%s",
	};
	const char *slash = strrchr(file, '/');
	int length = slash ? slash - file : 1;
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		snprintf(path, sizeof(path), forms[i], length, slash ? file : ".",
			 link ? link : slash ? slash + 1 : file, link ? "" : ".debug");
		if (!access(path, F_OK))
			return true;
	}
	return false;
}

int separate_find(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
		  const char *file, const char *link, GElf_Word crc, char **found)
{
	if (separate_path || getenv("DEBUGINFOD_URLS") || !file || is_linked(file, link))
		return dwfl_standard_find_debuginfo(module, data, name, base, file, link, crc,
						    found);
	return dwfl_build_id_find_debuginfo(module, data, name, base, file, link, crc, found);
}
