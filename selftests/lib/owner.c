// SPDX-License-Identifier: GPL-2.0-only
/*
 * A thread begins the first profile while another is amid moncontrol(0), which it called before
 * there was one.  pthread_mutex_lock() and pthread_mutex_unlock() are this file's own: it fails
 * if a thread unlocks what it has not locked.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

#define LOCKS_MAX 16

void __monstartup(unsigned long low, unsigned long high);
void moncontrol(int mode);

typedef int mutex_fn(pthread_mutex_t *mutex);

static __thread pthread_mutex_t *owned[LOCKS_MAX];
static int asked, begun, bad;

/* Of the places of this thread's locks, one that has this, or NULL for a free one. */
static pthread_mutex_t **place_of(pthread_mutex_t *mutex)
{
	int i = 0;

	while (i < LOCKS_MAX - 1 && owned[i] != mutex)
		i++;
	bad |= owned[i] != mutex;
	return &owned[i];
}

static void *begin(void *arg)
{
	__monstartup(0, 0);
	begun = 1;
	return arg;
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	mutex_fn *next = (mutex_fn *)dlsym(RTLD_NEXT, "pthread_mutex_lock");
	int ret = next(mutex);
	pthread_t thread;

	*place_of(NULL) = mutex;
	if (asked) {
		asked = 0;
		bad |= pthread_create(&thread, NULL, begin, NULL) || pthread_join(thread, NULL);
	}
	return ret;
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	mutex_fn *next = (mutex_fn *)dlsym(RTLD_NEXT, "pthread_mutex_unlock");

	*place_of(mutex) = NULL;
	return next(mutex);
}

int main(void)
{
	asked = 1;
	moncontrol(0);
	return bad || !begun;
}
