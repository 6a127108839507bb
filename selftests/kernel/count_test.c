// SPDX-License-Identifier: GPL-2.0-only
/*
 * The counts against an independent count: an event of the kernel's own tracing
 * on the function that is the tick, filtered to the threads of the process.
 */
#include "ticks.h"

#define THREADS		4

struct counted {
	struct gate begin, end, leave;
	pid_t tids[THREADS];
	pthread_t threads[THREADS];
	volatile bool stop;
	bool reading;
	__u64 in_range[THREADS];
};

static void work(const struct counted *counted, int zero, char *sink)
{
	if (counted->reading)
		read_loop(zero, sink, 1 << 14, 20);
	else
		hot_a(HOT_ROUNDS);
}

struct counted_arg {
	struct counted *counted;
	int index;
};

static void *counted_fn(void *data)
{
	struct counted_arg *arg = data;
	struct counted *counted = arg->counted;
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	char *sink = malloc(1 << 14);

	memset(sink, 0, 1 << 14);
	counted->tids[arg->index] = syscall(SYS_gettid);
	gate_wait(&counted->begin);
	while (!counted->stop)
		work(counted, zero, sink);
	gate_wait(&counted->end);
	gate_wait(&counted->leave);
	free(sink);
	close(zero);
	return NULL;
}

FIXTURE(count) {
	int fd;
	struct counted *counted;
	struct instance instance;
	bool traced;
};

FIXTURE_SETUP(count)
{
	int ret;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "one CPU: two cannot hit a counter at once");
	self->fd = profil_open();
	ASSERT_LE(0, self->fd);
	self->counted = mmap(NULL, sizeof(*self->counted),
			     PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->counted);
	ret = event_create();
	if (ret)
		SKIP(return, "no kprobe events: %s", strerror(-ret));
	ASSERT_EQ(0, instance_create(&self->instance));
	self->traced = true;
}

FIXTURE_TEARDOWN(count)
{
	if (self->traced)
		instance_destroy(&self->instance);
	event_remove();
	close(self->fd);
}

/*
 * Four threads in @code, of before and of after START, all into one counter, until
 * @ticks ticks were seen.
 */
static void count_threads(struct __test_metadata *_metadata,
			  FIXTURE_DATA(count) *self, void *code, __u64 ticks)
{
	struct counted *counted = self->counted;
	struct counted_arg args[THREADS];
	struct profil_ioc_stats first, last;
	__u64 events_first = 0, events_last = 0, theirs;
	__u32 *counter = page_alloc();
	struct profil_region region;
	pid_t tids[THREADS + 1];
	int i;

	ASSERT_NE(NULL, counter);
	region = page_region(code, counter);
	region.bytes = sizeof(*counter);
	region.flags = PROFIL_REGION_F_U32;
	for (i = 0; i < THREADS; i++) {
		if (i == THREADS / 2)
			ASSERT_EQ(0, profil_start(self->fd, &region, 1));
		args[i] = (struct counted_arg){ counted, i };
		ASSERT_EQ(0, pthread_create(&counted->threads[i], NULL,
					    counted_fn, &args[i]));
	}
	gate_wait_asleep(&counted->begin, counted->tids, THREADS);
	memcpy(tids, counted->tids, sizeof(counted->tids));
	tids[THREADS] = syscall(SYS_gettid);
	ASSERT_EQ(0, instance_watch(&self->instance, tids, THREADS + 1,
				    ALL_TICKS));
	ASSERT_TRUE(take_pair(&self->instance, self->fd, &events_first,
			      &first));
	gate_open(&counted->begin);
	do {
		usleep(20000);
		ASSERT_EQ(0, profil_stats(self->fd, &last));
		EXPECT_TRUE(check_identity(&last));
	} while (last.out_ticks - first.out_ticks < ticks);
	counted->stop = true;
	gate_wait_asleep(&counted->end, counted->tids, THREADS);
	ASSERT_TRUE(take_pair(&self->instance, self->fd, &events_last, &last));
	/* Those of the threads were none before. */
	self->instance.num--;
	theirs = instance_count(&self->instance);
	self->instance.num++;
	/* Out of the sleep, and with that all that was pending is delivered. */
	gate_open(&counted->end);
	gate_wait_asleep(&counted->leave, counted->tids, THREADS);

	EXPECT_TRUE(check_identity(&last));
	EXPECT_LE(ticks, events_last - events_first);
	EXPECT_EQ(events_last - events_first, last.out_ticks - first.out_ticks);
	EXPECT_TRUE(none_lost(&last));
	EXPECT_EQ(0, last.out_saturated);
	EXPECT_EQ(0, last.out_not_due);

	ASSERT_TRUE(profil_finish(self->fd, &last));
	gate_open(&counted->leave);
	for (i = 0; i < THREADS; i++)
		pthread_join(counted->threads[i], NULL);
	EXPECT_EQ(last.out_in_range, *counter);
	/* The threads do nothing else; how often this one found out that is its matter. */
	EXPECT_LE(theirs * 8 / 10, *counter);
	EXPECT_TRUE(none_lost_before_the_end(&last));
	/* How many of the ticks come inside of a system call, an emulator decides. */
	if (counted->reading)
		EXPECT_LE(10, last.out_deferred);
}

