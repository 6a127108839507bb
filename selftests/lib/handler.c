// SPDX-License-Identifier: GPL-2.0-only
/*
 * To preload behind the library, instead of the C library's profil(): it has counted FIRST
 * samples, all of one place.  For one more, its handler in another thread has read the counter
 * when the program calls raise(), and writes it after that.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stddef.h>

#define FIRST 5

int profil(unsigned short *buf, size_t bufsiz, size_t offset, unsigned int scale);

static volatile unsigned short *counter;

int profil(unsigned short *buf, size_t bufsiz, size_t offset, unsigned int scale)
{
	(void)bufsiz;
	(void)offset;
	(void)scale;
	if (buf && !counter) {
		counter = buf;
		*counter = FIRST;
	}
	return 0;
}

int raise(int sig)
{
	unsigned short count = *counter;
	int ret = pthread_kill(pthread_self(), sig);

	*counter = count + 1;
	return ret;
}
