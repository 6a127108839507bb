// SPDX-License-Identifier: GPL-2.0-only
/*
 * What fails once: every allocation and every copy of user memory, one after
 * the other, in each command, in fork, in placing a hook and in loading the
 * module.  The kernel lets the Nth of them fail (fail-nth); a sweep goes on
 * with the next N until none is left to fail.
 *
 * Needs a kernel with fault injection, and root; loads the module again, so it
 * runs alone.  Whoever runs it looks for leaks afterwards.
 */
#include <glob.h>
#include <sys/klog.h>
#include <sys/rseq.h>

#include "session.h"

#define FAULTS_MAX	2000	/* more than one call can have */
#define SWEEPS		40	/* allocations come and go: one sweep in two misses some */
#define FIRST_UID	100000	/* of users that there are not */
#define LOAD_TAIL	100	/* the last of an insmod are those of our init */

static const char *const knobs[][2] = {
	/* what fails by our will must not look like a splat in the log */
	{ "failslab/verbose", "0" },
	{ "fail_page_alloc/verbose", "0" },
	{ "fail_usercopy/verbose", "0" },
	{ "fail_futex/verbose", "0" },
	/* and all allocations may fail, not only those that cannot wait */
	{ "failslab/ignore-gfp-wait", "N" },
	{ "fail_page_alloc/ignore-gfp-wait", "N" },
	{ "fail_page_alloc/ignore-gfp-highmem", "N" },
	{ "fail_page_alloc/min-order", "0" },
};

/* This thread's file, or -1 on a kernel or as a user that cannot do it. */
static int fault_open(void)
{
	char path[128];
	size_t i;

	for (i = 0; i < sizeof(knobs) / sizeof(knobs[0]); i++) {
		snprintf(path, sizeof(path), "/sys/kernel/debug/%s", knobs[i][0]);
		if (write_file(path, 0, knobs[i][1]))
			return -1;
	}
	return open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
}

/* Nothing may be called between this and what is to fail. */
static void fault_arm(int file, unsigned int nth)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", nth);

	if (write(file, text, len) != len)
		_exit(99);
}

/* Whether one has failed since; none will any more. */
static bool fault_fired(int file)
{
	char text[16] = "";
	bool fired;

	/* If the copy of the answer is what fails, none had failed before. */
	fired = pread(file, text, sizeof(text) - 1, 0) > 0 && !atoi(text);
	while (write(file, "0", 1) != 1)
		;
	return fired;
}

/*
 * The kernel complains with a stack trace when fork or insmod cannot have what
 * vmalloc() needs.  Errors are still printed; a warning taints the kernel, which
 * the runner sees; and lockdep, which does not, is asked whether it found fault.
 * It does not remember that it warned of RCU, but the log does.
 */
#define READ_ALL	3	/* of klogctl() */
#define CONSOLE_LEVEL	8
#define SIZE_BUFFER	10

static void only_errors_to_console(bool only)
{
	klogctl(CONSOLE_LEVEL, NULL, only ? 4 : 7);
}

static bool log_says(const char *what)
{
	int len = klogctl(SIZE_BUFFER, NULL, 0);
	char *text = calloc(1, len + 1);
	bool found;

	if (!text || klogctl(READ_ALL, text, len) < 0)
		return true;
	found = strstr(text, what);
	free(text);
	return found;
}

static bool lockdep_is_content(void)
{
	FILE *file = fopen("/proc/lockdep_stats", "re");
	char line[256];
	int on = 1;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, " debug_locks: %d", &on) == 1)
			break;
	if (file)
		fclose(file);
	return on && !log_says("suspicious RCU usage");
}

/* After a fork its page is to be copied, and a fault there is SIGSEGV. */
static void no_rseq(void)
{
	syscall(SYS_rseq, (char *)__builtin_thread_pointer() + __rseq_offset,
		32, RSEQ_FLAG_UNREGISTER, RSEQ_SIG);
}

/* No sample is to use up a fault by having the page allocated. */
#define FAULT_OPEN(self)						\
	do {								\
		(self)->nth = fault_open();				\
		if ((self)->nth < 0)					\
			SKIP(return, "this kernel injects no faults, or not for this user"); \
		ASSERT_OPEN_WITH_PAGE((self)->fd, (self)->counter);	\
		*(self)->counter = 0;					\
	} while (0)

FIXTURE(fault) {
	int fd;
	int nth;
	__u16 *counter;
	struct profil_ioc_stats stats;
};

FIXTURE_SETUP(fault)
{
	FAULT_OPEN(self);
}

FIXTURE_TEARDOWN(fault)
{
	only_errors_to_console(false);
	close(self->fd);
	close(self->nth);
}

/* In a process of its own: 0 for 0, the errno, or above 100 what is wrong. */
static int first_start(FIXTURE_DATA(fault) *self, unsigned int n, bool *fired)
{
	int nth = fault_open(), ret, again;

	/* Of a user of its own, who is not known yet. */
	if (setuid(FIRST_UID + getpid()))
		return 106;
	fault_arm(nth, n);
	ret = profil_start_page(self->fd, hot_a, self->counter);
	*fired = fault_fired(nth);
	again = profil_stats(self->fd, &self->stats);
	if (!ret && (again || self->stats.out_state != PROFIL_STATE_ON))
		return 101;
	if (ret && !(again == -ENOENT || self->stats.out_state == PROFIL_STATE_OFF))
		return 102;
	if (profil_start_page(self->fd, hot_a, self->counter))
		return 103;
	if (!burn(self->fd, hot_a, 2))
		return 104;
	if (profil_stop(self->fd) || profil_stats(self->fd, &self->stats) ||
	    !check_identity(&self->stats))
		return 105;
	return -ret;
}

