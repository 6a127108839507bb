// SPDX-License-Identifier: GPL-2.0-only
/* Reads paths of control groups, one a line, and says which unit and container each is. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "unit.h"

int main(void)
{
	struct unit unit;
	char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, stdin) > 0) {
		line[strcspn(line, "\n")] = '\0';
		unit_of(line, &unit);
		printf("%s %s\n", unit.unit, unit.container[0] ? unit.container : "-");
	}
	free(line);
	return 0;
}
