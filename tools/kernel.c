// SPDX-License-Identifier: GPL-2.0-only
/* Ticks in the kernel; and names there and in its modules, as /proc/kallsyms has them. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kernel.h"
#include "say.h"
#include "symbols.h"

/* Their names are "FUNCTION", or "FUNCTION\t[MODULE]". */
enum rank { GLOBAL, WEAK, LOCAL, NO_CODE };

static enum rank rank(char type, const char *name)
{
	/* this one ends the code */
	if (!strcmp(name, "_etext"))
		return NO_CODE;
	switch (type) {
	case 'T':
		return GLOBAL;
	case 'W':
	case 'w':
		return WEAK;
	case 't':
		return LOCAL;
	default:
		return NO_CODE;
	}
}

/* A line "ADDRESS TYPE NAME"; the address is 0 where it is hidden. */
static void take_line(struct symbols *symbols, const char *line)
{
	char *end;	/* of the address */
	struct symbol symbol = { .start = strtoull(line, &end, 16), .end = UINT64_MAX };

	if (!symbol.start || end[0] != ' ' || !end[1] || end[2] != ' ' || end[3] == '$')
		return;
	symbol.rank = rank(end[1], end + 3);
	symbol.name = end + 3;
	symbols_add(symbols, symbol);
}

/* The text of the file, in which the names are, and which is to be freed; or NULL. */
static char *load(struct symbols *symbols)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char *text = NULL, *line, *rest;
	size_t room = 0;

	if (!file)
		return NULL;
	/* it has no NUL byte: that is one line */
	if (getdelim(&text, &room, '\0', file) < 0) {
		free(text);
		text = NULL;
	}
	fclose(file);
	if (!text)
		return NULL;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		take_line(symbols, line);
	symbols_sort(symbols);
	return text;
}

static const char *module_of(const struct symbol *symbol)
{
	const char *tab = strchr(symbol->name, '\t');

	return tab ? tab + 1 : KERNEL_NAME;
}

/* Where the first function of this module begins. */
static uint64_t base_of(const struct symbols *symbols, const char *module)
{
	for (size_t i = 0; i < symbols->num; i++)
		if (symbols->list[i].rank != NO_CODE &&
		    !strcmp(module_of(&symbols->list[i]), module))
			return symbols->list[i].start;
	return 0;
}

/* An object of this name that was added at @first or later, or a new one. */
static size_t object_of(struct profile *profile, size_t first, const char *name)
{
	for (size_t i = first; i < profile->num_objects; i++)
		if (!strcmp(profile->objects[i].file, name))
			return i;
	return profile_add_object(profile, (struct object) {
		.file = profile_string(profile, name), .build_id = profile_string(profile, ""),
	});
}

void kernel_find(struct profile *profile, struct place *places, size_t num)
{
	size_t first = profile->num_objects;
	struct symbols symbols = { 0 };
	char *text = load(&symbols);
	const char *module = "";
	uint64_t base = 0;

	for (size_t i = 0; i < num; i++) {
		const struct symbol *symbol = symbols_find(&symbols, places[i].address);

		if (places[i].address == PROFIL_PLACE_OTHERS) {
			places[i].object = object_of(profile, first, KERNEL_NAME);
			places[i].function = profile_elsewhere(profile, KERNEL_NAME);
			places[i].address = 0;
			continue;
		}
		if (!symbol || symbol->rank == NO_CODE) {
			places[i].object = object_of(profile, first, KERNEL_NAME);
			places[i].function = profile_string(profile, KERNEL_NAME);
			places[i].address = 0;
			continue;
		}
		/* it is that of the place before nearly always */
		if (strcmp(module_of(symbol), module)) {
			module = module_of(symbol);
			base = base_of(&symbols, module);
		}
		places[i].object = object_of(profile, first, module);
		places[i].address -= base;
		places[i].function = profile_text(profile, symbol->name,
						  strcspn(symbol->name, "\t"));
		places[i].symbol = places[i].function;
	}
	free(symbols.list);
	free(text);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Ticks in the kernel are in two slots: that of the place which the kernel returns to, and
 * that of the place where it was.  The second one keeps them, also those that had no first
 * one, because they were in exec, or the table was full.  Of kernel threads and interrupts,
 * which are in classes of their own, there is the second one alone.
 */
uint64_t kernel_keep(struct profil_session_page *page, struct part *parts, size_t *num_parts)
{
	uint64_t moved = 0, found = 0, placed, lost, rest;
	size_t num = 0;

	for (size_t i = 0; i < *num_parts; i++) {
		struct part part = parts[i];

		if (part.slot.object == PROFIL_OBJECT_KERNEL) {
			found += part.slot.system;
		} else {
			moved += part.slot.system;
			part.slot.system = 0;
		}
		if (part.slot.user || part.slot.system)
			parts[num++] = part;
	}
	*num_parts = num;
	placed = smaller(page->kthreads + page->interrupts, found);
	rest = moved + page->exec + page->full + placed - found;
	lost = smaller(page->full_kernel, rest);
	page->full = lost + smaller(page->full, rest - lost);
	page->full_objects = smaller(page->full_objects, page->full - lost);
	page->exec = rest - page->full;
	return placed;
}