/* How many STARTs failed, in a sweep over the first one of processes. */
static unsigned int sweep_first_start(struct __test_metadata *_metadata,
				      FIXTURE_DATA(fault) *self, bool *fired)
{
	unsigned int n, failed = 0;
	int ret;

	*fired = true;
	for (n = 1; *fired && n < FAULTS_MAX; n++) {
		pid_t pid = fork();

		ASSERT_LE(0, pid);
		if (!pid)
			_exit(first_start(self, n, fired));
		ret = wait_for(pid);
		EXPECT_TRUE(!ret || ret == ENOMEM || ret == EFAULT) {
			TH_LOG("fault %u: %d", n, ret);
		}
		if (*fired)
			failed += !!ret;
		else
			EXPECT_EQ(0, ret);
	}
	EXPECT_FALSE(*fired);
	return failed;
}

TEST_F_TIMEOUT(fault, first_start_of_a_process, 1500)
{
	bool *fired = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned int sweeps, failed = 0;

	ASSERT_NE(MAP_FAILED, fired);
	/* The copies of the command and the region; user, set, registration, file. */
	for (sweeps = 0; sweeps < SWEEPS && failed < 6; sweeps++)
		failed = sweep_first_start(_metadata, self, fired);
	EXPECT_LE(6, failed);
}

/* The command at @arg, faulted; what it says with nothing failing is 0. */
static void sweep_command(struct __test_metadata *_metadata,
			  FIXTURE_DATA(fault) *self, unsigned long cmd,
			  void *arg, int least)
{
	unsigned int n, failed = 0;
	bool fired = true;
	__u64 ticks = 0;
	int ret;

	for (n = 1; fired && n < FAULTS_MAX; n++) {
		fault_arm(self->nth, n);
		ret = profil_ioctl(self->fd, cmd, arg);
		fired = fault_fired(self->nth);
		EXPECT_TRUE(!ret || (fired && ret == -EFAULT)) {
			TH_LOG("command %#lx, fault %u: %d", cmd, n, ret);
		}
		failed += !!ret;
		ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
		EXPECT_TRUE(check_identity(&self->stats));
		EXPECT_LE(ticks, self->stats.out_ticks);
		ticks = self->stats.out_ticks;
		/* STOP that could not be read has stopped nothing. */
		EXPECT_EQ(ret || cmd != PROFIL_IOC_STOP, self->stats.out_state);
	}
	EXPECT_FALSE(fired);
	EXPECT_LE(least, failed)
		TH_LOG("command %#lx", cmd);
}

TEST_F(fault, commands_in_and_out)
{
	struct profil_ioc_stats stats = { .size = sizeof(stats) };
	struct profil_ioc_query query = { .size = sizeof(query) };
	struct profil_ioc_stop stop = { .size = sizeof(stop) };

	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->counter));
	sweep_command(_metadata, self, PROFIL_IOC_STATS, &stats, 2);
	sweep_command(_metadata, self, PROFIL_IOC_QUERY, &query, 2);
	EXPECT_EQ(PROFIL_ABI, query.out_abi);
	sweep_command(_metadata, self, PROFIL_IOC_STOP, &stop, 1);
	EXPECT_EQ(PROFIL_STATE_OFF, self->stats.out_state);
}

/* What the child sees of itself: 0 profiled, 1 not, else wrong. */
static int child_state(int fd)
{
	struct profil_ioc_stats stats;
	int ret = profil_stats(fd, &stats);

	if (ret == -ENOENT)
		return 1;
	if (ret || stats.out_state != PROFIL_STATE_ON || !check_identity(&stats))
		return 2;
	if (!burn(fd, hot_a, 1))
		return 3;
	return 0;
}

/* How many children were not profiled, in a sweep over fork. */
static unsigned int sweep_fork(struct __test_metadata *_metadata,
			       FIXTURE_DATA(fault) *self)
{
	unsigned int n, unprofiled = 0;
	bool fired = true;
	__u64 missed;
	pid_t pid;
	int ret;

	for (n = 1; fired && n < FAULTS_MAX; n++) {
		ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
		missed = self->stats.out_forks_missed;
		fault_arm(self->nth, n);
		pid = fork();
		if (!pid)
			_exit(child_state(self->fd));
		ret = errno;
		fired = fault_fired(self->nth);
		if (pid < 0) {
			EXPECT_TRUE(ret == ENOMEM || ret == EAGAIN) {
				TH_LOG("fault %u: fork: %d", n, ret);
			}
			ret = 0;
		} else {
			ret = wait_for(pid);
			EXPECT_TRUE(ret == 0 || (ret == 1 && fired)) {
				TH_LOG("fault %u: child: %d", n, ret);
			}
			unprofiled += ret;
		}
		ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
		EXPECT_EQ(missed + ret, self->stats.out_forks_missed);
		EXPECT_EQ(PROFIL_STATE_ON, self->stats.out_state);
		EXPECT_TRUE(check_identity(&self->stats));
	}
	EXPECT_FALSE(fired);
	return unprofiled;
}

/* No fork, an unprofiled child that the parent knows of, or a profiled one. */
TEST_F_TIMEOUT(fault, fork_inherits_or_says_so, 1500)
{
	unsigned int sweeps, unprofiled = 0;

	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->counter));
	no_rseq();
	only_errors_to_console(true);
	/* The registration: the user is known. */
	for (sweeps = 0; sweeps < SWEEPS && !unprofiled; sweeps++)
		unprofiled = sweep_fork(_metadata, self);
	EXPECT_LE(1, unprofiled);
	EXPECT_TRUE(lockdep_is_content());
}

