// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opens libraries, and does as it is told:
 *
 *	host {FILE | N | anon | beside | close | deep | flat | fork | hide | hold | inside |
 *	      size | term | dump | wait}...
 *
 * FILE is opened, N calls are made in it, anon has the program's code in memory of no file,
 * as for large pages, beside has a thread open and close the next
 * FILE again and again, close closes it, deep is
 * for RTLD_DEEPBIND, and lazily, from then on, flat maps the next FILE as it is, with nothing
 * behind it, fork goes on in a child, hide lets nobody read the strings of the last FILE,
 * hold has a thread be in dl_iterate_phdr() until that ends, inside forks from there,
 * size prints how many pages are mapped, term is a signal that ends it, dump says
 * what profil_dump() returns, and what becomes of errno 77, and wait is for three files of
 * the interval: the last of them was begun meanwhile.  With LINKED, calls are
 * made in a library that it is linked to.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#pragma weak profil_dump
int profil_dump(void);

static void *handle;
static int mode = RTLD_NOW;

#ifdef LINKED
void plug(long num);
#else
static void plug(long num)
{
	void (*function)(long num) = (void (*)(long num))dlsym(handle, "plug");

	function(num);
}
#endif

static void open_library(const char *file)
{
	handle = dlopen(file, mode);
	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	fprintf(stderr, "%p\n", dlsym(handle, "plug"));
}

static char *page_of(const void *place)
{
	return (char *)((uintptr_t)place & -sysconf(_SC_PAGESIZE));
}

extern char __executable_start[], etext[];

static void make_anonymous(void)
{
	char *begin = page_of(__executable_start);
	size_t bytes = etext - begin;
	char *copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (copy == MAP_FAILED)
		exit(1);
	memcpy(copy, begin, bytes);
	if (mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, begin) != begin)
		exit(1);
}

#define BEHIND	(64L << 20)

static void map_flat(const char *file)
{
	char *place = mmap(NULL, BEHIND, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	struct stat stat;

	if (place == MAP_FAILED || fd < 0 || fstat(fd, &stat) || stat.st_size > BEHIND ||
	    mmap(place, stat.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd,
		 0) != place)
		exit(1);
	close(fd);
}

static void hide_strings(void)
{
	const ElfW(Dyn) *dyn = ((const struct link_map *)handle)->l_ld;
	char *page;

	while (dyn->d_tag != DT_NULL && dyn->d_tag != DT_STRTAB)
		dyn++;
	page = page_of((const void *)dyn->d_un.d_ptr);
	if (dyn->d_tag != DT_STRTAB || mprotect(page, 1, PROT_NONE))
		exit(1);
}

static int held[2], released[2];

static int stay(struct dl_phdr_info *info, size_t size, void *arg)
{
	char byte = 0;

	(void)info;
	(void)size;
	(void)arg;
	return write(held[1], &byte, 1) != 1 || read(released[0], &byte, 1) != 1;
}

static void *hold(void *arg)
{
	dl_iterate_phdr(stay, arg);
	return arg;
}

static void start_to_hold(void)
{
	pthread_t thread;
	char byte;

	if (pipe(held) || pipe(released) || pthread_create(&thread, NULL, hold, NULL) ||
	    read(held[0], &byte, 1) != 1)
		exit(1);
}

static void *open_and_close(void *file)
{
	for (;;)
		dlclose(dlopen(file, RTLD_NOW));
	return NULL;
}

static void start_beside(char *file)
{
	pthread_t thread;

	if (!file || pthread_create(&thread, NULL, open_and_close, file))
		exit(1);
}

static void go_on_in_child(void)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		return;
	if (waitpid(pid, &status, 0) != pid)
		exit(1);
	if (released[1])
		close(released[1]);
	exit(status != 0);
}

static char **rest;

static void act(char **words);

/* The child ends in here, too. */
static int go_on_inside(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)info;
	(void)size;
	(void)arg;
	go_on_in_child();
	act(rest);
	exit(0);
}

static void dump(void)
{
	int ret;

	errno = 77;
	ret = profil_dump();
	printf("%d %s\n", ret, errno == 77 ? "77" : strerror(errno));
	fflush(stdout);
}

static void wait_for_files(void)
{
	struct stat file = { 0 };
	ino_t last = 0;

	for (int files = 0; files < 4; usleep(1000)) {
		files += !stat("gmon.out", &file) && file.st_ino != last;
		last = file.st_ino;
	}
}

static void print_size(void)
{
	FILE *statm = fopen("/proc/self/statm", "r");
	long pages;

	if (!statm || fscanf(statm, "%ld", &pages) != 1)
		exit(1);
	printf("%ld\n", pages);
	fclose(statm);
}

static void fork_inside(char **words)
{
	rest = words;
	dl_iterate_phdr(go_on_inside, NULL);
}

static void act(char **words)
{
	for (; *words; words++) {
		if (!strcmp(*words, "anon"))
			make_anonymous();
		else if (!strcmp(*words, "beside"))
			start_beside(*++words);
		else if (!strcmp(*words, "close"))
			dlclose(handle);
		else if (!strcmp(*words, "deep"))
			mode = RTLD_LAZY | RTLD_DEEPBIND;
		else if (!strcmp(*words, "flat"))
			map_flat(*++words);
		else if (!strcmp(*words, "fork"))
			go_on_in_child();
		else if (!strcmp(*words, "hide"))
			hide_strings();
		else if (!strcmp(*words, "hold"))
			start_to_hold();
		else if (!strcmp(*words, "inside"))
			fork_inside(words + 1);
		else if (!strcmp(*words, "size"))
			print_size();
		else if (!strcmp(*words, "term"))
			kill(getpid(), SIGTERM);
		else if (!strcmp(*words, "dump"))
			dump();
		else if (!strcmp(*words, "wait"))
			wait_for_files();
		else if (isdigit(**words))
			plug(atol(*words));
		else
			open_library(*words);
	}
}

int main(int argc, char **argv)
{
	(void)argc;
	act(argv + 1);
	return 0;
}
