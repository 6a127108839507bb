// SPDX-License-Identifier: GPL-2.0-only
/*
 * Everything that can meet a tick, at once: processes of threads that start,
 * stop, fork, exec, kill, unmap and protect, for a count of rounds.  Whoever
 * survives must find its ticks accounted for to the last one.
 */
#include "profil_common.h"

#define PROCESSES	3
#define ACTORS		2	/* threads that do things, in each */
#define BURNERS		2	/* threads that only run, in each */
#define ROUNDS		25
#define CPU_FILE	"/sys/devices/system/cpu/cpu1/online"

enum action {
	ACT_STOP,
	ACT_UNMAP,
	ACT_PROTECT,
	ACT_THROW_AWAY,
	ACT_UNMAP_ANCHOR,
	ACT_FORK,
	ACT_FORK_KILL,
	ACT_FORK_EXEC,
	ACT_REOPEN,
	ACT_THREAD,
	ACTIONS,
};

struct actor {
	pthread_t thread;
	unsigned int seed;
	int bad;
};

/* Else two would unmap one anchor, and the second something newer. */
static pthread_mutex_t anchor_mutex = PTHREAD_MUTEX_INITIALIZER;

static int executed_image(void)
{
	struct profil_ioc_stats stats;
	int fd = profil_open();

	hot_a(HOT_ROUNDS);
	return fd < 0 || profil_stats(fd, &stats) != -ENOENT;
}

static bool stats_hold(int fd)
{
	struct profil_ioc_stats stats;
	int ret = profil_stats(fd, &stats);

	return ret ? ret == -ENOENT : check_identity(&stats);
}

static void unmap_anchor(void)
{
	unsigned long anchor;

	pthread_mutex_lock(&anchor_mutex);
	anchor = find_anchor(NULL);
	if (anchor)
		munmap((void *)anchor, PAGE);
	pthread_mutex_unlock(&anchor_mutex);
}

static int act_fork(int fd, enum action action)
{
	pid_t pid = fork();

	if (pid < 0)
		return 1;
	if (!pid) {
		if (action == ACT_FORK_EXEC) {
			execl("/proc/self/exe", "stress_test", "--executed",
			      NULL);
			_exit(100);
		}
		do
			hot_a(HOT_ROUNDS);
		while (action == ACT_FORK_KILL);
		_exit(!stats_hold(fd));
	}
	if (action != ACT_FORK_KILL)
		return wait_for(pid);
	hot_a(2 * HOT_ROUNDS);
	kill(pid, SIGKILL);
	return wait_for(pid) != -SIGKILL;
}

static int act_thread(void)
{
	struct burner burner;

	if (burner_start(&burner, hot_a))
		return 1;
	hot_b(4 * HOT_ROUNDS);
	burner_join(&burner);
	return 0;
}

static int act(int *fd, enum action action, void *buf)
{
	switch (action) {
	case ACT_STOP:
		return profil_stop(*fd);
	case ACT_UNMAP:
		return munmap(buf, PAGE);
	case ACT_PROTECT:
		return mprotect(buf, PAGE, PROT_READ);
	case ACT_THROW_AWAY:
		return madvise(buf, PAGE, MADV_DONTNEED);
	case ACT_UNMAP_ANCHOR:
		unmap_anchor();
		return 0;
	case ACT_REOPEN:
		close(*fd);
		*fd = profil_open();
		return *fd < 0;
	case ACT_THREAD:
		return act_thread();
	default:
		return act_fork(*fd, action);
	}
}

