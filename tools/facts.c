// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include "command.h"
#include "facts.h"
#include "say.h"

void facts_add(struct profile *profile)
{
	struct utsname machine;
	char *fact;

	profile_add_fact(profile, "profil " VERSION);
	if (uname(&machine))
		return;
	if (asprintf(&fact, "host %s, %s %s, %s", machine.nodename, machine.sysname,
		     machine.release, machine.machine) < 0)
		allocated(NULL);
	profile_add_fact(profile, fact);
	free(fact);
}
