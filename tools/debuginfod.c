// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "debuginfod.h"

const char *debuginfod_servers(void)
{
	const char *servers = getenv("DEBUGINFOD_URLS");

	return servers && servers[strspn(servers, " ")] ? servers : NULL;
}

const char *debuginfod_server(void)
{
	static const struct { const char *id, *url; } servers[] = {
		{ "ID=debian\n", "https://debuginfod.debian.net" },
		{ "ID=ubuntu\n", "https://debuginfod.ubuntu.com" },
		{ "ID=fedora\n", "https://debuginfod.fedoraproject.org" },
		{ "ID=arch\n", "https://debuginfod.archlinux.org" },
	};
	FILE *release = fopen("/etc/os-release", "re");
	const char *url = "https://debuginfod.elfutils.org";
	char *line = NULL;
	size_t room = 0;

	while (release && getline(&line, &room, release) > 0)
		for (size_t i = 0; i < sizeof(servers) / sizeof(servers[0]); i++)
			if (!strcmp(line, servers[i].id))
				url = servers[i].url;
	free(line);
	if (release)
		fclose(release);
	return url;
}

bool debuginfod_is_there(void)
{
	void *library = dlopen("libdebuginfod.so.1", RTLD_LAZY);

	if (library)
		dlclose(library);
	return library;
}
