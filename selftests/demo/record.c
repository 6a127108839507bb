// SPDX-License-Identifier: GPL-2.0-only
/*
 * Profiles a program that knows nothing of it: LD_PRELOAD=record.so prog.
 *
 * One region for each executable mapping that is there when the program starts
 * (what it loads later by dlopen() counts as outside), every tick, one file for
 * each program that a process runs, in the directory $PROFIL_RECORD.  A process
 * that SIGTERM ends leaves one, too; one that another signal kills leaves none.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "profile.h"

#define EXPORT __attribute__((visibility("default")))
#define MAX_OBJECTS 1024

static struct profile_object objects[MAX_OBJECTS];
static struct profil_region regions[MAX_OBJECTS];
static size_t num;

static struct profile_run run;
static char directory[PATH_MAX];

/* 0: not recording.  A vfork child has its parent's memory, but not its pid. */
static pid_t recorded_pid;

static const char *path_of(const char *name)
{
	const char *path;

	if (!*name)
		return "/proc/self/exe";
	path = realpath(name, NULL);
	return path ? path : name;	/* the vdso has no file */
}

static void add_segment(const char *path, __u64 bias, __u64 start, size_t size)
{
	size_t counters = size / 2;
	size_t bytes = counters * sizeof(__u32);
	void *bins;

	if (!counters || num == MAX_OBJECTS)
		return;
	bins = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (bins == MAP_FAILED)
		return;
	/* A child begins with empty histograms, however it was forked. */
	madvise(bins, bytes, MADV_WIPEONFORK);

	regions[num] = (struct profil_region) {
		.buf_uptr = (uintptr_t)bins,
		.bytes = bytes,
		.offset = start,
		.scale = 65536,
		.flags = PROFIL_REGION_F_U32,
	};
	objects[num++] = (struct profile_object) {
		.path = path,
		.bias = bias,
		.start = start,
		.bins = bins,
		.num = counters,
		.width = sizeof(__u32),
	};
}

static int add_object(struct dl_phdr_info *info, size_t size, void *unused)
{
	const char *path = path_of(info->dlpi_name);

	(void)size;
	(void)unused;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD &&
		    info->dlpi_phdr[i].p_flags & PF_X)
			add_segment(path, info->dlpi_addr,
				    info->dlpi_addr + info->dlpi_phdr[i].p_vaddr,
				    info->dlpi_phdr[i].p_memsz);
	return 0;
}

static int start_counting(void)
{
	struct profil_ioc_start start = {
		.size = sizeof(start),
		.region_num = num,
		.region_len = sizeof(regions[0]),
		.regions_uptr = (uintptr_t)regions,
		.rate = PROFILE_RATE_TICK,
	};

	return profil_start(&start);
}

/* After the start: the kernel's work to place its hook is not the program's. */
static void begin(void)
{
	profile_begin(&run, PROFILE_RATE_TICK);
	recorded_pid = getpid();
}

static void finish(void);

/* A server does not end by itself. */
static void terminated(int sig)
{
	finish();
	signal(sig, SIG_DFL);
	raise(sig);
}

static __attribute__((constructor)) void start(void)
{
	struct sigaction at_term = { .sa_handler = terminated }, old;
	const char *wanted = getenv("PROFIL_RECORD");

	if (!wanted || !realpath(wanted, directory)) {
		fprintf(stderr, "record: nothing is recorded: PROFIL_RECORD=%s is no folder\n",
			wanted ? wanted : "");
		return;
	}
	dl_iterate_phdr(add_object, NULL);
	if (start_counting()) {
		/* The library has said what there is to say about the device. */
		if (errno != ENOENT && errno != EACCES)
			perror("record: cannot start");
		return;
	}
	begin();
	pthread_atfork(NULL, NULL, begin);
	if (!sigaction(SIGTERM, NULL, &old) && old.sa_handler == SIG_DFL)
		sigaction(SIGTERM, &at_term, NULL);
}

/* Stops, and writes what there is; gives the file's name, in a static buffer. */
static const char *save(bool even_if_empty)
{
	static char file[PATH_MAX + 64];
	struct profil_ioc_start none = { .size = sizeof(none) };
	struct timespec time;

	/* Not profil_stop(), which leaves no counts. */
	profil_start(&none);
	if (profile_end(&run)) {
		perror("record: cannot read the counts");
		return NULL;
	}
	if (!run.stats.out_ticks && !even_if_empty)
		return NULL;
	clock_gettime(CLOCK_MONOTONIC, &time);
	/* The time tells apart the programs that one process execs. */
	snprintf(file, sizeof(file), "%s/%d.%llu" PROFILE_SUFFIX, directory, getpid(),
		 time.tv_sec * 1000000000ULL + time.tv_nsec);
	if (profile_write(&run, objects, num, file)) {
		fprintf(stderr, "record: cannot write %s: %s\n", file, strerror(errno));
		return NULL;
	}
	return file;
}

static __attribute__((destructor)) void finish(void)
{
	if (recorded_pid != getpid())
		return;
	recorded_pid = 0;
	save(true);
}

/* The ways out that pass by destructors. */
EXPORT void __noreturn _exit(int status)
{
	finish();
	for (;;)
		syscall(SYS_exit_group, status);
}

EXPORT void __noreturn _Exit(int status)
{
	_exit(status);
}

/*
 * A shell tries each directory of PATH in turn, and goes on when none has the
 * program: then the file was written too early, and goes away again.
 */
EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
	bool recording = recorded_pid == getpid();
	const char *file = recording ? save(false) : NULL;
	int err;

	syscall(SYS_execve, path, argv, envp);
	err = errno;
	if (file)
		unlink(file);
	if (recording && !start_counting())
		profile_continue(&run);
	errno = err;
	return -1;
}