TEST_F(count, threads_on_two_cpus_equal_the_kernels_own_count)
{
	count_threads(_metadata, self, hot_a, 1000);
}

TEST_F(count, threads_in_system_calls_equal_the_kernels_own_count)
{
	self->counted->reading = true;
	count_threads(_metadata, self, read_loop, 400);
}

static struct profil_region file_region(int file)
{
	__u32 *counter = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	struct profil_region region = page_region(hot_a, counter);

	region.bytes = sizeof(*counter);
	region.flags = PROFIL_REGION_F_U32;
	return region;
}

/*
 * In a forked child: counts, and compares with an instance of its own.  One of two
 * does not go on with what it inherits, but maps the file and begins by itself, as
 * a process that is no relation does.
 */
static int count_process(struct counted *counted, int fd, int file, int index,
			 __u64 ticks)
{
	struct profil_region region = file_region(file);
	pid_t pid = getpid();
	struct profil_ioc_stats first, last;
	__u64 events_first = 0, events_last = 0;
	struct instance instance = { .num = 0 };
	int ret = instance_create(&instance) ? 1 : 0;

	if (!ret && index % 2 && profil_start(fd, &region, 1))
		ret = 9;
	if (!ret && (instance_watch(&instance, &pid, 1, ALL_TICKS) ||
		     !take_pair(&instance, fd, &events_first, &first)))
		ret = 2;
	gate_wait(&counted->begin);
	if (!ret && !burn(fd, hot_a, ticks))
		ret = 3;
	if (!ret && !settle(fd, &last))
		ret = 4;
	if (!ret && !take_pair(&instance, fd, &events_last, &last))
		ret = 5;
	if (!ret && events_last - events_first !=
		    last.out_ticks - first.out_ticks)
		ret = 6;
	if (!ret && !profil_finish(fd, &last))
		ret = 7;
	if (!ret && lost_before_the_end(&last))
		ret = 8;
	counted->in_range[index] = last.out_in_range;
	instance_destroy(&instance);
	return ret;
}

TEST_F(count, processes_on_one_shared_counter_lose_nothing)
{
	int file = memfd_create("histogram", MFD_CLOEXEC), i;
	struct counted *counted = self->counted;
	struct profil_ioc_stats first, stats;
	__u64 events_first = 0, events_last = 0;
	struct profil_region region;
	pid_t pids[THREADS], pid = getpid();
	__u64 sum = 0;
	__u32 *counter;

	ASSERT_LE(0, file);
	ASSERT_EQ(0, ftruncate(file, PAGE));
	region = file_region(file);
	counter = (void *)(uintptr_t)region.buf_uptr;
	ASSERT_NE(MAP_FAILED, (void *)counter);
	ASSERT_EQ(0, instance_watch(&self->instance, &pid, 1, ALL_TICKS));
	ASSERT_EQ(0, profil_start(self->fd, &region, 1));
	ASSERT_TRUE(take_pair(&self->instance, self->fd, &events_first, &first));
	for (i = 0; i < THREADS; i++) {
		pids[i] = fork();
		ASSERT_LE(0, pids[i]);
		if (!pids[i])
			_exit(count_process(counted, self->fd, file, i, 250));
	}
	while (__atomic_load_n(&counted->begin.waiting, __ATOMIC_SEQ_CST) <
	       THREADS)
		usleep(1000);
	gate_open(&counted->begin);
	ASSERT_TRUE(burn(self->fd, hot_a, 100));
	for (i = 0; i < THREADS; i++) {
		EXPECT_EQ(0, wait_for(pids[i]));
		sum += counted->in_range[i];
	}
	/* None of a child's is among its parent's. */
	ASSERT_TRUE(take_pair(&self->instance, self->fd, &events_last, &stats));
	EXPECT_EQ(events_last - events_first, stats.out_ticks - first.out_ticks);
	ASSERT_EQ(0, profil_stop(self->fd));
	ASSERT_EQ(0, profil_stats(self->fd, &stats));
	EXPECT_EQ(sum + stats.out_in_range, *counter);
	EXPECT_LE(700, *counter);
	close(file);
}

TEST_HARNESS_MAIN
