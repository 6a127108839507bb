// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each race that the module has to win, provoked as directly as it can be: one
 * side on CPU 0, the other on CPU 1.
 *
 * All of it passes on every build.  On a test build, whose race windows are
 * wide, hold() keeps a window open; and an emulator that runs its CPUs in turns
 * goes on to the other one at each pause().  That is how a test here finds the
 * protection missing within a second, see mutants/.
 */
#include <glob.h>
#include <limits.h>
#include <poll.h>
#include <sys/personality.h>
#include <sys/uio.h>

#include "ticks.h"
#include "windows.h"

#define CPU_FILE	"/sys/devices/system/cpu/cpu1/online"
#define LEFT_ALONE	0xa5a5
#define RING		64	/* histograms in turn */
#define TICKS		40	/* that a race is given */
#define REGIONS_MAX	4096

static void pause_cpu(int times)
{
	while (times--)
#ifdef __aarch64__
		__asm__ volatile("yield" : : : "memory");
#else
		__asm__ volatile("pause" : : : "memory");
#endif
}

/* The first line of a file, without its end. */
static int read_line(const char *path, char *text, size_t size)
{
	int err = read_file(path, text, size);

	if (!err)
		text[strcspn(text, "\n")] = 0;
	return err;
}

static __u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* A while, another one for each PROFIL_SEED: for another order of events. */
static void dawdle(void)
{
	const char *text = getenv("PROFIL_SEED");
	unsigned int seed = text ? 1000003 * atoi(text) + getpid() : 0;

	if (text)
		hot_b(1 + rand_r(&seed) % (20 * HOT_ROUNDS));
}

/* The other side of a race: runs @step on CPU 1 again and again. */
struct other {
	pthread_t thread;
	void (*step)(struct other *other);
	volatile bool ready, stop;
	volatile unsigned long steps;
	void *memory;
	int fd, ret;
};

static void *other_fn(void *arg)
{
	struct other *other = arg;

	pin(1);
	dawdle();
	other->ready = true;
	while (!other->stop) {
		other->step(other);
		other->steps++;
	}
	return NULL;
}

static int other_start(struct other *other, void (*step)(struct other *other))
{
	other->step = step;
	other->stop = false;
	other->steps = 0;
	return pthread_create(&other->thread, NULL, other_fn, other);
}

static void other_join(struct other *other)
{
	other->stop = true;
	pthread_join(other->thread, NULL);
}

static void step_hot(struct other *other)
{
	hot_a(other->stop ? 1 : HOT_ROUNDS);
}

/* Nearly always in the kernel. */
static void step_read(struct other *other)
{
	static char sink[1 << 16];

	read_loop(other->fd, sink, sizeof(sink), 4);
}

FIXTURE(race) {
	int fd;
	bool task_work;
	__u16 *pages[2];
	struct other other;
	struct profil_ioc_stats stats;
};

FIXTURE_SETUP(race)
{
	struct profil_ioc_query query;
	int i;

	pin(0);
	self->fd = profil_open();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, profil_query(self->fd, &query));
	self->task_work = query.out_features & PROFIL_FEATURE_TASK_WORK;
	for (i = 0; i < 2; i++) {
		self->pages[i] = page_alloc();
		ASSERT_NE(NULL, self->pages[i]);
	}
	widen("2");
	dawdle();
}

FIXTURE_TEARDOWN(race)
{
	hold("", 0);
	widen("0");
	close(self->fd);
}

static __u64 ticks(FIXTURE_DATA(race) *self)
{
	if (profil_stats(self->fd, &self->stats))
		return 0;
	return self->stats.out_ticks;
}

/* As settle(), for those who have no sample left but what this asks for. */
static bool settle_soon(int fd, struct profil_ioc_stats *stats)
{
	int i;

	/* Long enough for a worker that waits for a CPU. */
	for (i = 0; i < 50000; i++) {
		if (profil_stats(fd, stats))
			return false;
		if (!stats->out_pending)
			return true;
		usleep(100);
	}
	return false;
}

/* Ends the profile; @count is where it counted, from nothing. */
#define expect_counted(count) do {					\
	EXPECT_TRUE(settle_soon(self->fd, &self->stats));		\
	EXPECT_EQ(0, profil_stop(self->fd));				\
	EXPECT_EQ(0, profil_stats(self->fd, &self->stats));		\
	EXPECT_EQ(self->stats.out_in_range, (__u64)(count));		\
	EXPECT_TRUE(check_identity(&self->stats));			\
} while (0)

/*
 * Tick against STOP and START: what is no histogram any more is left alone, and
 * looked at when many others have been one.
 */
static bool left_alone(FIXTURE_DATA(race) *self, bool replace)
{
	__u64 end = ticks(self) + TICKS;
	volatile __u16 *ring[RING], *now, *gone = self->pages[0];
	int i;

	for (i = 0; i < RING; i++) {
		ring[i] = page_alloc();
		*ring[i] = LEFT_ALONE;
	}
	hold("bump", 1000);
	for (i = 0; ticks(self) < end; i++) {
		now = ring[i % RING];
		if (*now != LEFT_ALONE)
			return false;
		if (profil_start_page(self->fd, hot_a, (void *)now))
			return false;
		pause_cpu(2);
		if (!replace && profil_stop(self->fd))
			return false;
		*(replace ? gone : now) = LEFT_ALONE;
		gone = now;
	}
	return true;
}

TEST_F(race, stop_against_ticks)
{
	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->pages[0]));
	ASSERT_EQ(0, other_start(&self->other, step_hot));
	EXPECT_TRUE(left_alone(self, false));
	other_join(&self->other);
}

TEST_F(race, replacement_against_ticks)
{
	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->pages[0]));
	ASSERT_EQ(0, other_start(&self->other, step_hot));
	EXPECT_TRUE(left_alone(self, true));
	other_join(&self->other);
}

