/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
#ifndef _LIBPROFIL_INTERNAL_H
#define _LIBPROFIL_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include "profil.h"

#define PROFIL_API __attribute__((visibility("default")))

/*
 * As in <unistd.h>, but without its __nonnull((1)): where gcc sees that, it
 * drops the test of buf that turns profiling off.  No file that defines
 * profil() or calls the C library's includes <unistd.h>.
 */
int profil(unsigned short *buf, size_t bufsiz, size_t offset,
	   unsigned int scale);

/*
 * What may have to be stopped.  Never cleared: then a stop and a start at the
 * same time, in two threads, cannot leave a running profile that is thought
 * off.  Plain memory, so that a forked child knows as much as its parent.
 */
extern atomic_bool libprofil_started;
extern atomic_bool libprofil_fell_back;

/* device.c: the descriptor lives for one call and never over exec() */
int libprofil_open(void);
int libprofil_close(int fd, int ret);
int libprofil_ioctl(int fd, unsigned long cmd, void *arg);
void libprofil_complain(const char *note);

/* start.c: START on an open device */
int libprofil_start(int fd, const struct profil_region *regions, size_t num,
		    size_t len, unsigned int rate);

/* next.c or nonext.c: the profil() that this library stands in front of */
typedef int libprofil_fn(unsigned short *buf, size_t bufsiz, size_t offset,
			 unsigned int scale);
libprofil_fn *libprofil_next(void);

#endif /* _LIBPROFIL_INTERNAL_H */
