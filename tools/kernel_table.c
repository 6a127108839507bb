// SPDX-License-Identifier: GPL-2.0-only
/* The names of the kernel, kept as those of a file: see kernel_table.h. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "hash.h"
#include "kernel_table.h"
#include "say.h"
#include "tables.h"

#define UNSURE UINT32_MAX
#define MODULES_MAX 4096

/* With its NUL byte, which ends it. */
static void hash_text(uint64_t *hash, const char *text)
{
	*hash = hash_bytes(*hash, text, strlen(text) + 1);
}

/* Of this boot, and with these modules at these places; who uses them does not matter. */
static void key_of_kernel(char key[TABLES_KEY])
{
	char *line = NULL, name[64], size[32], at[32];
	FILE *file = fopen("/proc/modules", "re");
	uint64_t hash = tables_boot();
	size_t room = 0;

	while (file && getline(&line, &room, file) > 0) {
		if (sscanf(line, "%63s %31s %*s %*s %*s %31s", name, size, at) != 3)
			continue;
		hash_text(&hash, name);
		hash_text(&hash, size);
		hash_text(&hash, at);
	}
	if (file)
		fclose(file);
	free(line);
	snprintf(key, TABLES_KEY, "kernel-%" PRIx64, hash);
}

bool kernel_table_open(struct dumped *table)
{
	char key[TABLES_KEY];

	if (!tables_used())
		return false;
	key_of_kernel(key);
	return tables_map(key, table);
}

bool kernel_table_find(const struct dumped *table, uint64_t address, struct kernel_name *found)
{
	const struct dump_head *head = table->head;
	const struct dump_function *function = dumped_function(table, address), *first;

	*found = (struct kernel_name) { NULL };
	if (function->symbol == UNSURE || function->name >= head->texts)
		return false;
	if (!table->texts[function->name])
		return true;
	if (function->symbol >= head->functions)
		return false;
	first = &table->functions[function->symbol];
	*found = (struct kernel_name) { table->texts + function->name, first->start };
	return true;
}

static const char *module_of(const struct symbol *symbol)
{
	const char *tab = strchr(symbol->name, '\t');

	return tab ? tab : "";
}

/* The symbols of a module are one behind the other but where it has several places. */
struct modules {
	struct {
		const char *name;
		uint32_t first;
	} list[MODULES_MAX];
	size_t num, last;
};

/* Where the first function of this module is, which may be @i. */
static uint32_t first_of(struct modules *modules, const char *name, uint32_t i)
{
	if (modules->num && !strcmp(modules->list[modules->last].name, name))
		return modules->list[modules->last].first;
	for (size_t n = 0; n < modules->num; n++) {
		modules->last = n;
		if (!strcmp(modules->list[n].name, name))
			return modules->list[n].first;
	}
	if (modules->num == MODULES_MAX)
		return UNSURE;
	modules->last = modules->num++;
	modules->list[modules->last].name = name;
	modules->list[modules->last].first = i;
	return i;
}

/*
 * Code of other kinds, such as programs of BPF, comes and goes between modules without a
 * change of their list.  It has no place in the table, and what lies behind the last function
 * of a module may be such code.
 */
static bool is_lasting(const struct symbol *symbol)
{
	const char *module = module_of(symbol);

	return strcmp(module, "\t[bpf]") && strncmp(module, "\t[__builtin", 10);
}

struct writing {
	const struct symbols *symbols;
	bool (*is_code)(const struct symbol *symbol);
	struct dump_function *functions;
	size_t num;
};

static bool is_sure(const struct writing *writing, size_t i)
{
	const struct symbols *symbols = writing->symbols;
	const struct symbol *symbol = &symbols->list[i], *next = symbol + 1;

	return i + 1 < symbols->num && !strcmp(module_of(symbol), module_of(next)) &&
		(!module_of(symbol)[0] || writing->is_code(next));
}

static void write_table(void *data, FILE *out)
{
	struct writing *writing = data;
	struct modules *modules = allocated(calloc(1, sizeof(*modules)));
	struct dump_head head = { .magic = DUMP_MAGIC, .functions = writing->num, .texts = 1 };
	const struct symbols *symbols = writing->symbols;
	size_t n = 0;

	for (size_t i = 0; i < symbols->num; i++) {
		const struct symbol *symbol = &symbols->list[i];
		struct dump_function *function = &writing->functions[n];

		if (!is_lasting(symbol))
			continue;
		*function = (struct dump_function) { .start = symbol->start };
		if (writing->is_code(symbol)) {
			function->name = head.texts;
			function->symbol = first_of(modules, module_of(symbol), n);
			head.texts += strlen(symbol->name) + 1;
		}
		if (!is_sure(writing, i))
			function->symbol = UNSURE;
		n++;
	}
	fwrite(&head, sizeof(head), 1, out);
	fwrite(writing->functions, sizeof(*writing->functions), n, out);
	fputc('\0', out);
	for (size_t i = 0; i < symbols->num; i++)
		if (is_lasting(&symbols->list[i]) && writing->is_code(&symbols->list[i]))
			fwrite(symbols->list[i].name, strlen(symbols->list[i].name) + 1, 1, out);
	free(modules);
}

void kernel_table_keep(const struct symbols *symbols, bool (*is_code)(const struct symbol *symbol))
{
	struct writing writing = { .symbols = symbols, .is_code = is_code };
	char key[TABLES_KEY];

	if (!tables_used() || !symbols->num)
		return;
	for (size_t i = 0; i < symbols->num; i++)
		writing.num += is_lasting(&symbols->list[i]);
	writing.functions = allocated(calloc(writing.num + 1, sizeof(*writing.functions)));
	key_of_kernel(key);
	tables_keep(key, write_table, &writing);
	free(writing.functions);
}