/* START, and wait for a sample of @code that may not be accounted for yet. */
static bool one_written(FIXTURE_DATA(race) *self, void *code, __u32 timer_rate,
			__u64 *before)
{
	struct profil_region region = page_region(code, self->pages[0]);
	volatile __u16 *count = self->pages[0];

	*count = 0;
	*before = ticks(self) ? self->stats.out_in_range : 0;
	if (timer_rate ? profil_start_timer(self->fd, &region, 1, timer_rate, 0) :
			 profil_start(self->fd, &region, 1))
		return false;
	while (!*count)
		pause_cpu(1);
	return true;
}

/* STOP; when it returns, what is in the histogram is what STATS says, to the sample. */
static bool stopped_exactly(FIXTURE_DATA(race) *self, __u64 before)
{
	volatile __u16 *count = self->pages[0];
	struct profil_ioc_stats stats;

	return !profil_stop(self->fd) && !profil_stats(self->fd, &stats) &&
	       stats.out_in_range - before == *count;
}

static bool ended_exactly(FIXTURE_DATA(race) *self, void *code, __u32 timer_rate)
{
	__u64 before;
	int i;

	hold("account", 1000);
	for (i = 0; i < TICKS; i++)
		if (!one_written(self, code, timer_rate, &before) || !stopped_exactly(self, before))
			return false;
	return ticks(self) && check_identity(&self->stats);
}

TEST_F(race, stop_against_the_account_of_a_tick)
{
	ASSERT_EQ(0, other_start(&self->other, step_hot));
	EXPECT_TRUE(ended_exactly(self, hot_a, 0));
	other_join(&self->other);
}

TEST_F(race, stop_against_the_account_of_a_sample_of_the_timer)
{
	struct profil_ioc_query query;

	ASSERT_EQ(0, profil_query(self->fd, &query));
	if (!query.out_timer_rate_max)
		SKIP(return, "no timer source: timers are no finer than the tick");
	ASSERT_EQ(0, other_start(&self->other, step_hot));
	EXPECT_TRUE(ended_exactly(self, hot_a, 300));
	other_join(&self->other);
}

TEST_F(race, stop_against_the_account_of_a_delivery)
{
	self->other.fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, self->other.fd);
	ASSERT_EQ(0, other_start(&self->other, step_read));
	EXPECT_TRUE(ended_exactly(self, read_loop, 0));
	other_join(&self->other);
	close(self->other.fd);
}

/* STOP of a third CPU, if there is one. */
struct second {
	FIXTURE_DATA(race) *self;
	pthread_t thread;
	__u64 before;
	volatile bool turn, stop;
	bool exact;
};

static void *second_fn(void *arg)
{
	struct second *second = arg;

	pin(sysconf(_SC_NPROCESSORS_ONLN) > 2 ? 2 : 0);
	while (!second->stop) {
		if (second->turn) {
			second->exact = stopped_exactly(second->self, second->before);
			second->turn = false;
		}
		sched_yield();
	}
	return NULL;
}

/* Who finds that another thread has just switched it off waits as that one does. */
TEST_F(race, stop_against_stop)
{
	struct second second = { .self = self };
	int i;

	ASSERT_EQ(0, pthread_create(&second.thread, NULL, second_fn, &second));
	ASSERT_EQ(0, other_start(&self->other, step_hot));
	hold("account", 1000);
	for (i = 0; i < TICKS; i++) {
		ASSERT_TRUE(one_written(self, hot_a, 0, &second.before));
		second.turn = true;
		EXPECT_TRUE(stopped_exactly(self, second.before));
		while (second.turn)
			sched_yield();
		EXPECT_TRUE(second.exact);
	}
	second.stop = true;
	pthread_join(second.thread, NULL);
	other_join(&self->other);
}

/* How far from one of two @ticks are due, in halves. */
static __s64 window_error(const struct profil_ioc_stats *from,
			  const struct profil_ioc_stats *to)
{
	return 2 * (__s64)(to->out_not_due - from->out_not_due) -
	       (__s64)(to->out_ticks - from->out_ticks);
}

/*
 * A tick that saw the former rate leaves the windows of the next alone: there one
 * of two ticks is due, but for those on either CPU that were on their way, which are
 * not, and one window.
 */
TEST_F(race, replacement_against_a_tick_of_another_rate)
{
	struct profil_region region = any_region(self->pages[0]);
	struct profil_ioc_query query;
	struct profil_ioc_stats from;
	int i;

	ASSERT_EQ(0, profil_query(self->fd, &query));
	ASSERT_EQ(0, profil_start_rate(self->fd, &region, 1, 1));
	ASSERT_EQ(0, other_start(&self->other, step_hot));
	hold("use", 1000);
	for (i = 0; i < 16; i++) {
		ASSERT_EQ(0, profil_start_rate(self->fd, &region, 1, 1));
		hot_b(1 + HOT_ROUNDS / 16 * i);
		ASSERT_EQ(0, profil_start_rate(self->fd, &region, 1,
					       query.out_tick_hz / 2));
		ASSERT_EQ(0, profil_stats(self->fd, &from));
		while (ticks(self) < from.out_ticks + 24)
			;
		EXPECT_GE(8, llabs(window_error(&from, &self->stats)));
	}
	other_join(&self->other);
	EXPECT_TRUE(check_identity(&self->stats));
}

/* Dozens of ticks. */
static void step_long_call(struct other *other)
{
	static char sink[1 << 18];
	static struct iovec iov[IOV_MAX];
	int i;

	for (i = 0; !other->steps && i < IOV_MAX; i++)
		iov[i] = (struct iovec){ sink, sizeof(sink) };
	other->ret |= readv(other->fd, iov, IOV_MAX) != IOV_MAX * (ssize_t)sizeof(sink);
}

/*
 * What goes on meanwhile has its further ticks in the new histogram; lost are
 * those that came while the former ones were delivered.  Who replaces it is quick
 * and sleeps then, for a tick of another thread would end what is looked for.
 */
