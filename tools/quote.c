// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include "quote.h"

/* What means nothing to a shell, at any place of a word. */
#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+:,./-"

void quote(FILE *out, const char *text)
{
	if (text[0] && !text[strspn(text, PLAIN)]) {
		fputs(text, out);
		return;
	}
	putc('\'', out);
	for (; *text; text++)
		if (*text == '\'')
			fputs("'\\''", out);
		else
			putc(*text, out);
	putc('\'', out);
}