/* Without memory there is the anchor, or none. */
TEST_F_TIMEOUT(fault, moving_the_anchor, 1500)
{
	bool fired = true;
	unsigned int n;
	pid_t pid;
	int num;

	only_errors_to_console(true);
	for (n = 1; fired && n < FAULTS_MAX; n++) {
		unsigned long anchor;
		void *elsewhere = page_alloc();

		ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->counter));
		anchor = find_anchor(NULL);
		fault_arm(self->nth, n);
		mremap((void *)anchor, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
		       elsewhere);
		fired = fault_fired(self->nth);
		find_anchor(&num);
		EXPECT_EQ(num ? 0 : -ENOENT, profil_stats(self->fd, &self->stats));
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid)
			_exit(child_state(self->fd));
		EXPECT_EQ(!num, wait_for(pid));
		if (num == 1)
			EXPECT_EQ(find_anchor(NULL),
				  profil_start_anchor(self->fd, hot_a, self->counter));
		while ((anchor = find_anchor(NULL)))
			ASSERT_EQ(0, munmap((void *)anchor, PAGE));
		ASSERT_EQ(-ENOENT, profil_stats(self->fd, &self->stats));
	}
	EXPECT_FALSE(fired);
	EXPECT_LT(2, n);
	EXPECT_TRUE(lockdep_is_content());
}

/* A thread that waits for samples of hot_a(), which it has none of itself. */
struct watcher {
	pthread_t thread;
	int fd;
	__u64 samples;		/* to see */
	volatile bool seen;
};

static void *watcher_fn(void *arg)
{
	struct watcher *watcher = arg;
	struct profil_ioc_stats stats;
	__u64 samples, end = 0;

	do {
		if (profil_stats(watcher->fd, &stats))
			break;
		samples = stats.out_in_range + stats.out_lost;
		if (!end)
			end = samples + watcher->samples;
	} while (samples < end);
	watcher->seen = true;
	return NULL;
}

/* A page of the histogram is allocated when the first sample is delivered. */
TEST_F(fault, delivery_without_memory)
{
	struct watcher watcher = { .fd = self->fd, .samples = 3 };
	unsigned int n;
	bool fired = true;

	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->counter));
	for (n = 1; fired && n < 40; n++) {
		ASSERT_EQ(0, madvise(self->counter, PAGE, MADV_DONTNEED));
		watcher.seen = false;
		ASSERT_EQ(0, pthread_create(&watcher.thread, NULL, watcher_fn,
					    &watcher));
		fault_arm(self->nth, n);
		/* No system call in here: the sample's fault comes first. */
		while (!watcher.seen)
			hot_a(HOT_ROUNDS);
		fired = fault_fired(self->nth);
		pthread_join(watcher.thread, NULL);
		ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
		EXPECT_EQ(PROFIL_STATE_ON, self->stats.out_state);
		EXPECT_TRUE(check_identity(&self->stats));
	}
	EXPECT_FALSE(fired);
	EXPECT_LT(2, n);
	EXPECT_EQ(self->stats.out_lost, self->stats.out_lost_unready);
	ASSERT_EQ(0, profil_stop(self->fd));
}

FIXTURE(replace) {
	int fd;
	int nth;
	unsigned int unanswered;	/* STARTs that did all, and could not say so */
	__u16 *counter;
	struct profil_ioc_stats stats;
};

FIXTURE_VARIANT(replace) {
	__u32 num;
};

FIXTURE_VARIANT_ADD(replace, one) {
	.num = 1,
};

FIXTURE_VARIANT_ADD(replace, many) {
	.num = 300,
};

FIXTURE_SETUP(replace)
{
	FAULT_OPEN(self);
}

FIXTURE_TEARDOWN(replace)
{
	close(self->fd);
	close(self->nth);
}

/* Whether @counter is what counts hot_a. */
static bool still_counts(int fd, volatile __u16 *counter)
{
	__u16 before = *counter;
	int i;

	for (i = 0; i < 100 && *counter == before; i++)
		if (!burn(fd, hot_a, 1))
			return false;
	return *counter != before;
}

/* How many STARTs of @num regions failed, in a sweep over one. */
static unsigned int sweep_start(struct __test_metadata *_metadata,
				FIXTURE_DATA(replace) *self,
				const struct profil_region *region, __u32 num)
{
	unsigned int n, failed = 0;
	bool fired = true;
	int ret = 0;

	for (n = 1; fired && n < FAULTS_MAX; n++) {
		ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->counter));
		fault_arm(self->nth, n);
		ret = profil_start(self->fd, region, num);
		fired = fault_fired(self->nth);
		EXPECT_TRUE(!ret || (fired && (ret == -ENOMEM || ret == -EFAULT))) {
			TH_LOG("fault %u: %d", n, ret);
		}
		failed += !!ret;
		ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
		EXPECT_TRUE(check_identity(&self->stats));
		if (ret == -EFAULT && self->stats.out_state == PROFIL_STATE_OFF) {
			self->unanswered++;
		} else {
			ASSERT_EQ(PROFIL_STATE_ON, self->stats.out_state);
			if (ret)
				EXPECT_TRUE(still_counts(self->fd, self->counter));
		}
		*self->counter = 0;
		ASSERT_EQ(0, profil_stop(self->fd));
	}
	EXPECT_FALSE(fired);
	EXPECT_EQ(0, ret);
	return failed;
}