TEST_F(race, replacement_against_a_long_call)
{
	struct profil_region region[] = {
		any_region(self->pages[0]), any_region(self->pages[1])
	};
	__u64 end = 0;
	int i;

	self->other.fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, self->other.fd);
	widen("0");
	ASSERT_EQ(0, other_start(&self->other, step_long_call));
	for (i = 0; i < 16; i++) {
		/* Each of them twice: the same counter of another set is another one. */
		ASSERT_EQ(0, profil_start(self->fd, &region[i / 2 % 2], 1));
		do
			usleep(20000);
		while (ticks(self) && self->stats.out_deferred < end + 8);
		end = self->stats.out_deferred;
	}
	other_join(&self->other);
	close(self->other.fd);
	EXPECT_EQ(0, self->other.ret);
	expect_counted(*self->pages[0] + *self->pages[1]);
	EXPECT_LE(4 * self->stats.out_lost, self->stats.out_deferred);
}

/* A former histogram that is gone ends no profile but its own. */
TEST_F(race, munmap_after_replacement_against_ticks)
{
	void *former = self->pages[0], *now;
	__u64 end;

	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, former));
	ASSERT_EQ(0, other_start(&self->other, step_hot));
	end = ticks(self) + TICKS;
	/* Each sample is the first one of its page. */
	hold("fault", 2000);
	while (ticks(self) < end) {
		now = page_alloc();
		ASSERT_NE(NULL, now);
		ASSERT_EQ(0, profil_start_page(self->fd, hot_a, now));
		/* Where nothing was mapped, the next one would be. */
		ASSERT_EQ(former, mmap(former, PAGE, PROT_NONE,
				       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
		pause_cpu(2);
		ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
		ASSERT_EQ(PROFIL_STATE_ON, self->stats.out_state);
		ASSERT_EQ(0, self->stats.out_lost_fault);
		former = now;
	}
	other_join(&self->other);
	EXPECT_TRUE(check_identity(&self->stats));
}

/*
 * The other thread's sample waits for a page.  Meanwhile the profile is another
 * one, twice.
 */
TEST_F(race, stop_and_start_against_a_sample_that_sleeps)
{
	struct pollfd pollfd = { .events = POLLIN };
	__u64 end;

	if (!self->task_work)
		SKIP(return, "no worker ever sleeps");
	pollfd.fd = userfault_create(self->pages[0]);
	ASSERT_LE(0, pollfd.fd);
	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->pages[0]));
	ASSERT_EQ(0, other_start(&self->other, step_hot));
	ASSERT_EQ(1, poll(&pollfd, 1, -1));
	EXPECT_EQ(0, profil_stop(self->fd));
	EXPECT_EQ(0, profil_start_page(self->fd, hot_a, self->pages[1]));
	EXPECT_EQ(0, userfault_resolve(pollfd.fd, self->pages[0]));
	end = ticks(self) + 5;
	while (ticks(self) < end)
		hot_b(HOT_ROUNDS);
	other_join(&self->other);
	EXPECT_EQ(0, *self->pages[0]);
	expect_counted(*self->pages[1]);
	EXPECT_LT(0, self->stats.out_lost_stopped);
	close(pollfd.fd);
}

/* The last thing that needs the module may be such a sample. */
TEST_F(race, rmmod_against_a_sample_that_sleeps)
{
	struct pollfd pollfd = { .events = POLLIN };
	char count[16];

	if (!self->task_work)
		SKIP(return, "no worker ever sleeps");
	pollfd.fd = userfault_create(self->pages[0]);
	ASSERT_LE(0, pollfd.fd);
	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->pages[0]));
	ASSERT_EQ(0, other_start(&self->other, step_hot));
	ASSERT_EQ(1, poll(&pollfd, 1, -1));
	ASSERT_EQ(0, munmap((void *)find_anchor(NULL), PAGE));
	ASSERT_EQ(0, close(self->fd));
	ASSERT_EQ(0, read_line("/sys/module/profil/refcnt", count,
			       sizeof(count)));
	/* Of that sample, and of those that came on the way to its sleep. */
	EXPECT_LT(0, atoi(count));
	if (atoi(count) > 0) {
		EXPECT_EQ(-1, syscall(SYS_delete_module, "profil", O_NONBLOCK));
		EXPECT_EQ(EAGAIN, errno);
	}
	EXPECT_EQ(0, userfault_resolve(pollfd.fd, self->pages[0]));
	other_join(&self->other);
	close(pollfd.fd);
	self->fd = profil_open();
	EXPECT_LE(0, self->fd);
}

static bool file_has(const char *path, const char *what)
{
	char text[1024];

	return !read_line(path, text, sizeof(text)) && strstr(text, what);
}

/*
 * Whether a worker sleeps in its first function, where nothing but reg->flush could be
 * waited for.  What the scheduler and its like call is in no such list.
 */
static bool worker_waits(void)
{
	char stat[PATH_MAX];
	bool waits = false;
	glob_t found;
	size_t i;

	if (glob("/proc/[0-9]*/stack", 0, NULL, &found))
		return true;
	for (i = 0; i < found.gl_pathc; i++) {
		snprintf(stat, sizeof(stat), "%.*s/stat",
			 (int)strcspn(found.gl_pathv[i] + 6, "/") + 6,
			 found.gl_pathv[i]);
		waits |= file_has(found.gl_pathv[i], "] profil_flush_worker") &&
			 file_has(stat, ") D ");
	}
	globfree(&found);
	return waits;
}

static void step_look(struct other *other)
{
	other->ret += worker_waits();
}

/* A STOP that delivers for long keeps no worker, of which a user has few. */
TEST_F(race, stop_that_lasts_against_the_worker)
{
	int uffd;

	if (self->task_work)
		SKIP(return, "no worker comes for what waits for its thread");
	ASSERT_EQ(0, access("/proc/self/stack", R_OK));
	uffd = userfault_create(self->pages[0]);
	ASSERT_LE(0, uffd);
	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->pages[0]));
	do {
		hot_a(HOT_ROUNDS);
		ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
	} while (!self->stats.out_pending);
	hold("fault", 200000);
	ASSERT_EQ(0, other_start(&self->other, step_look));
	EXPECT_EQ(0, profil_stop(self->fd));
	other_join(&self->other);
	EXPECT_EQ(0, self->other.ret);
	EXPECT_EQ(0, profil_stats(self->fd, &self->stats));
	EXPECT_TRUE(check_identity(&self->stats));
	close(uffd);
}

