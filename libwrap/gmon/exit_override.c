// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* _exit(), in an archive member of its own, which does not bring the others. */
#include <sys/syscall.h>
#include "gmon.h"
#include "internal.h"
#include "syscall.h"

/* <unistd.h> declares profil(), see internal.h. */
void _exit(int status) __attribute__((noreturn));
void _Exit(int status) __attribute__((noreturn));

#pragma weak libprofil_when_exit

PROFIL_API
void _exit(int status)
{
	if (libprofil_when_exit)
		libprofil_when_exit();
	for (;;)
		libprofil_syscall(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

PROFIL_API
void _Exit(int status)
{
	_exit(status);
}
