// SPDX-License-Identifier: GPL-2.0-only
/* Prints the files that profil() and sprofil() come from. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <sys/profil.h>
#include <unistd.h>

static int print(const char *name, void *function)
{
	Dl_info info;

	if (!dladdr(function, &info))
		return 1;
	printf("%s %s\n", name, info.dli_fname);
	return 0;
}

int main(void)
{
	return print("profil", (void *)profil) || print("sprofil", (void *)sprofil);
}