/*
 * A sample that is no longer pending is already in its class: the sum of both never falls.
 * Ticks of this CPU, which are in neither, do not make up for that.
 */
TEST_F(race, stats_against_deliveries)
{
	__u64 end, sum, last = 0;

	self->other.fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, self->other.fd);
	ASSERT_EQ(0, profil_start_page(self->fd, read_loop, self->pages[0]));
	ASSERT_EQ(0, other_start(&self->other, step_read));
	hold("move", 2000);
	for (end = ticks(self) + TICKS; ticks(self) < end; last = sum) {
		sum = self->stats.out_pending + self->stats.out_in_range;
		ASSERT_LE(last, sum);
		pause_cpu(1);
	}
	other_join(&self->other);
	close(self->other.fd);
	expect_counted(*self->pages[0]);
}

/* One word with three writers: two CPUs' ticks and the program. */
static void step_add(struct other *other)
{
	__atomic_fetch_add((__u32 *)other->memory, 1, __ATOMIC_RELAXED);
	pause_cpu(1);
}

TEST_F(race, program_that_adds_against_ticks)
{
	struct profil_region region = page_region(hot_a, self->pages[0]);
	__u64 added;

	region.bytes = sizeof(__u32);
	region.flags = PROFIL_REGION_F_U32;
	self->other.memory = self->pages[0];
	ASSERT_EQ(0, profil_start(self->fd, &region, 1));
	ASSERT_EQ(0, other_start(&self->other, step_add));
	ASSERT_TRUE(burn(self->fd, hot_a, TICKS));
	other_join(&self->other);
	added = self->other.steps;
	expect_counted(*(__u32 *)self->pages[0] - added);
	EXPECT_LT(0, self->stats.out_in_range);
}

/* So busy beside the counter that tries run out. */
static void step_neighbour(struct other *other)
{
	((volatile __u16 *)other->memory)[1]++;
	pause_cpu(1);
}

TEST_F(race, program_that_always_writes_against_ticks)
{
	self->other.memory = self->pages[0];
	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->pages[0]));
	ASSERT_EQ(0, other_start(&self->other, step_neighbour));
	ASSERT_TRUE(burn(self->fd, hot_a, TICKS));
	other_join(&self->other);
	expect_counted(*self->pages[0]);
}

TEST_F(race, two_cpus_against_the_maximum)
{
	__u16 *counter = self->pages[0];

	*counter = 65533;
	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, counter));
	ASSERT_EQ(0, other_start(&self->other, step_hot));
	ASSERT_TRUE(burn(self->fd, hot_a, TICKS));
	other_join(&self->other);
	/* Which waits for the worker, if there is one. */
	expect_counted(2);
	EXPECT_EQ(65535, *counter);
	EXPECT_LT(0, self->stats.out_saturated);
}

/* Many ticks of one system call, delivered when it returns. */
TEST_F(race, ticks_against_the_end_of_a_long_call)
{
	const size_t len = 16UL << 20;
	struct profil_region region = any_region(self->pages[0]);
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	void *sink = mmap(NULL, len, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i;

	ASSERT_LE(0, zero);
	ASSERT_NE(MAP_FAILED, sink);
	ASSERT_EQ(0, profil_start(self->fd, &region, 1));
	do {
		ASSERT_EQ(0, madvise(sink, len, MADV_DONTNEED));
		/* The same place, too, as far as a tick can tell. */
		for (i = 0; i < 3; i++)
			ASSERT_EQ((ssize_t)len, read(zero, sink, len));
	} while (ticks(self) < TICKS);
	expect_counted(*self->pages[0]);
	EXPECT_EQ(0, self->stats.out_lost);
	close(zero);
}

/*
 * exec with a sample pending.  The child has its parent's memory and profile
 * until exec gives it other memory: with the same names at the same addresses,
 * as nothing is random here and PAD in the environment is as long.
 */
#define PAD_SIZE	8192
#define ARGUMENT_SIZE	120000	/* copied before exec gives up the memory */
#define ARGUMENTS	12

static int pad_of(const char *address, char **pad)
{
	*pad = getenv("PAD");
	if (!*pad || strlen(*pad) != PAD_SIZE)
		return 1;
	return address && strtoul(address, NULL, 16) != UPTR(*pad);
}

static int executed(const char *address)
{
	char *pad;

	if (pad_of(address, &pad))
		return 101;
	return strspn(pad, "x") != PAD_SIZE;
}

static int execute_many(void)
{
	char address[32], argument[ARGUMENT_SIZE], *pad, *envp[2] = { NULL };
	char *argv[ARGUMENTS + 4] = { "race_test", "--executed", address };
	struct profil_ioc_stats stats;
	int i, fd = profil_open();
	struct profil_region region;
	__u16 *counter, first;
	pid_t pid;

	/* What is counted into the pad is not to be handed on. */
	if (fd < 0 || pad_of(NULL, &pad) ||
	    asprintf(&envp[0], "PAD=%s", pad) < 0)
		return 102;
	snprintf(address, sizeof(address), "%llx", UPTR(pad));
	memset(argument, 'a', sizeof(argument) - 1);
	argument[sizeof(argument) - 1] = 0;
	for (i = 0; i < ARGUMENTS; i++)
		argv[3 + i] = argument;
	counter = (__u16 *)((UPTR(pad) + PAD_SIZE / 2) & ~7UL);
	first = *counter;
	region = any_region(counter);
	if (profil_start(fd, &region, 1))
		return 103;
	for (i = 0; i < 40; i++) {
		pid = vfork();
		if (!pid) {
			execve("/proc/self/exe", argv, envp);
			_exit(104);
		}
		pid = wait_for(pid);
		if (pid)
			return pid;
	}
	if (!settle_soon(fd, &stats) || profil_stop(fd) ||
	    profil_stats(fd, &stats))
		return 105;
	if (!check_identity(&stats))
		return 106;
	return (__u16)(*counter - first) == stats.out_in_range ? 0 : 107;
}

TEST_F(race, exec_against_a_pending_sample)
{
	static char *const argv[] = { "race_test", "--execute", NULL };
	char pad[4 + PAD_SIZE + 1] = "PAD=", *envp[] = { pad, NULL };
	pid_t pid;

	memset(pad + 4, 'x', PAD_SIZE);
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		personality(ADDR_NO_RANDOMIZE);
		execve("/proc/self/exe", argv, envp);
		_exit(108);
	}
	EXPECT_EQ(0, wait_for(pid));
}

