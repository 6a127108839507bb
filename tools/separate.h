/* SPDX-License-Identifier: GPL-2.0-only */
/* Names and lines of a program that lie in a file of their own. */
#ifndef TOOLS_SEPARATE_H
#define TOOLS_SEPARATE_H

#include <elfutils/libdwfl.h>

/*
 * As dwfl_standard_find_debuginfo(), which where it finds nothing opens a library for debuginfod,
 * with some thirty others, also if nobody is to be asked: another process is asked here.
 */
int separate_find(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
		  const char *file, const char *link, GElf_Word crc, char **found);

/* Where else it is looked for; NULL: only where files are by default. */
extern char *separate_path;

/* Who is asked in the end, by fetch_file(); -1: nobody. */
extern int separate_fetcher;

#endif /* TOOLS_SEPARATE_H */
