/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process of a tree, for beside.h: it runs, changes its mappings, has children like itself,
 * and exits, is killed, or executes its program once more, with PROGRAM --life SEED DEPTH IMAGES.
 */
#ifndef TREE_H
#define TREE_H

#include "beside.h"

#define DEPTH		2	/* children of children */
#define FORKS		2	/* of an image */
#define IMAGES		2	/* that a process executes beside the first */

static inline void *burn_thread(void *arg)
{
	hot_b(4 * HOT_ROUNDS);
	return arg;
}

static inline void act_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, burn_thread, NULL))
		return;
	hot_a(HOT_ROUNDS);
	pthread_join(thread, NULL);
}

/* Mappings change under the ticks. */
static inline void act_map(void)
{
	void *page = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	if (page == MAP_FAILED)
		return;
	memset(page, 1, 16 * PAGE);
	mprotect(page, 8 * PAGE, PROT_READ);
	munmap(page, 16 * PAGE);
}

static inline void act_read(void)
{
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	char buf[4096];

	read_loop(zero, buf, sizeof(buf), 2000);
	close(zero);
}

struct image {
	unsigned int depth, left;
};

static inline void *exec_fn(void *arg)
{
	char seed[32], depth[16], left[16];
	struct image *image = arg;

	snprintf(seed, sizeof(seed), "%llu", draw() | 1);
	snprintf(depth, sizeof(depth), "%u", image->depth);
	snprintf(left, sizeof(left), "%u", image->left);
	execl("/proc/self/exe", "life", "--life", seed, depth, left, NULL);
	_exit(1);
}

__attribute__((noreturn))
static inline void life_end(unsigned int depth, unsigned int images)
{
	struct image image = { .depth = depth, .left = images - 1 };
	pthread_t thread;

	switch (choose(images ? 5 : 2)) {
	case 0:
		_exit(0);
	case 1:
		kill(getpid(), SIGKILL);
		break;
	}
	/* Of a thread that is not the first, now and then. */
	if (choose(2) && !pthread_create(&thread, NULL, exec_fn, &image))
		burn_for_ever();
	exec_fn(&image);
	_exit(1);
}

__attribute__((noreturn))
static inline void life(unsigned int depth, unsigned int images)
{
	unsigned int i, forks = 0;
	__u64 seed;

	for (i = 2 + choose(6); i; i--) {
		hot_a(8 * HOT_ROUNDS);
		switch (choose(5)) {
		case 0:
		case 1:
			seed = draw() | 1;
			if (depth == DEPTH || forks++ == FORKS || fork())
				break;
			beside_seed = seed;
			life(depth + 1, images);
		case 2:
			act_thread();
			break;
		case 3:
			act_map();
			break;
		case 4:
			act_read();
			break;
		}
	}
	life_end(depth, images);
}

/* Never returns in what life() has executed. */
static inline void life_again(int argc, char **argv)
{
	if (argc != 5 || strcmp(argv[1], "--life"))
		return;
	beside_seed = strtoull(argv[2], NULL, 10);
	life(atoi(argv[3]), atoi(argv[4]));
}

/* A session for it, of some kind. */
static inline struct profil_ioc_session tree_args(void)
{
	static const __u32 flags[] = {
		0, PROFIL_SESSION_F_PER_PROCESS, PROFIL_SESSION_F_USER_ONLY,
		PROFIL_SESSION_F_KERNEL,
	};
	struct profil_ioc_session args = session_args();

	/* The last one is root's. */
	args.flags = flags[choose(geteuid() ? 3 : 4)];
	args.slots = choose(4) ? 4096 : PROFIL_SLOTS_MIN;
	args.rate = choose(3) ? 0 : 100;
	if (!choose(5)) {
		args.source = PROFIL_SOURCE_TIMER;
		args.rate = 500;
		args.jitter = 50;
	}
	return args;
}

#endif /* TREE_H */
