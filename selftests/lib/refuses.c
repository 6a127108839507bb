// SPDX-License-Identifier: GPL-2.0-only
/*
 * To preload: a /dev/profil that can be opened and starts nothing, for a reason whose
 * number is in REFUSE.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/profil.h>

int open(const char *path, int flags, ...)
{
	va_list args;
	int mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, int) : 0;
	va_end(args);
	return syscall(SYS_openat, AT_FDCWD,
		       strcmp(path, "/dev/profil") ? path : "/dev/null", flags, mode);
}

int ioctl(int fd, unsigned long cmd, ...)
{
	(void)fd;
	if (cmd != PROFIL_IOC_START)
		return 0;
	errno = atoi(getenv("REFUSE"));
	return -1;
}
