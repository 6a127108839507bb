// SPDX-License-Identifier: GPL-2.0-only
/* Prints the file that profil() comes from. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	Dl_info info;

	if (!dladdr((void *)profil, &info))
		return 1;
	puts(info.dli_fname);
	return 0;
}