/* A START that fails leaves what was there. */
TEST_F_TIMEOUT(replace, failing_start_leaves_the_former_one, 1500)
{
	struct profil_region *region = calloc(variant->num, sizeof(*region));
	/*
	 * The command, its answer, the region, and the set if it is small enough to have
	 * no other memory than what failed.
	 */
	unsigned int least = variant->num == 1 ? 4 : 3;
	unsigned int i, sweeps, failed = 0;
	__u16 *fresh = page_alloc();

	ASSERT_NE(NULL, region);
	ASSERT_NE(NULL, fresh);
	for (i = 0; i < variant->num; i++)
		region[i] = page_region((char *)hot_b + i * PAGE, fresh + i);
	for (sweeps = 0; sweeps < SWEEPS && (failed < least || !self->unanswered); sweeps++)
		failed = sweep_start(_metadata, self, region, variant->num);
	EXPECT_LE(least, failed);
	/*
	 * Where the answer is what fails.  A sweep misses it if something else was allocated
	 * for that START and not for the one before, as where the hook has to be armed.
	 */
	EXPECT_LE(1, self->unanswered);
	ASSERT_EQ(0, profil_start(self->fd, region, variant->num));
	ASSERT_TRUE(burn(self->fd, hot_a, 8));
	EXPECT_EQ(0, *(volatile __u16 *)self->counter);
	free(region);
}

/* ---- sessions */

FIXTURE(session) {
	struct view view;
	struct profil_ioc_session args;
	int device, nth;
};

FIXTURE_SETUP(session)
{
	self->nth = fault_open();
	if (self->nth < 0)
		SKIP(return, "this kernel injects no faults, or not for this user");
	no_rseq();
	/* It holds the hook, and sees that others fail. */
	self->args = session_args();
	ASSERT_EQ(0, view_open(&self->view, &self->args));
	self->device = profil_open();
	ASSERT_LE(0, self->device);
	only_errors_to_console(true);
}

FIXTURE_TEARDOWN(session)
{
	only_errors_to_console(false);
	EXPECT_TRUE(lockdep_is_content());
	view_close(&self->view);
	close(self->device);
	close(self->nth);
}

static int lowest_fd(int fd)
{
	int lowest = dup(fd);

	close(lowest);
	return lowest;
}

/* How many SESSIONs failed.  Whose limits they still had would soon have no more. */
static unsigned int sweep_session(struct __test_metadata *_metadata,
				  FIXTURE_DATA(session) *self, __u32 flags)
{
	int lowest = lowest_fd(self->device), ret = 0;
	struct profil_ioc_session args;
	unsigned int n, failed = 0;
	bool fired = true;

	for (n = 1; fired && n < FAULTS_MAX; n++) {
		args = session_args();
		args.slots = PROFIL_SLOTS_MIN;
		args.flags = flags;
		fault_arm(self->nth, n);
		ret = profil_ioctl(self->device, PROFIL_IOC_SESSION, &args);
		fired = fault_fired(self->nth);
		EXPECT_TRUE(!ret || (fired && (ret == -ENOMEM || ret == -EFAULT))) {
			TH_LOG("fault %u: %d", n, ret);
		}
		failed += !!ret;
		if (!ret)
			close(args.out_fd);
		EXPECT_EQ(lowest, lowest_fd(self->device));
	}
	EXPECT_FALSE(fired);
	EXPECT_EQ(0, ret);
	return failed;
}

TEST_F_TIMEOUT(session, session_without_memory_is_none, 1500)
{
	unsigned int sweeps, failed = 0;

	/* The copies; the table, its page, files, buckets and members; two files. */
	for (sweeps = 0; sweeps < SWEEPS && failed < 9; sweeps++)
		failed = sweep_session(_metadata, self, 0);
	EXPECT_LE(9, failed);
}

TEST_F_TIMEOUT(session, session_of_the_machine_without_memory_is_none, 1500)
{
	unsigned int sweeps, failed = 0;

	/* The same, but for members; the buckets of rows. */
	for (sweeps = 0; sweeps < SWEEPS && failed < 9; sweeps++)
		failed = sweep_session(_metadata, self, PROFIL_SESSION_F_SYSTEM);
	EXPECT_LE(9, failed);
}

TEST_F_TIMEOUT(session, mapping_without_memory_is_none, 1500)
{
	bool fired = true;
	unsigned int n;
	void *map;

	for (n = 1; fired && n < FAULTS_MAX; n++) {
		fault_arm(self->nth, n);
		map = mmap(NULL, self->view.bytes, PROT_READ, MAP_SHARED, self->view.fd, 0);
		fired = fault_fired(self->nth);
		EXPECT_TRUE(map != MAP_FAILED || (fired && errno == ENOMEM)) {
			TH_LOG("fault %u: %s", n, strerror(errno));
		}
		if (map != MAP_FAILED) {
			EXPECT_EQ(sizeof(struct profil_session_page), *(__u32 *)map);
			munmap(map, self->view.bytes);
		}
	}
	EXPECT_FALSE(fired);
	EXPECT_LT(2, n);
}

/* In a process of its own: 0 for 0, the errno, or above 100 what is wrong. */
static int join_faulted(int fd, unsigned int n, bool *fired)
{
	int nth = fault_open(), ret;

	fault_arm(nth, n);
	ret = session_join(fd);
	*fired = fault_fired(nth);
	/* Its parent's view it has not: who is a member already is told so. */
	if (session_join(fd) != (ret ? 0 : -EALREADY))
		return 101;
	return -ret;
}

TEST_F(session, failing_join_leaves_no_member)
{
	bool *fired = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned int n, failed = 0;
	int ret = 0;
	pid_t pid;

	ASSERT_NE(MAP_FAILED, fired);
	*fired = true;
	for (n = 1; *fired && n < FAULTS_MAX; n++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid)
			_exit(join_faulted(self->view.fd, n, fired));
		ret = wait_for(pid);
		EXPECT_TRUE(!ret || (*fired && ret == EFAULT)) {
			TH_LOG("fault %u: %d", n, ret);
		}
		failed += !!ret;
		EXPECT_EQ(0, self->view.page->members);
	}
	EXPECT_FALSE(*fired);
	/* The copy of the command: a member needs no memory. */
	EXPECT_LE(1, failed);
}

