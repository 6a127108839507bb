// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opens libraries, and does as it is told:
 *
 *	host {FILE | N | close | fork | size | term | dump}...
 *
 * FILE is opened, N calls are made in it, close closes it, fork goes on in a child,
 * size prints how many pages are mapped, term is a signal that ends it, and dump says
 * what profil_dump() returns, and what becomes of errno 77.  With LINKED, calls are
 * made in a library that it is linked to.
 */
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#pragma weak profil_dump
int profil_dump(void);

static void *handle;

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
	handle = dlopen(file, RTLD_NOW);
	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	fprintf(stderr, "%p\n", dlsym(handle, "plug"));
}

static void go_on_in_child(void)
{
	int status;
	pid_t pid = fork();

	if (pid)
		exit(waitpid(pid, &status, 0) != pid || status);
}

static void dump(void)
{
	int ret;

	errno = 77;
	ret = profil_dump();
	printf("%d %s\n", ret, errno == 77 ? "77" : strerror(errno));
	fflush(stdout);
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

int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "close"))
			dlclose(handle);
		else if (!strcmp(argv[i], "fork"))
			go_on_in_child();
		else if (!strcmp(argv[i], "size"))
			print_size();
		else if (!strcmp(argv[i], "term"))
			kill(getpid(), SIGTERM);
		else if (!strcmp(argv[i], "dump"))
			dump();
		else if (isdigit(*argv[i]))
			plug(atol(argv[i]));
		else
			open_library(argv[i]);
	}
	return 0;
}