static void *actor_fn(void *arg)
{
	struct actor *actor = arg;
	int fd = profil_open(), round, ret, flags;
	enum action action;
	void *buf;

	for (round = 0; round < ROUNDS; round++) {
		flags = rand_r(&actor->seed) % 2 ? MAP_PRIVATE : MAP_SHARED;
		buf = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			   flags | MAP_ANONYMOUS, -1, 0);
		if (buf == MAP_FAILED) {
			actor->bad++;
			break;
		}
		ret = profil_start_page(fd, hot_a, buf);
		if (ret && ret != -EAGAIN) {
			printf("# START: %s\n", strerror(-ret));
			actor->bad++;
		}
		hot_a(1 + rand_r(&actor->seed) % (6 * HOT_ROUNDS));
		action = rand_r(&actor->seed) % ACTIONS;
		ret = act(&fd, action, buf);
		if (ret) {
			printf("# action %d: %d\n", action, ret);
			actor->bad++;
		}
		hot_a(1 + rand_r(&actor->seed) % (6 * HOT_ROUNDS));
		if (!stats_hold(fd))
			actor->bad++;
		if (action != ACT_UNMAP)
			munmap(buf, PAGE);
	}
	close(fd);
	return NULL;
}

static int process(unsigned int seed)
{
	struct burner burners[BURNERS];
	struct actor actors[ACTORS];
	struct profil_ioc_stats stats;
	int i, fd, bad = 0;
	__u16 *counter;

	for (i = 0; i < BURNERS; i++)
		if (burner_start(&burners[i], hot_a))
			return 101;
	for (i = 0; i < ACTORS; i++) {
		actors[i] = (struct actor){ .seed = seed + i };
		if (pthread_create(&actors[i].thread, NULL, actor_fn,
				   &actors[i]))
			return 102;
	}
	for (i = 0; i < ACTORS; i++) {
		pthread_join(actors[i].thread, NULL);
		bad += actors[i].bad;
	}
	for (i = 0; i < BURNERS; i++)
		burner_join(&burners[i]);
	if (bad)
		return bad;
	/* And after all that, it counts as on the first day. */
	fd = profil_open();
	/* The former profile may still count, where an unmapped page was. */
	unmap_anchor();
	counter = page_alloc();
	if (profil_start_page(fd, hot_a, counter) || !burn(fd, hot_a, 10) ||
	    !settle(fd, &stats) || profil_stop(fd) || profil_stats(fd, &stats))
		return 103;
	if (check_identity(&stats) && stats.out_in_range == *counter &&
	    none_lost_before_the_end(&stats))
		return 0;
	printf("# counter %u, in range %llu\n", *counter, stats.out_in_range);
	return 104;
}

static int cpu_write(const char *online)
{
	int file = open(CPU_FILE, O_WRONLY | O_CLOEXEC);
	ssize_t done;

	if (file < 0)
		return -errno;
	done = write(file, online, 1);
	close(file);
	return done == 1 ? 0 : -errno;
}

FIXTURE(stress) {
	bool unplugged;
};

FIXTURE_VARIANT(stress) {
	bool hotplug;
};

FIXTURE_VARIANT_ADD(stress, alone) {
	.hotplug = false,
};

FIXTURE_VARIANT_ADD(stress, with_cpu_hotplug) {
	.hotplug = true,
};

FIXTURE_SETUP(stress)
{
	int ret = variant->hotplug ? cpu_write("1") : 0;

	if (ret)
		SKIP(return, "CPU 1 cannot be switched: %s", strerror(-ret));
}

FIXTURE_TEARDOWN(stress)
{
	if (self->unplugged)
		EXPECT_EQ(0, cpu_write("1"));
}

TEST_F(stress, survivors_have_every_tick_accounted_for)
{
	pid_t pids[PROCESSES], pid;
	int i, status, left = PROCESSES;
	bool online = true;

	for (i = 0; i < PROCESSES; i++) {
		pids[i] = fork();
		ASSERT_LE(0, pids[i]);
		if (!pids[i])
			_exit(process(1000 * i + variant->hotplug));
	}
	while (left) {
		pid = waitpid(-1, &status, variant->hotplug ? WNOHANG : 0);
		ASSERT_LE(0, pid);
		if (pid) {
			EXPECT_EQ(0, status)
				TH_LOG("process %d", pid);
			left--;
			continue;
		}
		online = !online;
		self->unplugged = !online;
		EXPECT_EQ(0, cpu_write(online ? "1" : "0"));
		usleep(20000);
	}
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--executed"))
		return executed_image();
	return test_harness_run(argc, argv);
}