TEST_F(session, failing_attach_leaves_no_member)
{
	unsigned int n, failed = 0;
	bool fired = true;
	pid_t pid;
	int ret;

	for (n = 1; fired && n < FAULTS_MAX; n++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid)
			for (;;)
				pause();
		fault_arm(self->nth, n);
		ret = session_attach(self->view.fd, pid);
		fired = fault_fired(self->nth);
		EXPECT_TRUE(!ret || (fired && ret == -EFAULT)) {
			TH_LOG("fault %u: %d", n, ret);
		}
		EXPECT_EQ(!ret, self->view.page->members);
		EXPECT_EQ(ret ? 0 : -EALREADY, session_attach(self->view.fd, pid));
		failed += !!ret;
		kill(pid, SIGKILL);
		EXPECT_EQ(-SIGKILL, wait_for(pid));
		EXPECT_EQ(0, self->view.page->members);
	}
	EXPECT_FALSE(fired);
	EXPECT_LE(1, failed);
}

/* How many OBJECTs failed, of the first file of the session. */
static unsigned int sweep_object(struct __test_metadata *_metadata,
				 FIXTURE_DATA(session) *self)
{
	int lowest = lowest_fd(self->device), ret;
	struct profil_ioc_object args;
	unsigned int n, failed = 0;
	char path[256];
	bool fired = true;

	for (n = 1; fired && n < FAULTS_MAX; n++) {
		args = (struct profil_ioc_object){
			.size = sizeof(args),
			.object = PROFIL_OBJECT_FILES,
			.path_uptr = UPTR(path),
			.path_len = sizeof(path),
		};
		fault_arm(self->nth, n);
		ret = profil_ioctl(self->view.fd, PROFIL_IOC_OBJECT, &args);
		fired = fault_fired(self->nth);
		EXPECT_TRUE(!ret || (fired && (ret == -ENOMEM || ret == -EFAULT))) {
			TH_LOG("fault %u: %d", n, ret);
		}
		/* That there is no descriptor is no error of the command. */
		if (!ret && args.out_fd < 0) {
			EXPECT_TRUE(fired && args.out_fd == -ENOMEM) {
				TH_LOG("fault %u: descriptor %d", n, args.out_fd);
			}
		}
		failed += ret || args.out_fd < 0;
		if (!ret && args.out_fd >= 0)
			close(args.out_fd);
		EXPECT_EQ(lowest, lowest_fd(self->device));
	}
	EXPECT_FALSE(fired);
	return failed;
}

TEST_F(session, failing_object_leaves_no_descriptor)
{
	unsigned int sweeps, failed = 0;
	pid_t pid;

	CHILD(self->view, pid)
		burn_for_ever();
	wait_hot(&self->view, 1);
	kill(pid, SIGKILL);
	EXPECT_EQ(-SIGKILL, wait_for(pid));
	/* Three copies; the path's memory; the file. */
	for (sweeps = 0; sweeps < SWEEPS && failed < 5; sweeps++)
		failed = sweep_object(_metadata, self);
	EXPECT_LE(5, failed);
}

/* ---- a member that forks, and one that executes another program */

/* A child, and an image, of each fault. */
#define MEMBER_ROWS	4096

/* How many forks failed, in a sweep over those of a member, which has row 1. */
static unsigned int sweep_member_fork(struct __test_metadata *_metadata,
				      const struct view *view, int nth)
{
	const struct profil_session_page *page = view->page;
	unsigned int n, failed = 0;
	bool fired = true;
	__u32 rows;
	pid_t pid;
	int ret;

	for (n = 1; fired && n < FAULTS_MAX; n++) {
		rows = page->processes_used;
		fault_arm(nth, n);
		pid = fork();
		if (!pid)
			_exit(0);
		ret = errno;
		fired = fault_fired(nth);
		if (pid < 0) {
			failed++;
			EXPECT_TRUE(fired && (ret == ENOMEM || ret == EAGAIN)) {
				TH_LOG("fault %u: fork: %d", n, ret);
			}
		} else {
			EXPECT_EQ(0, wait_for(pid));
			EXPECT_EQ((__u32)pid, view_row(view, rows)->pid);
			EXPECT_EQ(1, view_row(view, rows)->parent);
			EXPECT_EQ(PROFIL_PROCESS_EXITED, view_row(view, rows)->state);
		}
		/* One who is there is a member; of one who is not, nothing is. */
		EXPECT_EQ(rows + (pid > 0), page->processes_used);
		EXPECT_EQ(1, page->members);
	}
	EXPECT_FALSE(fired);
	return failed;
}

TEST_F_TIMEOUT(session, child_of_a_member_is_one_or_there_is_none, 1500)
{
	struct profil_ioc_session args = session_args();
	unsigned int failed;
	struct view view;
	struct sums sums;

	args.processes = MEMBER_ROWS;
	ASSERT_EQ(0, view_open(&view, &args));
	ASSERT_EQ(0, session_join(view.fd));
	failed = sweep_member_fork(_metadata, &view, self->nth);
	EXPECT_LE(4, failed);
	EXPECT_EQ(0, view.page->forks_missed);
	EXPECT_TRUE(view_finish(&view, &sums));
	view_close(&view);
}

FIXTURE(member) {
	struct view view;
	struct sums sums;
	char image[32];
	int nth;
};

FIXTURE_SETUP(member)
{
	struct profil_ioc_session args = session_args();

	self->nth = fault_open();
	if (self->nth < 0)
		SKIP(return, "this kernel injects no faults, or not for this user");
	no_rseq();
	strcpy(self->image, "/tmp/fault_test_XXXXXX");
	ASSERT_EQ(0, make_setuid(self->image));
	args.processes = MEMBER_ROWS;
	ASSERT_EQ(0, view_open(&self->view, &args));
	only_errors_to_console(true);
}