/* Two threads that both find no registration. */
struct round {
	pthread_barrier_t barrier;
	int fd;
	void *counter;
	int ret;
};

static void step_start(struct other *other)
{
	struct round *round = other->memory;

	pthread_barrier_wait(&round->barrier);
	round->ret = profil_start_page(round->fd, hot_a, round->counter);
	pthread_barrier_wait(&round->barrier);
}

TEST_F(race, start_against_start)
{
	struct round round = { .fd = self->fd, .counter = self->pages[1] };
	int i, num, worst = 0;

	ASSERT_EQ(0, pthread_barrier_init(&round.barrier, NULL, 2));
	self->other.memory = &round;
	ASSERT_EQ(0, other_start(&self->other, step_start));
	hold("anchor", 2000);
	for (i = 0; i < 20; i++) {
		pthread_barrier_wait(&round.barrier);
		EXPECT_EQ(0, profil_start_page(self->fd, hot_a,
					       self->pages[0]));
		self->other.stop = i == 19;
		pthread_barrier_wait(&round.barrier);
		EXPECT_EQ(0, round.ret);
		while (find_anchor(&num)) {
			worst = num > worst ? num : worst;
			munmap((void *)find_anchor(NULL), PAGE);
		}
	}
	EXPECT_EQ(1, worst);
	other_join(&self->other);
}

/* The other thread's mapping fails when this START has found what it published. */
TEST_F(race, start_against_a_mapping_that_fails)
{
	struct round round = { .fd = self->fd, .counter = self->pages[1] };
	int i, ret;

	ASSERT_EQ(0, pthread_barrier_init(&round.barrier, NULL, 2));
	self->other.memory = &round;
	ASSERT_EQ(0, other_start(&self->other, step_start));
	/* This one comes to the registration while the other one is kept from failing. */
	hold("find", 20000);
	for (i = 0; i < 10; i++) {
		write_file(PARAMETERS "race_failures", 0, "1");
		pthread_barrier_wait(&round.barrier);
		usleep(10000);
		ret = profil_start_page(self->fd, hot_a, self->pages[0]);
		self->other.stop = i == 9;
		pthread_barrier_wait(&round.barrier);
		EXPECT_TRUE(!ret || ret == -ENOMEM);
		EXPECT_TRUE(!round.ret || round.ret == -ENOMEM);
		if (ret && round.ret)
			continue;
		EXPECT_EQ(0, profil_stats(self->fd, &self->stats));
		EXPECT_EQ(PROFIL_STATE_ON, self->stats.out_state);
		munmap((void *)find_anchor(NULL), PAGE);
	}
	write_file(PARAMETERS "race_failures", 0, "0");
	other_join(&self->other);
}

/* The anchor goes while START has its registration in hand. */
static void step_unmap(struct other *other)
{
	munmap(other->memory, PAGE);
	pause_cpu(1);
}

/* What a START leaves behind that lied about its success adds up to a limit. */
TEST_F(race, start_against_munmap_of_the_anchor)
{
	struct profil_region *regions;
	int i, ret;

	regions = calloc(REGIONS_MAX, sizeof(*regions));
	ASSERT_NE(NULL, regions);
	regions[0] = page_region(hot_a, self->pages[0]);
	ASSERT_EQ(0, profil_start(self->fd, regions, REGIONS_MAX));
	/* The next one will be where this one is. */
	self->other.memory = (void *)find_anchor(NULL);
	ASSERT_EQ(0, other_start(&self->other, step_unmap));
	for (i = 0; i < TICKS; i++) {
		ret = profil_start(self->fd, regions, REGIONS_MAX);
		ASSERT_TRUE(!ret || ret == -EAGAIN)
			TH_LOG("START: %s", strerror(-ret));
	}
	other_join(&self->other);
	free(regions);
}

static void *unmap_fn(void *arg)
{
	pin(0);
	munmap(arg, PAGE);
	return NULL;
}

/* Off means off, also if another thread is just about to unmap the anchor. */
TEST_F(race, stop_against_munmap_of_the_anchor)
{
	struct profil_region region = any_region(self->pages[0]);
	pthread_t unmapper;
	unsigned long steps;
	__u16 seen;
	int i;

	self->other.fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, self->other.fd);
	widen("0");
	ASSERT_EQ(0, other_start(&self->other, step_long_call));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, profil_start(self->fd, &region, 1));
		do
			usleep(1000);
		while (ticks(self) && !self->stats.out_deferred);
		hold("close", 1000000);
		ASSERT_EQ(0, pthread_create(&unmapper, NULL, unmap_fn,
					    (void *)find_anchor(NULL)));
		while (!profil_stats(self->fd, &self->stats) &&
		       self->stats.out_state == PROFIL_STATE_ON)
			usleep(1000);
		EXPECT_EQ(0, profil_stop(self->fd));
		seen = *(volatile __u16 *)self->pages[0];
		/* One call was under way, with samples to be counted at its end. */
		steps = self->other.steps;
		while (self->other.steps < steps + 2)
			usleep(1000);
		EXPECT_EQ(seen, *(volatile __u16 *)self->pages[0]);
		pthread_join(unmapper, NULL);
		EXPECT_EQ(-ENOENT, profil_stats(self->fd, &self->stats));
	}
	other_join(&self->other);
	close(self->other.fd);
	EXPECT_EQ(0, self->other.ret);
}

