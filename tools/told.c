// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "told.h"

const char *told_text(struct told *told)
{
	const char *text = told->next;
	const char *nul = text ? memchr(text, '\0', told->end - text) : NULL;

	told->next = nul ? nul + 1 : NULL;
	return nul ? text : NULL;
}

bool told_number(struct told *told, uint64_t *number)
{
	const char *text = told_text(told);
	char *end;

	if (!text || text[0] < '0' || text[0] > '9')
		return false;
	*number = strtoull(text, &end, 10);
	return !*end;
}

bool told_string(struct told *told, struct profile *profile, const char **string)
{
	const char *text = told_text(told);

	if (text)
		*string = profile_string(profile, text);
	return text;
}

void tell_text(FILE *out, const char *text)
{
	fwrite(text, 1, strnlen(text, PROFILE_TEXT_MAX), out);
	putc('\0', out);
}

void tell_number(FILE *out, uint64_t number)
{
	fprintf(out, "%" PRIu64, number);
	putc('\0', out);
}
