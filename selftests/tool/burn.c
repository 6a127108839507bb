// SPDX-License-Identifier: GPL-2.0-only
/*
 * Spends CPU time in burn_here(), in ways that are hard to follow, or in the kernel:
 *
 *   burn TENTHS [here|threads|daemon|jit|exec|zero|module|phases]
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <linux/profil.h>

static int tenths;

static double used(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static __attribute__((noinline)) void burn_here(int rounds)
{
	for (volatile int i = 0; i < rounds; i++)
		;
}

static void *burn(void *nothing)
{
	double begin = used();

	while (used() - begin < tenths / 10.0)
		burn_here(100000);
	return nothing;
}

static __attribute__((noinline)) void burn_there(int rounds)
{
	for (volatile int i = rounds; i > 0; i--)
		;
}

/* As long in another function afterwards. */
static void phases(void)
{
	double begin;

	burn(NULL);
	begin = used();
	while (used() - begin < tenths / 10.0)
		burn_there(100000);
}

/* Nothing that it was given is left, and nobody waits for it. */
static void become_daemon(void)
{
	if (fork())
		_exit(0);
	setsid();
	if (fork())
		_exit(0);
	for (int fd = 0; fd < 1024; fd++)
		close(fd);
	clearenv();
}

/* A loop of decrements, in memory of no file, with a name in the map for it. */
static void jit(void)
{
#ifdef __x86_64__
	/* mov %edi,%eax; 1: dec %eax; jnz 1b; ret */
	static const unsigned char code[] = { 0x89, 0xf8, 0xff, 0xc8, 0x75, 0xfc, 0xc3 };
#else
	/* 1: subs w0, w0, #1; b.ne 1b; ret */
	static const unsigned int code[] = { 0x71000400, 0x54ffffe1, 0xd65f03c0 };
#endif
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	double begin = used();
	char path[64];
	FILE *map;

	memcpy(memory, code, sizeof(code));
	__builtin___clear_cache(memory, (char *)memory + 4096);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "we");
	fprintf(map, "%lx %lx made at run time\n", (long)memory, (long)sizeof(code));
	fclose(map);
	while (used() - begin < tenths / 10.0)
		((void (*)(int))memory)(100000);
}

/* Always another program, which is this one. */
static void execute(char **argv)
{
	execv("/proc/self/exe", argv);
	_exit(1);
}

/* The kernel fills memory. */
static void zero(void)
{
	static char buffer[65536];
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	double begin = used();

	while (used() - begin < tenths / 10.0)
		for (int i = 0; i < 100; i++)
			if (read(fd, buffer, sizeof(buffer)) < 0)
				_exit(1);
}

/* The kernel is in a module: ours. */
static void module(void)
{
	struct profil_ioc_query query = { .size = sizeof(query) };
	int fd = open("/dev/profil", O_RDONLY | O_CLOEXEC);
	double begin = used();

	while (used() - begin < tenths / 10.0)
		for (int i = 0; i < 1000; i++)
			if (ioctl(fd, PROFIL_IOC_QUERY, &query))
				_exit(1);
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[2] : "here";
	pthread_t threads[4];

	tenths = argc > 1 ? atoi(argv[1]) : 5;
	if (!strcmp(how, "daemon"))
		become_daemon();
	if (!strcmp(how, "jit")) {
		jit();
	} else if (!strcmp(how, "exec")) {
		execute(argv);
	} else if (!strcmp(how, "zero")) {
		zero();
	} else if (!strcmp(how, "module")) {
		module();
	} else if (!strcmp(how, "phases")) {
		phases();
	} else if (!strcmp(how, "threads")) {
		for (int i = 0; i < 4; i++)
			pthread_create(&threads[i], NULL, burn, NULL);
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
	} else {
		burn(NULL);
	}
	return 0;
}