TEST_F(race, ticks_against_munmap_of_the_anchor)
{
	void *anchor = NULL;
	long end;
	int i;

	ASSERT_EQ(0, other_start(&self->other, step_hot));
	/* The first one arms the hook, for as long as the rest may take. */
	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->pages[0]));
	/*
	 * On both CPUs in each tick: where their time is the count of all
	 * instructions, twice 2 ms would leave nothing of 4 ms to the program.
	 */
	hold("account", 1000);
	end = busy_cpu0() + 30;
	for (i = 0; i % 16 || busy_cpu0() < end; i++) {
		ASSERT_EQ(0, profil_start_page(self->fd, hot_a,
					       self->pages[0]));
		pause_cpu(2);
		if (anchor)
			munmap(anchor, PAGE);
		if (profil_stats(self->fd, &self->stats) != -ENOENT) {
			anchor = (void *)find_anchor(NULL);
			ASSERT_EQ(0, munmap(anchor, PAGE));
		}
	}
	other_join(&self->other);
}

TEST_F(race, mremap_of_the_anchor)
{
	void *elsewhere = page_alloc();

	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->pages[0]));
	ASSERT_EQ(elsewhere, mremap((void *)find_anchor(NULL), PAGE, PAGE,
				    MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere));
	EXPECT_TRUE(burn(self->fd, hot_a, 5));
	EXPECT_EQ(0, munmap(elsewhere, PAGE));
	EXPECT_EQ(-ENOENT, profil_stats(self->fd, &self->stats));
}

TEST_F(race, mmap_of_the_device_by_others)
{
	EXPECT_EQ(MAP_FAILED, mmap(NULL, PAGE, PROT_NONE, MAP_SHARED, self->fd,
				   0));
	EXPECT_EQ(EINVAL, errno);
	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->pages[0]));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, PAGE, PROT_NONE, MAP_SHARED, self->fd,
				   0));
	EXPECT_EQ(EINVAL, errno);
}

/* A process is killed with work for it under way. */
TEST_F(race, kill_against_the_worker)
{
	pid_t pid;
	int i;

	hold("worker", 30000);
	for (i = 0; i < 5; i++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			pin(1);
			if (profil_start_page(self->fd, hot_a, self->pages[0]))
				_exit(1);
			burn(self->fd, hot_a, 3);
			kill(getpid(), SIGKILL);
		}
		EXPECT_EQ(-SIGKILL, wait_for(pid));
	}
	usleep(100000);
}

/* A worker that has the memory of a process that was killed writes no more there. */
TEST_F(race, kill_against_a_worker_that_has_the_memory)
{
	bool held = !self->task_work && holds();
	__u16 *shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;
	__u16 was;

	ASSERT_NE(MAP_FAILED, shared);
	hold("borrow", 500000);
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		pin(1);
		if (profil_start_page(self->fd, hot_a, shared))
			_exit(1);
		burn(self->fd, hot_a, 10);
		kill(getpid(), SIGKILL);
	}
	EXPECT_EQ(-SIGKILL, wait_for(pid));
	was = *shared;
	/* Elsewhere one may be amid the write of what it had begun. */
	if (held) {
		sleep(1);
		EXPECT_EQ(was, *shared);
	}
}

static void await_hook(int fd, bool armed)
{
	struct profil_ioc_query query;

	do
		usleep(10000);
	while (!profil_query(fd, &query) &&
	       (query.out_hook != PROFIL_HOOK_NONE) != armed);
}

static volatile unsigned long long_calls;

/* Not for ever: of who waits for minutes the kernel reports, before the test can. */
static void step_some_long_calls(struct other *other)
{
	if (other->steps < long_calls)
		step_long_call(other);
	else
		usleep(1000);
}

/*
 * Who has the hook taken away, and keeps all threads busy meanwhile, keeps nobody
 * from having it back.
 */
TEST_F(race, start_against_a_hook_that_goes_while_a_thread_never_sleeps)
{
	unsigned long steps;

	self->other.fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, self->other.fd);
	widen("0");
	long_calls = -1UL;
	ASSERT_EQ(0, other_start(&self->other, step_some_long_calls));
	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->pages[0]));
	ASSERT_EQ(0, profil_stop(self->fd));
	await_hook(self->fd, false);
	steps = self->other.steps;
	long_calls = steps + 64;
	EXPECT_EQ(0, profil_start_page(self->fd, hot_a, self->pages[0]));
	/* It has not slept until now. */
	EXPECT_GT(long_calls, self->other.steps);
	EXPECT_TRUE(burn(self->fd, hot_a, 3));
	other_join(&self->other);
	close(self->other.fd);
	EXPECT_EQ(0, self->other.ret);
}

/*
 * Whether no more ticks than one of each period came on this CPU, since @begin.  The
 * first may be a late one, and the second its successor in time: but however late they
 * are, there are no more.
 */
static bool are_of_one_timer(__u64 ticks, __u64 begin, __u64 tick_ns)
{
	__u64 ns = now_ns() - begin;

	if (ticks <= ns / tick_ns + 2)
		return true;
	printf("# %llu ticks in %llu ns\n", ticks, ns);
	return false;
}

/*
 * How many timers of the hook there are on CPUs that are on.  One that expires while the kernel
 * lists it is listed twice, or not at all: some 3 of 100 lists are wrong.
 */
static int hook_timers(void)
{
	FILE *list = fopen("/proc/timer_list", "re");
	char line[512];
	int num = 0;

	while (list && fgets(line, sizeof(line), list))
		num += !!strstr(line, "profil_hrtimer_expired");
	if (list)
		fclose(list);
	return num;
}

