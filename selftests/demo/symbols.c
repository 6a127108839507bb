// SPDX-License-Identifier: GPL-2.0-only
/* From addresses to functions, by elfutils: .symtab, .dynsym, separate debug files. */
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "report.h"

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

/* NULL if the file cannot be had: then its samples stay without names. */
static Dwfl_Module *open_object(Dwfl **dwfl, const char *path)
{
	Dwfl_Module *module;
	struct stat st;

	*dwfl = NULL;
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return NULL;
	*dwfl = dwfl_begin(&callbacks);
	if (!*dwfl)
		return NULL;
	module = dwfl_report_offline(*dwfl, path, path, -1);
	dwfl_report_end(*dwfl, NULL, NULL);
	return module;
}

/* The name of the function; in a stripped file, the address of its begin. */
static char *function_at(Dwfl_Module *module, __u64 address)
{
	GElf_Addr bias;		/* libdwfl puts a shared object where it likes */
	Elf *elf = dwfl_module_getelf(module, &bias);
	char text[64];
	const char *name;
	GElf_Off offset;
	GElf_Sym symbol;
	__u64 start;

	if (!elf)
		return printable_copy("(no symbol)");
	name = dwfl_module_addrinfo(module, address + bias, &offset, &symbol, NULL, NULL, NULL);
	if (name)
		return printable_copy(name);
	if (!function_start(elf, address, &start))
		return printable_copy("(no symbol)");
	snprintf(text, sizeof(text), "(function at %#llx)", start);
	return printable_copy(text);
}

static void symbolise_object(struct sample *samples, size_t num)
{
	Dwfl *dwfl;
	Dwfl_Module *module = open_object(&dwfl, samples->object);

	for (size_t i = 0; i < num; i++)
		samples[i].function = module ? function_at(module, samples[i].address) :
			printable_copy("(no symbol)");
	if (dwfl)
		dwfl_end(dwfl);
}

static int by_object(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	return strcmp(x->object, y->object);
}

static int by_function(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;
	int order = by_object(a, b);

	return order ? order : strcmp(x->function, y->function);
}

/* Equal counts in a fixed order, so that two reports can be compared. */
static int by_count(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return by_function(a, b);
}

static void add_up(struct profile *profile)
{
	struct sample *samples = profile->samples;
	size_t n = 0;

	qsort(samples, profile->num, sizeof(*samples), by_function);
	for (size_t i = 1; i < profile->num; i++) {
		if (by_function(&samples[n], &samples[i])) {
			samples[++n] = samples[i];
			continue;
		}
		samples[n].count += samples[i].count;
		free(samples[i].object);
		free(samples[i].function);
	}
	profile->num = n + 1;
	qsort(samples, profile->num, sizeof(*samples), by_count);
}

void profile_symbolise(struct profile *profile)
{
	struct sample *samples = profile->samples;
	size_t first = 0;

	if (!profile->num)
		return;
	qsort(samples, profile->num, sizeof(*samples), by_object);
	for (size_t i = 1; i <= profile->num; i++) {
		if (i < profile->num && !by_object(&samples[first], &samples[i]))
			continue;
		symbolise_object(samples + first, i - first);
		first = i;
	}
	add_up(profile);
}