FIXTURE_TEARDOWN(member)
{
	only_errors_to_console(false);
	EXPECT_TRUE(lockdep_is_content());
	unlink(self->image);
	view_close(&self->view);
	close(self->nth);
}

/* How an image ends that was executed: whether a fault has come, in exec or since. */
#define RAN		120
#define RAN_FAULTED	121
#define BEGAN		127	/* what the C library does first has failed */

static int ran(void)
{
	int file = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);

	return file < 0 || fault_fired(file) ? RAN_FAULTED : RAN;
}

/* In a process of its own. */
static void member_exec(FIXTURE_DATA(member) *self, unsigned int n)
{
	int nth = fault_open(), err;

	if (session_join(self->view.fd))
		_exit(100);
	fault_arm(nth, n);
	execl(self->image, "fault_test", "--ran", NULL);
	err = errno;
	fault_fired(nth);
	_exit(err);
}

/* E2BIG: what it is given cannot be copied.  And some faults come too late to return. */
static bool exec_may_end(int ret)
{
	static const int ends[] = {
		RAN, RAN_FAULTED, BEGAN, ENOMEM, EFAULT, EAGAIN, E2BIG, -SIGKILL, -SIGSEGV, -SIGBUS,
	};
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (ret == ends[i])
			return true;
	return false;
}

/* How many execs failed, in a sweep over those of members. */
static unsigned int sweep_member_exec(struct __test_metadata *_metadata,
				      FIXTURE_DATA(member) *self)
{
	const struct profil_session_page *page = self->view.page;
	const struct profil_process *row;
	unsigned int n, failed = 0;
	int ret = 0;
	pid_t pid;

	for (n = 1; ret != RAN && n < FAULTS_MAX; n++) {
		row = view_row(&self->view, page->processes_used);
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid)
			member_exec(self, n);
		ret = wait_for(pid);
		ASSERT_EQ((__u32)pid, row->pid);
		EXPECT_TRUE(exec_may_end(ret)) {
			TH_LOG("fault %u: %d", n, ret);
		}
		failed += !row->images;
		/* What runs is counted, and nothing else is. */
		if (ret == RAN || ret == RAN_FAULTED || ret == BEGAN) {
			EXPECT_EQ(1, row->images)
				TH_LOG("fault %u", n);
		} else if (ret > 0) {
			EXPECT_EQ(0, row->images);
		}
		EXPECT_EQ(PROFIL_PROCESS_EXITED, row->state);
		EXPECT_EQ(0, page->execs_denied);
		EXPECT_EQ(0, page->members);
	}
	EXPECT_EQ(RAN, ret);
	return failed;
}

TEST_F_TIMEOUT(member, image_is_counted_if_it_runs, 1500)
{
	EXPECT_LE(4, sweep_member_exec(_metadata, self));
	EXPECT_EQ(0, self->view.page->forks_missed);
	EXPECT_TRUE(view_finish(&self->view, &self->sums));
}

/* The module as it was found, but for what a test wants. */
static char found[512];

static const char *module_file(void)
{
	return getenv("PROFIL_MODULE") ?: "/vm/module.ko";
}

static bool module_loaded(void)
{
	return !access("/sys/module/profil/parameters", F_OK);
}

static void note_parameters(void)
{
	static const char *const names[] = {
		"deliver", "task_work", "nohz_full",
	};
	char path[128], value[64];
	size_t i, len = 0;
	FILE *file;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "/sys/module/profil/parameters/%s",
			 names[i]);
		file = fopen(path, "re");
		if (file && fscanf(file, "%63s", value) == 1)
			len += snprintf(found + len, sizeof(found) - len, "%s=%s ",
					names[i], value);
		if (file)
			fclose(file);
	}
}

/* What the last process held is given back a little later, by workers. */
static bool unload(void)
{
	int i;

	for (i = 0; i < 300; i++) {
		if (!syscall(SYS_delete_module, "profil", O_NONBLOCK) || errno == ENOENT)
			return true;
		usleep(100000);
	}
	return false;
}

static int load(int file, const char *params)
{
	char all[700];

	snprintf(all, sizeof(all), "%s%s", found, params);
	return syscall(SYS_finit_module, file, all, 0) ? -errno : 0;
}

struct loader {
	int nth;
	int module;
};

/* Why there is nothing to test, or NULL with the module unloaded. */
static const char *loader_open(struct loader *loader)
{
	loader->nth = fault_open();
	if (loader->nth < 0)
		return "this kernel injects no faults, or not for this user";
	loader->module = open(module_file(), O_RDONLY | O_CLOEXEC);
	if (loader->module < 0 || !module_loaded())
		return "the module's file is not at hand, or it is not loaded";
	note_parameters();
	return unload() ? NULL : "the module is in use";
}

static int loader_close(struct loader *loader)
{
	int ret = unload() ? load(loader->module, "") : -EBUSY;

	close(loader->module);
	close(loader->nth);
	return ret;
}

FIXTURE(arming) {
	struct loader loader;
	__u16 *counter;
};

/* Timers need no memory, so nothing fails with hook=hrtimer. */
FIXTURE_VARIANT(arming) {
	const char *hook;
};

FIXTURE_VARIANT_ADD(arming, any) {
	.hook = "hook=auto",
};

FIXTURE_VARIANT_ADD(arming, ftrace) {
	.hook = "hook=ftrace",
};

FIXTURE_VARIANT_ADD(arming, kprobe) {
	.hook = "hook=kprobe",
};

FIXTURE_SETUP(arming)
{
	const char *reason = loader_open(&self->loader);

	if (reason)
		SKIP(return, "%s", reason);
	self->counter = page_alloc();
	ASSERT_NE(NULL, self->counter);
}

FIXTURE_TEARDOWN(arming)
{
	EXPECT_EQ(0, loader_close(&self->loader));
}