/* A CPU goes: nobody has its ticks. */
TEST_F(race, cpu_that_goes_against_ticks)
{
	struct profil_region region = any_region(self->pages[0]);
	struct profil_ioc_query query;
	__u64 begin, before;
	int i, right = 0;

	ASSERT_EQ(0, profil_start(self->fd, &region, 1));
	ASSERT_EQ(0, profil_query(self->fd, &query));
	if (write_file(CPU_FILE, 0, "0"))
		SKIP(return, "CPU 1 cannot be switched off");
	/* CPU 1 had better not come back to this: its timer is not there. */
	for (i = 0; i < 9 && query.out_hook == PROFIL_HOOK_HRTIMER; i++) {
		hot_a(HOT_ROUNDS);
		right += hook_timers() == sysconf(_SC_NPROCESSORS_ONLN);
	}
	EXPECT_TRUE(query.out_hook != PROFIL_HOOK_HRTIMER || right >= 5);
	/* Or two timers are no faster than one: a tick may take a whole period. */
	widen("0");
	begin = now_ns();
	before = ticks(self);
	EXPECT_TRUE(burn(self->fd, hot_a, 2 * TICKS));
	EXPECT_TRUE(are_of_one_timer(ticks(self) - before, begin, query.out_tick_ns));
	EXPECT_EQ(0, write_file(CPU_FILE, 0, "1"));
}

/*
 * The module goes.  It comes back as it was found, from the file of which the
 * project's VM has it.
 */
static int load(const char *parameters)
{
	const char *path = getenv("PROFIL_MODULE");
	int file = open(path ? path : "/vm/module.ko", O_RDONLY | O_CLOEXEC);
	int ret = syscall(SYS_finit_module, file, parameters, 0);

	close(file);
	return ret;
}

static void found_parameters(char *parameters, size_t size)
{
	static const char *const names[] = {
		"deliver", "task_work", "hook", "arm", "nohz_full",
		"race_spins",
	};
	char path[128], value[32];
	size_t i, done = 0;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), PARAMETERS "%s", names[i]);
		if (!read_line(path, value, sizeof(value)) && *value != '(')
			done += snprintf(parameters + done, size - done,
					 "%s=%s ", names[i], value);
	}
}

static int unload_now(void)
{
	return syscall(SYS_delete_module, "profil", O_NONBLOCK);
}

/* Once nobody needs it, after at most so many milliseconds. */
static int unload_within(int ms)
{
	int i, ret = -1;

	for (i = 0; ret && i < ms; i++) {
		ret = unload_now();
		if (ret)
			usleep(1000);
	}
	return ret;
}

/* A process that ended needs it for a moment. */
static int unload(void)
{
	return unload_within(20000);
}

/* A new module's hook lingers for no more than a second, and nothing does now. */
static bool begin_anew(FIXTURE_DATA(race) *self)
{
	char parameters[256] = "";

	found_parameters(parameters, sizeof(parameters));
	close(self->fd);
	if (unload() || load(parameters))
		return false;
	self->fd = profil_open();
	return self->fd >= 0;
}

/* In a forked child, whose parent then lets go of the hook that both have. */
static int child_counts(int fd)
{
	struct profil_ioc_stats before, stats;
	long end;

	/* Longer than a hook stays that nobody has. */
	usleep(2000000);
	if (profil_stats(fd, &before))
		return 1;
	/* In so many of the kernel's ticks, for the machine may be slow. */
	end = busy_cpu0() + 1000;
	do {
		hot_a(HOT_ROUNDS);
		if (profil_stats(fd, &stats))
			return 2;
		if (stats.out_ticks > before.out_ticks)
			return 0;
	} while (busy_cpu0() < end);
	return 3;
}

static int fork_and_stop(FIXTURE_DATA(race) *self)
{
	pid_t pid = fork();

	if (!pid)
		_exit(child_counts(self->fd));
	return profil_stop(self->fd) ? 4 : wait_for(pid);
}

TEST_F(race, stop_against_the_hook_of_a_child)
{
	ASSERT_TRUE(begin_anew(self));
	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->pages[0]));
	EXPECT_EQ(0, fork_and_stop(self));
}

TEST_F(race, stop_against_the_timers_of_a_child)
{
	struct profil_region region = any_region(self->pages[0]);
	struct profil_ioc_query query;

	ASSERT_TRUE(begin_anew(self));
	ASSERT_EQ(0, profil_query(self->fd, &query));
	if (!query.out_timer_rate_max)
		SKIP(return, "no timer source: timers are no finer than the tick");
	ASSERT_EQ(0, profil_start_timer(self->fd, &region, 1, 100, 0));
	EXPECT_EQ(0, fork_and_stop(self));
}

/* The hook is switched off by others. */
static const char *hook_switch(__u32 hook)
{
	switch (hook) {
	case PROFIL_HOOK_FTRACE:
		return "/proc/sys/kernel/ftrace_enabled";
	case PROFIL_HOOK_KPROBE:
		return "/sys/kernel/debug/kprobes/enabled";
	default:
		return NULL;
	}
}

/*
 * Switches it off and, once timers of our own have taken over, on again.  How long
 * CPU 0 was busy meanwhile, in hundredths of a second, or -1.
 */
static long hook_taken_over(int fd, const char *file)
{
	struct profil_ioc_query query;
	long begin, busy;

	if (write_file(file, 0, "0"))
		return -1;
	begin = busy_cpu0();
	do {
		hot_a(HOT_ROUNDS);
		if (profil_query(fd, &query))
			return -1;
		busy = busy_cpu0() - begin;
	} while (query.out_hook != PROFIL_HOOK_HRTIMER && busy < 3000);
	return !write_file(file, 0, "1") && query.out_hook == PROFIL_HOOK_HRTIMER &&
	       query.out_hooks_lost && begin >= 0 ? busy : -1;
}

