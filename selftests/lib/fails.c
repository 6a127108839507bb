// SPDX-License-Identifier: GPL-2.0-only
/*
 * To preload: where no file can be made (CREATE=ERRNO), or none can be renamed
 * (RENAME=ERRNO), or not so that no other is replaced (NOREPLACE=ERRNO), or there are no
 * links (LINK=ERRNO), or no memory can be read by a system call (READV=ERRNO), or all
 * processes have the same number (PID=NUMBER), as in namespaces; or where each file that
 * lstat() finds is another one afterwards (WAS=fifo, WAS=file); or where a FIFO has a reader
 * (LEAVES=) until it is opened, and then none.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int fails(const char *variable)
{
	const char *error = getenv(variable);

	errno = error ? atoi(error) : 0;
	return errno;
}

static int open_beside_reader(const char *path, int flags)
{
	int reader = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_NONBLOCK);
	int fd = syscall(SYS_openat, AT_FDCWD, path, flags);

	close(reader);
	return fd;
}

int open(const char *path, int flags, ...)
{
	va_list args;
	int mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, int) : 0;
	va_end(args);
	if (flags & O_NONBLOCK && getenv("LEAVES"))
		return open_beside_reader(path, flags);
	return flags & O_CREAT && fails("CREATE") ? -1 :
	       syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int rename(const char *old, const char *new)
{
	return fails("RENAME") ? -1 : renameat2(AT_FDCWD, old, AT_FDCWD, new, 0);
}

int renameat2(int from, const char *old, int to, const char *new, unsigned int flags)
{
	return flags && fails("NOREPLACE") ? -1 :
	       syscall(SYS_renameat2, from, old, to, new, flags);
}

int link(const char *old, const char *new)
{
	return fails("LINK") ? -1 : linkat(AT_FDCWD, old, AT_FDCWD, new, 0);
}

int lstat(const char *path, struct stat *file)
{
	int ret = fstatat(AT_FDCWD, path, file, AT_SYMLINK_NOFOLLOW);
	const char *was = getenv("WAS");

	if (!ret && was)
		file->st_mode = strcmp(was, "fifo") ? S_IFREG : S_IFIFO;
	return ret;
}

ssize_t process_vm_readv(pid_t pid, const struct iovec *to, unsigned long nums,
			 const struct iovec *from, unsigned long others, unsigned long flags)
{
	return fails("READV") ? -1 :
	       syscall(SYS_process_vm_readv, pid, to, nums, from, others, flags);
}

pid_t getpid(void)
{
	const char *number = getenv("PID");

	return number ? atoi(number) : syscall(SYS_getpid);
}
