// SPDX-License-Identifier: GPL-2.0-only
/* The same object in two builds: see alike.h. */
#define _GNU_SOURCE
#include <string.h>
#include "alike.h"

/*
 * What an object is called in two builds: "libz.so" of /usr/lib/libz.so.1.2.13, and also
 * where it was deleted meanwhile.
 */
static const char *object_stem(struct profile *names, const char *file)
{
	const char *name = last_part(file);
	const char *version = strstr(name, ".so.");
	size_t length = file_length(name);

	if (name[0] == '[')
		return profile_string(names, name);
	if (version)
		length = version + strlen(".so") - name;
	return profile_text(names, name, length);
}

/* The program that was given to profil run, which every build may call otherwise. */
static bool is_program(const struct profile *profile, const char *name)
{
	size_t length = strcspn(profile->command, " ");
	const char *slash = memrchr(profile->command, '/', length);
	const char *program = slash ? slash + 1 : profile->command;

	length -= program - profile->command;
	return !strncmp(name, program, length) && !name[length] && length;
}

const char *alike_program(const struct profile *first)
{
	for (size_t i = 0; i < first->num_objects; i++) {
		const char *name = object_name(&first->objects[i]);

		if (is_program(first, name))
			return name;
	}
	return NULL;
}

const char *alike_name(struct profile *names, const struct profile *profile,
		       const char *file, const char *program)
{
	const char *name = object_stem(names, file);

	return program && is_program(profile, name) ? program : name;
}
