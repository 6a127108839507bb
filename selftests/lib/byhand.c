// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls leaf() N times, begins a profile of it by START(), which is __monstartup() or
 * monstartup(), and calls it M times: byhand N M.  With a third number, so many threads
 * begin it at the same time, and call it M times each.  Says how often it was looked where
 * the program begins.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

void START(unsigned long low, unsigned long high);
void _mcleanup(void);

#define LEAF_BYTES	64

__attribute__((noinline, noclone, aligned(LEAF_BYTES))) void leaf(void);
__attribute__((noinline, noclone, aligned(LEAF_BYTES))) void leaf(void)
{
	__asm__ volatile("");
}

static void calls(const char *num)
{
	for (long i = atol(num); i > 0; i--)
		leaf();
}

static pthread_barrier_t all;
static int looks;

/* The library asks for it when it begins: others come meanwhile. */
char *getcwd(char *buf, size_t bytes)
{
	__atomic_add_fetch(&looks, 1, __ATOMIC_RELAXED);
	usleep(100000);
	return syscall(SYS_getcwd, buf, bytes) < 0 ? NULL : buf;
}

static void *begin(void *num)
{
	pthread_barrier_wait(&all);
	START((unsigned long)leaf, (unsigned long)leaf + LEAF_BYTES);
	calls(num);
	return NULL;
}

static int begin_together(int threads, char *num)
{
	pthread_t id[threads];

	if (pthread_barrier_init(&all, NULL, threads))
		return 1;
	for (int i = 0; i < threads; i++)
		if (pthread_create(&id[i], NULL, begin, num))
			return 1;
	for (int i = 0; i < threads; i++)
		pthread_join(id[i], NULL);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	calls(argv[1]);
	if (begin_together(argc > 3 ? atoi(argv[3]) : 1, argv[2]))
		return 1;
	_mcleanup();
	printf("%d\n", looks);
	return 0;
}