/* 0 if START succeeds, else its errno; above 100 for what is wrong. */
static int arm_in_child(FIXTURE_DATA(arming) *self, unsigned int n, bool *fired)
{
	int nth = fault_open(), fd = profil_open(), ret;
	struct profil_ioc_stats stats;

	fault_arm(nth, n);
	ret = profil_start_page(fd, hot_a, self->counter);
	*fired = fault_fired(nth);
	if (!ret) {
		if (!burn(fd, hot_a, 3))
			return 101;
	} else if (!profil_stats(fd, &stats) &&
		   stats.out_state != PROFIL_STATE_OFF) {
		return 102;
	}
	return -ret;
}

static __u32 armed_hook(void)
{
	struct profil_ioc_query query = { };
	int fd = profil_open();

	profil_query(fd, &query);
	close(fd);
	return query.out_hook;
}

TEST_F_TIMEOUT(arming, first_start_places_a_hook_or_fails, 1500)
{
	bool any = !strcmp(variant->hook, "hook=auto");
	bool *fired = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned int n, nodev = 0, fallback = 0;
	pid_t pid;
	int ret;

	ASSERT_NE(MAP_FAILED, fired);
	*fired = true;
	for (n = 1; *fired && n < FAULTS_MAX; n++) {
		/* Armed, and kept so for a while, by the last one. */
		if (!module_loaded() || armed_hook() != PROFIL_HOOK_NONE) {
			ASSERT_TRUE(unload());
			ASSERT_EQ(0, load(self->loader.module, variant->hook));
		}
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid)
			_exit(arm_in_child(self, n, fired));
		ret = wait_for(pid);
		EXPECT_TRUE(!ret || ret == ENOMEM || ret == EFAULT || ret == ENODEV) {
			TH_LOG("fault %u: %d", n, ret);
		}
		if (ret == ENODEV) {
			nodev++;
			EXPECT_EQ(PROFIL_HOOK_NONE, armed_hook());
		} else if (!ret && armed_hook() != PROFIL_HOOK_FTRACE) {
			fallback++;
		}
	}
	EXPECT_FALSE(*fired);
	EXPECT_EQ(0, ret);
	if (any) {
		EXPECT_EQ(0, nodev);
		EXPECT_LT(0, fallback);
	} else {
		EXPECT_LT(0, nodev);
	}
}

FIXTURE(following) {
	struct loader loader;
};

FIXTURE_SETUP(following)
{
	const char *reason = loader_open(&self->loader);

	if (reason)
		SKIP(return, "%s", reason);
}

FIXTURE_TEARDOWN(following)
{
	EXPECT_EQ(0, loader_close(&self->loader));
}

/* 0 if SESSION succeeds, else its errno; above 100 for what is wrong. */
static int follow_in_child(unsigned int n, bool *fired)
{
	int nth = fault_open(), device = profil_open(), ret;
	struct profil_ioc_session args = session_args();
	struct view view;

	fault_arm(nth, n);
	ret = profil_ioctl(device, PROFIL_IOC_SESSION, &args);
	*fired = fault_fired(nth);
	if (ret)
		return -ret;
	view = (struct view){ .fd = args.out_fd, .bytes = args.out_bytes };
	view.page = mmap(NULL, view.bytes, PROT_READ, MAP_SHARED, view.fd, 0);
	if (view.page == MAP_FAILED || session_join(view.fd))
		return 101;
	while (!view_ticks(&view))
		hot_a(HOT_ROUNDS);
	if (wait_for(fork() ?: (_exit(0), 0)))
		return 102;
	return view.page->processes_used == 3 ? 0 : 103;
}

/* The first session also has the hook armed, and fork, exec and exit followed. */
TEST_F_TIMEOUT(following, first_session_follows_or_fails, 1500)
{
	bool *fired = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned int n, failed = 0;
	pid_t pid;
	int ret = 0;

	ASSERT_NE(MAP_FAILED, fired);
	*fired = true;
	for (n = 1; *fired && n < FAULTS_MAX; n++) {
		if (!module_loaded() || armed_hook() != PROFIL_HOOK_NONE) {
			ASSERT_TRUE(unload());
			ASSERT_EQ(0, load(self->loader.module, ""));
		}
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid)
			_exit(follow_in_child(n, fired));
		ret = wait_for(pid);
		EXPECT_TRUE(!ret || ret == ENOMEM || ret == EFAULT) {
			TH_LOG("fault %u: %d", n, ret);
		}
		failed += !!ret;
	}
	EXPECT_FALSE(*fired);
	EXPECT_EQ(0, ret);
	/* Those of any session, and the three tracepoints. */
	EXPECT_LE(9, failed);
}

static bool failslab(const char *knob, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/kernel/debug/failslab/%s", knob);
	return !write_file(path, 0, value);
}

/*
 * A worker is no thread of ours that could be told to fail.  So all fail that
 * allocate from what may be the records' cache, until they may again.
 */
static bool fail_accounted(void)
{
	glob_t caches;
	bool done = true;
	size_t i;

	if (glob("/sys/kernel/slab/kmalloc-cg-*/failslab", 0, NULL, &caches))
		return false;
	for (i = 0; i < caches.gl_pathc; i++)
		done &= !write_file(caches.gl_pathv[i], 0, "1");
	globfree(&caches);
	return done && failslab("cache-filter", "Y") && failslab("times", "-1") &&
	       failslab("probability", "100");
}

static bool fail_none(void)
{
	return failslab("probability", "0") && failslab("times", "1") &&
	       failslab("cache-filter", "N");
}

/* Records pend until workers may run. */
static bool workers_may_run(bool may)
{
	return !write_file("/sys/module/profil/parameters/max_workers_user", 0,
			   may ? "8" : "0");
}

#define RECORDS		32	/* that a process has, and that a worker adds */

