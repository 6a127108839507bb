// SPDX-License-Identifier: GPL-2.0-only
/*
 * A thread alone on a CPU that the administrator freed from the tick: sampled
 * or left alone, as the module's parameter nohz_full says.
 *
 * Not one of the suite: the kernel has to be booted with nohz_full=, and where
 * it was not this fails.
 */
#include <ctype.h>

#include "ticks.h"

#define PARAMETER	"/sys/module/profil/parameters/nohz_full"
#define CPU_LIST	"/sys/devices/system/cpu/nohz_full"
#define TICKS		200

FIXTURE(nohz) {
	int fd;
	int cpu;		/* the first without a tick */
	bool tick;		/* the parameter says that it ticks */
	__u16 *counter;
	struct profil_ioc_query query;
	struct instance instance;
};

/* The first line of a file, "" if there is none. */
static void read_line(const char *path, char *line, size_t size)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = file < 0 ? 0 : read(file, line, size - 1);

	if (file >= 0)
		close(file);
	line[len < 0 ? 0 : len] = '\0';
	line[strcspn(line, "\n")] = '\0';
}

FIXTURE_SETUP(nohz)
{
	char line[64];

	read_line(CPU_LIST, line, sizeof(line));
	ASSERT_TRUE(isdigit(*line))
		TH_LOG("no CPU is without a tick: boot with nohz_full=1");
	self->cpu = atoi(line);
	ASSERT_LT(0, self->cpu);
	pin(0);
	read_line(PARAMETER, line, sizeof(line));
	self->tick = !strcmp(line, "tick");
	ASSERT_TRUE(self->tick || !strcmp(line, "leave"))
		TH_LOG(PARAMETER " is '%s'", line);
	self->fd = profil_open();
	ASSERT_LE(0, self->fd);
	self->counter = page_alloc();
	ASSERT_NE(NULL, self->counter);
	ASSERT_EQ(0, profil_query(self->fd, &self->query));
	ASSERT_EQ(0, event_create());
	ASSERT_EQ(0, instance_create(&self->instance));
}

FIXTURE_TEARDOWN(nohz)
{
	instance_destroy(&self->instance);
	event_remove();
	close(self->fd);
}

/* A thread alone on its CPU, for so many ticks' worth of CPU time. */
struct lone {
	pthread_t thread;
	pid_t tid;
	int cpu;
	__u64 ns;		/* to be used */
	const volatile __u16 *counter;	/* to reach TICKS, if given */
	struct gate begin, end;
};

static __u64 cpu_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* A VM that stands still misses ticks: where they are to come, they are waited for. */
static bool lone_is_done(const struct lone *lone, __u64 used)
{
	return used >= lone->ns && (!lone->counter || *lone->counter >= TICKS);
}

static void *lone_fn(void *arg)
{
	struct lone *lone = arg;
	__u64 begin;

	lone->tid = syscall(SYS_gettid);
	pin(lone->cpu);
	gate_wait(&lone->begin);
	begin = cpu_time();
	while (!lone_is_done(lone, cpu_time() - begin))
		hot_a(HOT_ROUNDS);
	gate_wait(&lone->end);
	return NULL;
}

static void wait_at(const struct gate *gate, const struct lone *lone)
{
	while (!__atomic_load_n(&gate->waiting, __ATOMIC_SEQ_CST))
		usleep(1000);
	wait_asleep(getpid(), lone->tid);
}

static void lone_start(struct __test_metadata *_metadata,
		       FIXTURE_DATA(nohz) *self, struct lone *lone,
		       const __u16 *counter)
{
	*lone = (struct lone){
		.cpu = self->cpu,
		.ns = TICKS * self->query.out_tick_ns,
		.counter = counter,
	};
	ASSERT_EQ(0, pthread_create(&lone->thread, NULL, lone_fn, lone));
	wait_at(&lone->begin, lone);
}

static void lone_end(struct lone *lone)
{
	gate_open(&lone->end);
	pthread_join(lone->thread, NULL);
}

/* A few ticks come while the thread begins and ends. */
TEST_F(nohz, counts_are_those_that_the_parameter_asks_for)
{
	struct profil_region region = page_region(hot_a, self->counter);
	struct profil_ioc_stats first, last;
	__u64 events_first, events_last;
	struct lone lone;
	pid_t tids[2];

	EXPECT_EQ(self->tick ? 0 : PROFIL_FEATURE_NOHZ_FULL,
		  self->query.out_features & PROFIL_FEATURE_NOHZ_FULL);
	ASSERT_EQ(0, profil_start(self->fd, &region, 1));
	lone_start(_metadata, self, &lone, self->tick ? self->counter : NULL);
	tids[0] = lone.tid;
	tids[1] = getpid();
	ASSERT_EQ(0, instance_watch(&self->instance, tids, 2, ALL_TICKS));
	ASSERT_TRUE(take_pair(&self->instance, self->fd, &events_first,
			      &first));
	gate_open(&lone.begin);
	wait_at(&lone.end, &lone);
	ASSERT_TRUE(take_pair(&self->instance, self->fd, &events_last, &last));
	lone_end(&lone);
	EXPECT_EQ(events_last - events_first, last.out_ticks - first.out_ticks);
	EXPECT_TRUE(check_identity(&last));

	ASSERT_TRUE(settle(self->fd, &last));
	ASSERT_EQ(0, profil_stop(self->fd));
	ASSERT_EQ(0, profil_stats(self->fd, &last));
	EXPECT_EQ(last.out_in_range, *self->counter);
	EXPECT_EQ(0, last.out_lost);
	EXPECT_TRUE(self->tick ? *self->counter >= TICKS :
				 *self->counter <= TICKS / 4)
		TH_LOG("%u ticks in the counter", *self->counter);
}

/* Whoever was profiled before: the ticks go when the hook has gone. */
TEST_F(nohz, cpu_is_left_alone_once_nobody_is_profiled)
{
	struct profil_region region = page_region(hot_a, self->counter);
	__u64 events;
	struct lone lone;

	ASSERT_EQ(0, profil_start(self->fd, &region, 1));
	ASSERT_TRUE(burn(self->fd, hot_a, 5));
	ASSERT_EQ(0, profil_stop(self->fd));
	do {
		usleep(100000);
		ASSERT_EQ(0, profil_query(self->fd, &self->query));
	} while (self->query.out_hook != PROFIL_HOOK_NONE);
	lone_start(_metadata, self, &lone, NULL);
	ASSERT_EQ(0, instance_watch(&self->instance, &lone.tid, 1, ALL_TICKS));
	events = instance_count(&self->instance);
	gate_open(&lone.begin);
	wait_at(&lone.end, &lone);
	events = instance_count(&self->instance) - events;
	lone_end(&lone);
	EXPECT_GE(TICKS / 4, events);
}

TEST_HARNESS_MAIN
