/* SPDX-License-Identifier: GPL-2.0-only */
/* What the module counts by, for soak.c and what runs beside it. */
#ifndef HOOK_H
#define HOOK_H

#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

/*
 * Its own timers are chosen, whose ticks are not the kernel's.  QUERY names no hook before
 * somebody is counted; the parameter does.
 */
static inline bool own_timers_chosen(void)
{
	int fd = open("/sys/module/profil/parameters/hook", O_RDONLY | O_CLOEXEC);
	char first = 0;
	bool chosen = fd >= 0 && read(fd, &first, 1) == 1 && first == 'h';

	close(fd);
	return chosen;
}

#endif /* HOOK_H */
