// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a shell cannot ask of /dev/profil, for module_test.sh:
 *
 * hold		profile this process, say so, and sleep until killed
 * count N	profile N ticks of this process; fails if they are not counted
 * query	print the hook in use and how often one was lost
 */
#include "profil_common.h"

static int hold(int fd)
{
	int err = profil_start_page(fd, hot_a, page_alloc());

	if (err) {
		printf("# START: %s\n", strerror(-err));
		return 1;
	}
	puts("holding");
	fflush(stdout);
	for (;;)
		pause();
}

static int count(int fd, unsigned long ticks)
{
	__u16 *counter = page_alloc();
	int err = profil_start_page(fd, hot_a, counter);
	struct profil_ioc_stats stats;

	if (err) {
		printf("# START: %s\n", strerror(-err));
		return 1;
	}
	if (!burn(fd, hot_a, ticks) || !settle(fd, &stats) ||
	    profil_stop(fd) || profil_stats(fd, &stats)) {
		puts("# the profile ended by itself");
		return 1;
	}
	printf("# %llu ticks, %llu in range, counter %u\n", stats.out_ticks,
	       stats.out_in_range, *counter);
	return !check_identity(&stats) || stats.out_in_range != *counter ||
	       stats.out_in_range < ticks / 10;
}

static int query(int fd)
{
	static const char *const hooks[] = {
		[PROFIL_HOOK_NONE] = "none",
		[PROFIL_HOOK_FTRACE] = "ftrace",
		[PROFIL_HOOK_KPROBE] = "kprobe",
		[PROFIL_HOOK_HRTIMER] = "hrtimer",
	};
	struct profil_ioc_query query;

	if (profil_query(fd, &query) || query.out_hook >= ARRAY_SIZE(hooks))
		return 1;
	printf("%s %u\n", hooks[query.out_hook], query.out_hooks_lost);
	return 0;
}

int main(int argc, char **argv)
{
	int fd = profil_open();

	if (fd < 0) {
		printf("# /dev/profil: %s\n", strerror(errno));
		return 1;
	}
	if (argc == 2 && !strcmp(argv[1], "hold"))
		return hold(fd);
	if (argc == 3 && !strcmp(argv[1], "count"))
		return count(fd, strtoul(argv[2], NULL, 10));
	if (argc == 2 && !strcmp(argv[1], "query"))
		return query(fd);
	return 2;
}