TEST_F(race, hook_switched_off_against_ticks)
{
	struct profil_ioc_query query;
	const char *file;
	long busy;

	ASSERT_TRUE(begin_anew(self));
	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->pages[0]));
	ASSERT_EQ(0, profil_query(self->fd, &query));
	file = hook_switch(query.out_hook);
	if (!file)
		SKIP(return, "timers of our own cannot be switched off");
	/* It is seen to count, so that nothing is missed before the look after next. */
	ASSERT_TRUE(burn(self->fd, hot_a, 3));
	busy = hook_taken_over(self->fd, file);
	ASSERT_LE(0, busy);
	/*
	 * Two looks, a third of a second apart, and timers are armed.  The machine may stand
	 * still meanwhile, and that is time too: several times as much is allowed.
	 */
	EXPECT_GE(500, busy);
	EXPECT_TRUE(burn(self->fd, hot_a, 5));
}

/* The hook is back before it was let go of, and each tick is one all the same. */
TEST_F(race, hook_switched_on_against_its_end)
{
	struct profil_ioc_query query;
	__u64 begin, before;
	const char *file;

	/* After the test before there would be no hook but the timers. */
	ASSERT_TRUE(begin_anew(self));
	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->pages[0]));
	ASSERT_EQ(0, profil_query(self->fd, &query));
	file = hook_switch(query.out_hook);
	if (!file)
		SKIP(return, "timers of our own cannot be switched off");
	hold("takeover", 3000000);
	ASSERT_LE(0, hook_taken_over(self->fd, file));
	begin = now_ns();
	before = ticks(self);
	EXPECT_TRUE(burn(self->fd, hot_a, 4 * TICKS));
	EXPECT_TRUE(are_of_one_timer(ticks(self) - before, begin, query.out_tick_ns));
}

/* Its thread is about to leave the module when it says so, or has left it. */
static void run_out_of_anchor(int done)
{
	struct other other = { .fd = open("/dev/zero", O_RDONLY | O_CLOEXEC) };
	struct profil_ioc_stats stats;
	int fd = profil_open();

	if (other.fd < 0 || fd < 0 ||
	    profil_start_page(fd, read_loop, page_alloc()) ||
	    other_start(&other, step_read))
		_exit(1);
	do {
		if (profil_stats(fd, &stats))
			_exit(2);
	} while (!stats.out_deferred);
	munmap((void *)find_anchor(NULL), PAGE);
	close(fd);
	if (write(done, "x", 1) != 1)
		_exit(3);
	for (;;)
		pause();
}

TEST_F(race, rmmod_against_the_last_instructions)
{
	char parameters[256] = "", byte;
	int ready[2];
	pid_t pid;

	found_parameters(parameters, sizeof(parameters));
	close(self->fd);
	ASSERT_EQ(0, pipe(ready));
	/*
	 * Longer than an exit takes that waits for nobody: more than 3 s were
	 * seen, where the emulator lets CPUs run in turns.
	 */
	hold("gone", 30000000);
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		run_out_of_anchor(ready[1]);
	EXPECT_EQ(1, read(ready[0], &byte, 1));
	/* A tick before the anchor went may have left the thread one more delivery. */
	EXPECT_EQ(0, unload_within(90000));
	EXPECT_EQ(0, kill(pid, SIGKILL));
	EXPECT_EQ(-SIGKILL, wait_for(pid));
	ASSERT_EQ(0, load(parameters));
	self->fd = profil_open();
	EXPECT_LE(0, self->fd);
}

/* What the module had planned for later must not come when it is gone. */
TEST_F(race, rmmod_against_a_process_that_just_ended)
{
	char parameters[256] = "";
	pid_t pid;
	int i;

	found_parameters(parameters, sizeof(parameters));
	close(self->fd);
	for (i = 0; i < 3; i++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			self->fd = profil_open();
			_exit(profil_start_page(self->fd, hot_a,
						self->pages[0]) ||
			      !burn(self->fd, hot_a, 3));
		}
		EXPECT_EQ(0, wait_for(pid));
		ASSERT_EQ(0, unload());
		/* Long enough for what was planned: no other exit than the first is. */
		sleep(1);
		ASSERT_EQ(0, load(parameters));
	}
	self->fd = profil_open();
	EXPECT_LE(0, self->fd);
}

/* Its histogram is gone, which only somebody finds out who delivers to it. */
static void run_out_of_histogram(void *page)
{
	struct profil_ioc_stats stats;
	int fd = profil_open();

	if (fd < 0 || profil_start_page(fd, hot_a, page) || munmap(page, PAGE))
		_exit(1);
	do {
		hot_a(HOT_ROUNDS);
		if (profil_stats(fd, &stats))
			_exit(2);
	} while (stats.out_state == PROFIL_STATE_ON);
	if (stats.out_state != PROFIL_STATE_FAULT)
		_exit(3);
	/* A worker has the address space, and so has what is mapped there. */
	_exit(munmap((void *)find_anchor(NULL), PAGE) ? 4 : 0);
}

TEST_F(race, rmmod_against_a_worker_that_ends_the_profile)
{
	bool held = !self->task_work && holds();
	char parameters[256] = "";
	pid_t pid;

	ASSERT_TRUE(begin_anew(self));
	found_parameters(parameters, sizeof(parameters));
	close(self->fd);
	hold("retire", 3000000);
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		run_out_of_histogram(self->pages[0]);
	EXPECT_EQ(0, wait_for(pid));
	/* Not even a worker that waits for a page is waited for by rmmod. */
	if (held)
		EXPECT_EQ(-1, unload_now());
	EXPECT_EQ(0, unload());
	sleep(2);
	ASSERT_EQ(0, load(parameters));
	self->fd = profil_open();
	EXPECT_LE(0, self->fd);
}

/* What a test build knows of the order in which all this happened. */
static void say_hash(void)
{
	char text[64];

	if (!read_line(PARAMETERS "race_hash", text, sizeof(text)))
		printf("# race points passed, and the hash of their order: %s\n",
		       text);
}

int main(int argc, char **argv)
{
	if (argc >= 3 && !strcmp(argv[1], "--executed"))
		return executed(argv[2]);
	if (argc == 2 && !strcmp(argv[1], "--execute"))
		return execute_many();
	atexit(say_hash);
	return test_harness_run(argc, argv);
}
