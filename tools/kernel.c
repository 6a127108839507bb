// SPDX-License-Identifier: GPL-2.0-only
/* Ticks in the kernel; and names there and in its modules, as /proc/kallsyms has them. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kernel.h"
#include "kernel_table.h"
#include "say.h"
#include "symbols.h"
#include "tables.h"

#define SECONDS 4	/* in which all names can be read, also by a slow machine */

static bool wanted;	/* a table, for which there was no time */

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

/* As strtoull() has it; there are some hundred thousand of them. */
static uint64_t address_of(const char *text, const char **end)
{
	uint64_t address = 0;

	for (*end = text; ; ++*end) {
		unsigned int digit = **end - '0';

		if (digit > 9) {
			digit = **end - 'a';
			if (digit > 5)
				return address;
			digit += 10;
		}
		address = address << 4 | digit;
	}
}

/* A line "ADDRESS TYPE NAME"; the address is 0 where it is hidden. */
static void take_line(struct symbols *symbols, const char *line)
{
	const char *end;	/* of the address */
	struct symbol *last;
	struct symbol symbol = { .start = address_of(line, &end), .end = UINT64_MAX };

	if (!symbol.start || end[0] != ' ' || !end[1] || end[2] != ' ' || end[3] == '$')
		return;
	symbol.rank = rank(end[1], end + 3);
	symbol.name = end + 3;
	/* of data, the first and the last one say where no code is; modules are in no order */
	last = symbols->num > 1 ? &symbols->list[symbols->num - 1] : NULL;
	if (last && symbol.rank == NO_CODE && last->rank == NO_CODE && last[-1].rank == NO_CODE &&
	    !strchr(symbol.name, '\t'))
		*last = symbol;
	else
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

static bool is_code(const struct symbol *symbol)
{
	return symbol->rank != NO_CODE;
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
		if (is_code(&symbols->list[i]) &&
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

static void set_place(struct profile *profile, size_t first, struct place *place,
		      const struct kernel_name *found)
{
	const char *tab;

	if (place->address == PROFIL_PLACE_OTHERS || !found->name) {
		place->object = object_of(profile, first, KERNEL_NAME);
		place->function = place->address == PROFIL_PLACE_OTHERS ?
			profile_elsewhere(profile, KERNEL_NAME) :
			profile_string(profile, KERNEL_NAME);
		place->address = 0;
		return;
	}
	tab = strchr(found->name, '\t');
	place->object = object_of(profile, first, tab ? tab + 1 : KERNEL_NAME);
	place->address -= found->base;
	place->function = profile_text(profile, found->name, strcspn(found->name, "\t"));
	place->symbol = place->function;
}

/* Returns how many there are that a table, which was kept, does not know. */
static size_t find_kept(const struct place *places, size_t num, const struct dumped *table,
			struct kernel_name *found)
{
	size_t unknown = 0;

	for (size_t i = 0; i < num; i++)
		unknown += places[i].address != PROFIL_PLACE_OTHERS &&
			!kernel_table_find(table, places[i].address, &found[i]);
	return unknown;
}

static void find_read(const struct place *places, size_t num, const struct symbols *symbols,
		      struct kernel_name *found)
{
	const char *module = "";
	uint64_t base = 0;

	for (size_t i = 0; i < num; i++) {
		const struct symbol *symbol = symbols_find(symbols, places[i].address);

		found[i].name = symbol && is_code(symbol) ? symbol->name : NULL;
		if (!found[i].name)
			continue;
		/* it is that of the place before nearly always */
		if (strcmp(module_of(symbol), module)) {
			module = module_of(symbol);
			base = base_of(symbols, module);
		}
		found[i].base = base;
	}
}

void kernel_finish(void)
{
	struct symbols symbols = { 0 };
	char *text = wanted ? load(&symbols) : NULL;

	if (wanted)
		kernel_table_keep(&symbols, is_code);
	wanted = false;
	free(symbols.list);
	free(text);
}

void kernel_find(struct profile *profile, struct place *places, size_t num)
{
	struct kernel_name *found = allocated(calloc(num + 1, sizeof(*found)));
	size_t first = profile->num_objects;
	struct symbols symbols = { 0 };
	struct dumped table;
	char *text = NULL;
	bool kept = kernel_table_open(&table);
	size_t unknown = kept ? find_kept(places, num, &table, found) : num;

	if (unknown && (!tables_used() || tables_left() > SECONDS)) {
		text = load(&symbols);
		find_read(places, num, &symbols, found);
		if (!kept)
			kernel_table_keep(&symbols, is_code);
	} else if (!kept) {
		wanted = true;
	}
	for (size_t i = 0; i < num; i++)
		set_place(profile, first, &places[i], &found[i]);
	if (kept)
		dumped_close(&table);
	free(symbols.list);
	free(text);
	free(found);
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
	uint64_t moved = 0, found = 0, placed, lost, rest, all;
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
	all = moved + page->exec + page->full + placed;
	/* while the session counts, one of the two may have been read before the tick */
	rest = all - smaller(found, all);
	lost = smaller(page->full_kernel, rest);
	page->full = lost + smaller(page->full, rest - lost);
	page->full_objects = smaller(page->full_objects, page->full - lost);
	page->exec = rest - page->full;
	return placed;
}
