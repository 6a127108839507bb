// SPDX-License-Identifier: GPL-2.0-only
#include <dwarf.h>
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>
#include "inlined.h"
#include "say.h"

/* What has more than this was made to keep its reader busy. */
#define DEPTH_MAX 64
#define SEEN_MAX 1000000
#define RANGES_MAX 10000

struct inlined_range {
	Dwarf_Addr start, end;	/* libdwfl's */
	const char *name;
	unsigned int depth;
};

/* As symbols have it, with the names around it; else as the source has it. */
static const char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name,
								 &attribute));
	char *demangled = name ? cplus_demangle(name, DMGL_AUTO | DMGL_ANSI) : NULL;

	if (demangled)
		return demangled;
	name = dwarf_diename(die);
	return name ? name : "(inlined)";
}

static void add_ranges(struct inlined *inlined, Dwarf_Die *die, Dwarf_Addr bias,
		       unsigned int depth)
{
	const char *name = name_of(die);
	Dwarf_Addr base, start, end;
	ptrdiff_t offset = 0;

	while (inlined->num < RANGES_MAX &&
	       (offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0) {
		inlined->list = more(inlined->list, &inlined->room, inlined->num,
				     sizeof(*inlined->list));
		inlined->list[inlined->num++] = (struct inlined_range) {
			.start = start + bias, .end = end + bias, .name = name, .depth = depth,
		};
	}
}

static void walk(struct inlined *inlined, Dwarf_Die *die, Dwarf_Addr bias, unsigned int depth)
{
	Dwarf_Die child;

	if (depth > DEPTH_MAX || dwarf_child(die, &child))
		return;
	do {
		switch (dwarf_tag(&child)) {
		case DW_TAG_inlined_subroutine:
			add_ranges(inlined, &child, bias, depth);
			walk(inlined, &child, bias, depth + 1);
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
			walk(inlined, &child, bias, depth + 1);
			break;
		}
	} while (inlined->seen++ < SEEN_MAX && !dwarf_siblingof(&child, &child));
}

void inlined_find(struct inlined *inlined, Dwfl_Module *module, Dwarf_Addr address)
{
	Dwarf_Addr bias;
	Dwarf_Die *unit = dwfl_module_addrdie(module, address, &bias), *scopes = NULL;
	Dwarf_Attribute attribute;
	int num = unit ? dwarf_getscopes(unit, address - bias, &scopes) : 0;

	*inlined = (struct inlined) { 0 };
	if (unit)
		inlined->folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
	for (int i = 0; i < num; i++) {
		if (dwarf_tag(&scopes[i]) != DW_TAG_subprogram)
			continue;
		inlined->source = dwarf_decl_file(&scopes[i]);
		if (dwarf_decl_line(&scopes[i], &inlined->line))
			inlined->line = 0;
		walk(inlined, &scopes[i], bias, 0);
		break;
	}
	free(scopes);
}

const char *inlined_at(const struct inlined *inlined, Dwarf_Addr address)
{
	const struct inlined_range *innermost = NULL;

	for (size_t i = 0; i < inlined->num; i++) {
		const struct inlined_range *range = &inlined->list[i];

		if (address >= range->start && address < range->end &&
		    (!innermost || range->depth >= innermost->depth))
			innermost = range;
	}
	return innermost ? innermost->name : "";
}