FIXTURE(growth) {
	struct loader loader;
	int fd;
	__u16 *counters;
	char *code;
	struct profil_ioc_stats stats;
};

FIXTURE_SETUP(growth)
{
	const char *reason = loader_open(&self->loader);
	struct profil_region region = {
		.bytes = (RECORDS + 1) * sizeof(__u16),
		.scale = COPY_SCALE,
	};

	if (reason)
		SKIP(return, "%s", reason);
	/* As many more as are added once. */
	ASSERT_EQ(0, load(self->loader.module,
			  "deliver=deferred task_work=0 max_records_user=32"));
	ASSERT_TRUE(workers_may_run(false));
	/* What a worker delivers pends for each CPU apart: one counter has one record then. */
	pin(0);
	self->fd = profil_open();
	ASSERT_LE(0, self->fd);
	self->code = copies_of_spin(RECORDS + 1);
	ASSERT_NE(NULL, self->code);
	self->counters = page_alloc();
	ASSERT_NE(NULL, self->counters);
	/* A worker makes no page. */
	*self->counters = 0;
	region.offset = UPTR(self->code);
	region.buf_uptr = UPTR(self->counters);
	ASSERT_EQ(0, profil_start(self->fd, &region, 1));
}

FIXTURE_TEARDOWN(growth)
{
	fail_none();
	workers_may_run(true);
	/* The profile of a process holds the module as long as its anchor is there. */
	munmap((void *)find_anchor(NULL), PAGE);
	close(self->fd);
	EXPECT_EQ(0, loader_close(&self->loader));
}

/* Until each of @num counters has a tick that pends or found no record. */
static bool fill(FIXTURE_DATA(growth) *self, int num)
{
	void (*code)(unsigned long rounds);
	__u64 before;
	int i;

	for (i = 0; i < num; i++) {
		code = (void *)(self->code + i * COPY_BYTES);
		before = self->stats.out_pending + self->stats.out_lost_full;
		do {
			code(HOT_ROUNDS);
			if (profil_stats(self->fd, &self->stats))
				return false;
		} while (self->stats.out_pending + self->stats.out_lost_full == before);
	}
	return true;
}

/* Workers deliver what pends, and add records if there is memory. */
static bool drain(FIXTURE_DATA(growth) *self)
{
	return workers_may_run(true) && settle(self->fd, &self->stats) &&
	       workers_may_run(false);
}

TEST_F(growth, without_memory_the_records_there_are_still_serve)
{
	__u64 lost;

	ASSERT_TRUE(fill(self, RECORDS));
	EXPECT_EQ(0, self->stats.out_lost_full);
	ASSERT_TRUE(fail_accounted());
	ASSERT_TRUE(drain(self));
	ASSERT_TRUE(fail_none());
	EXPECT_EQ(self->stats.out_in_range, sum_u16(self->counters, RECORDS + 1));

	/* As many as before, and not one more. */
	ASSERT_TRUE(fill(self, RECORDS));
	EXPECT_EQ(0, self->stats.out_lost_full);
	ASSERT_TRUE(fill(self, RECORDS + 1));
	lost = self->stats.out_lost_full;
	EXPECT_LT(0, lost);

	ASSERT_TRUE(drain(self));
	ASSERT_TRUE(fill(self, RECORDS + 1));
	EXPECT_EQ(lost, self->stats.out_lost_full);
	ASSERT_TRUE(drain(self));
	EXPECT_EQ(lost, self->stats.out_lost);
	EXPECT_EQ(self->stats.out_in_range, sum_u16(self->counters, RECORDS + 1));
	EXPECT_TRUE(check_identity(&self->stats));
	ASSERT_EQ(0, profil_stop(self->fd));
}

FIXTURE(loading) {
	struct loader loader;
};

FIXTURE_SETUP(loading)
{
	const char *reason = loader_open(&self->loader);

	if (reason)
		SKIP(return, "%s", reason);
}

FIXTURE_TEARDOWN(loading)
{
	only_errors_to_console(false);
	EXPECT_EQ(0, loader_close(&self->loader));
}

/* With one hook, which it does not do without. */
#define LOADING		"arm=always hook=ftrace"

/* Loads and, if that went well, unloads; whether a fault came. */
static bool load_faulted(struct __test_metadata *_metadata,
			 FIXTURE_DATA(loading) *self, unsigned int n, int *ret)
{
	bool fired;

	fault_arm(self->loader.nth, n);
	*ret = load(self->loader.module, LOADING);
	fired = fault_fired(self->loader.nth);
	EXPECT_TRUE(!*ret || fired) {
		TH_LOG("fault %u: %d", n, *ret);
	}
	EXPECT_TRUE(unload());
	EXPECT_FALSE(module_loaded());
	return fired;
}

/* Faults before the last ones are those of loading any module. */
TEST_F_TIMEOUT(loading, succeeds_or_leaves_nothing, 1500)
{
	unsigned int n, some = 1, none, failed = 0;
	int ret;

	only_errors_to_console(true);
	for (none = 64; load_faulted(_metadata, self, none, &ret); none *= 2)
		ASSERT_GT(100000, none);
	while (none - some > 1) {
		n = (some + none) / 2;
		if (load_faulted(_metadata, self, n, &ret))
			some = n;
		else
			none = n;
	}
	for (n = some > LOAD_TAIL ? some - LOAD_TAIL : 1; n <= some; n++) {
		load_faulted(_metadata, self, n, &ret);
		failed += !!ret;
	}
	EXPECT_LT(3, failed);
	EXPECT_TRUE(lockdep_is_content());
	EXPECT_EQ(0, load(self->loader.module, LOADING));
	EXPECT_NE(PROFIL_HOOK_NONE, armed_hook());
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--ran"))
		return ran();
	return test_harness_run(argc, argv);
}
