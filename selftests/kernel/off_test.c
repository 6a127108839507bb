// SPDX-License-Identifier: GPL-2.0-only
/*
 * Off is off, wherever the process has gone meanwhile and whatever it may not do any
 * more; and so are the library's other calls, once there was a profile.
 */
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/mount.h>
#include <sys/resource.h>

/* The commands' names are those of the library's functions, which are meant. */
#define profil_query(...)	raw_query(__VA_ARGS__)
#define profil_stats(...)	raw_stats(__VA_ARGS__)
#define profil_start(...)	raw_start(__VA_ARGS__)
#define profil_stop(...)	raw_stop(__VA_ARGS__)
#include "profil_common.h"
#undef profil_query
#undef profil_stats
#undef profil_start
#undef profil_stop

#include <profil.h>

#define DEVICE	"/dev/profil"
#define NOBODY	1000

static int on(void *counter)
{
	return profil(counter, 2, UPTR(hot_a), PAGE_SCALE);
}

static int off(void)
{
	/* The header forbids NULL, and the manual page says what for. */
	unsigned short *volatile none = NULL;

	return profil(none, 0, 0, 0);
}

/* CPU time of @ticks, of a process that may not open anything. */
static void spend(int ticks)
{
	clock_t end = clock() + ticks * CLOCKS_PER_SEC / 100;

	while (clock() < end)
		hot_a(HOT_ROUNDS);
}

/* Runs hot_a until it was counted at @counter @num times. */
static bool counted(volatile __u16 *counter, __u16 num)
{
	int i;

	for (i = 0; i < 100 && *counter < num; i++)
		spend(10);
	return *counter >= num;
}

/* How many of @pid's descriptors are the device; the last one's number is @number. */
static int descriptors(pid_t pid, int *number)
{
	char path[64], target[64];
	int fd, num = 0;
	ssize_t len;

	for (fd = 0; fd < 2048; fd++) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
		len = readlink(path, target, sizeof(target) - 1);
		if (len < 0)
			continue;
		target[len] = 0;
		if (!strstr(target, "/profil"))
			continue;
		num++;
		if (number)
			*number = fd;
	}
	return num;
}

/* How many mappings of the device @pid has. */
static int mappings(pid_t pid)
{
	char path[64], line[512];
	int num = 0;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "re");
	while (maps && fgets(line, sizeof(line), maps))
		num += strstr(line, "/profil") && !strstr(line, "_test");
	if (!maps)
		return -1;
	fclose(maps);
	return num;
}

/* What befalls the process: 0, or it could not be made. */

static int empty_root(void)
{
	char folder[] = "/tmp/offXXXXXX";

	return mkdtemp(folder) && !chroot(folder) && !chdir("/") ? 0 : -1;
}

static int no_descriptors(void)
{
	struct rlimit limit = { 32, 32 };

	if (setrlimit(RLIMIT_NOFILE, &limit))
		return -1;
	while (open("/", O_RDONLY) >= 0)
		;
	return errno == EMFILE ? 0 : -1;
}

static int closed(void)
{
	return syscall(SYS_close_range, 0, ~0U, 0);
}

static int closed_in_empty_root(void)
{
	return empty_root() || closed();
}

static int forbidden_device(void)
{
	return chmod(DEVICE, 0600) || setgid(NOBODY) || setuid(NOBODY) ||
	       open(DEVICE, O_RDONLY) >= 0 || errno != EACCES ? -1 : 0;
}

static int other_namespace(void)
{
	return unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	       mount("none", "/dev", "tmpfs", 0, NULL) || !access(DEVICE, F_OK) ? -1 : 0;
}

/* As sandboxes do it: no file can be opened for reading any more. */
static int confined(void)
{
	const struct landlock_ruleset_attr attr = {
		.handled_access_fs = LANDLOCK_ACCESS_FS_READ_FILE,
	};
	int rules = syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);

	return rules < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       syscall(SYS_landlock_restrict_self, rules, 0) || close(rules) ||
	       open(DEVICE, O_RDONLY) >= 0 || errno != EACCES ? -1 : 0;
}

static int filter_open(__u32 action)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
#ifdef SYS_open
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_open, 1, 0),
#else
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 1, 0),
#endif
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { ARRAY_SIZE(filter), filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

static int open_is_refused(void)
{
	return filter_open(SECCOMP_RET_ERRNO | EPERM) ||
	       open(DEVICE, O_RDONLY) >= 0 || errno != EPERM ? -1 : 0;
}

static int open_kills(void)
{
	return filter_open(SECCOMP_RET_KILL_PROCESS);
}

/* Nothing is left but what frees memory. */
static int all_but_memory_is_refused(void)
{
	static const int allowed[] = {
		SYS_munmap, SYS_madvise, SYS_msync, SYS_exit_group, SYS_gettid, SYS_tgkill,
		SYS_getpid, SYS_clock_gettime, SYS_rt_sigprocmask,
#ifdef SYS_clock_gettime64
		SYS_clock_gettime64,
#endif
	};
	struct sock_filter filter[2 + 2 * ARRAY_SIZE(allowed)];
	struct sock_fprog prog = { 0, filter };
	size_t i;

	filter[prog.len++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
							  offsetof(struct seccomp_data, nr));
	for (i = 0; i < ARRAY_SIZE(allowed); i++) {
		filter[prog.len++] = (struct sock_filter)
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (__u32)allowed[i], 0, 1);
		filter[prog.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
								  SECCOMP_RET_ALLOW);
	}
	filter[prog.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
							  SECCOMP_RET_ERRNO | EPERM);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

FIXTURE(off) {
	__u16 *counter;			/* of the process and of who looks at it */
	mode_t mode;
};

FIXTURE_VARIANT(off) {
	int (*befalls)(void);
	bool only_off;			/* no other call is possible */
};

FIXTURE_VARIANT_ADD(off, empty_root) { .befalls = empty_root };
FIXTURE_VARIANT_ADD(off, no_descriptors) { .befalls = no_descriptors };
FIXTURE_VARIANT_ADD(off, closed) { .befalls = closed };
FIXTURE_VARIANT_ADD(off, forbidden_device) { .befalls = forbidden_device };
FIXTURE_VARIANT_ADD(off, other_namespace) { .befalls = other_namespace };
FIXTURE_VARIANT_ADD(off, confined) { .befalls = confined };
FIXTURE_VARIANT_ADD(off, open_is_refused) { .befalls = open_is_refused };
FIXTURE_VARIANT_ADD(off, open_kills) { .befalls = open_kills };

FIXTURE_VARIANT_ADD(off, closed_in_empty_root) {
	.befalls = closed_in_empty_root,
	.only_off = true,
};

FIXTURE_VARIANT_ADD(off, all_but_memory_is_refused) {
	.befalls = all_but_memory_is_refused,
	.only_off = true,
};

FIXTURE_SETUP(off)
{
	struct stat status;

	ASSERT_EQ(0, stat(DEVICE, &status));
	self->mode = status.st_mode & 07777;
	self->counter = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->counter);
}

FIXTURE_TEARDOWN(off)
{
	chmod(DEVICE, self->mode);
}

/* Off, for good: 0, or what is wrong. */
static int turn_off(volatile __u16 *counter)
{
	__u16 was;

	if (off())
		return 1;
	was = *counter;
	spend(10);
	return *counter == was ? 0 : 2;
}

/* The process: it stops where it is to be looked at.  0, or what is wrong. */
static int go(volatile __u16 *counter, int (*befalls)(void), bool only_off)
{
	struct profil_ioc_stats stats = { .size = sizeof(stats) };
	int ret;

	if (on((void *)counter))
		return 10;
	if (befalls())
		return 11;
	if (!counted(counter, 3))
		return 12;
	if (!only_off && (profil_stats(&stats) || !stats.out_in_range))
		return 13;
	ret = turn_off(counter);
	if (ret)
		return ret;
	raise(SIGSTOP);
	if (only_off)
		return 0;
	if (on((void *)(counter + 1)))
		return 20;
	if (!counted(counter + 1, 3))
		return 21;
	if (on((void *)(counter + 2)))
		return 22;
	if (!counted(counter + 2, 3))
		return 23;
	if (profil_stop())
		return 24;
	raise(SIGSTOP);
	return 0;
}

static bool stopped(pid_t pid)
{
	int status = 0;

	if (waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status))
		return true;
	printf("# it ended with status %#x\n", status);
	return false;
}

TEST_F(off, needs_nothing)
{
	pid_t pid;

	if (variant->befalls == confined && syscall(SYS_landlock_create_ruleset, NULL, 0, 1) < 0)
		SKIP(return, "no Landlock: %s", strerror(errno));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(go(self->counter, variant->befalls, variant->only_off));
	ASSERT_TRUE(stopped(pid));
	EXPECT_EQ(0, mappings(pid));
	EXPECT_GE(1, descriptors(pid, NULL));
	ASSERT_EQ(0, kill(pid, SIGCONT));
	if (!variant->only_off) {
		ASSERT_TRUE(stopped(pid));
		EXPECT_EQ(0, mappings(pid));
		EXPECT_EQ(0, descriptors(pid, NULL));
		ASSERT_EQ(0, kill(pid, SIGCONT));
	}
	EXPECT_EQ(0, wait_for(pid));
}

FIXTURE(kept) {
	__u16 *counter;
};

FIXTURE_SETUP(kept)
{
	self->counter = page_alloc();
	ASSERT_NE(NULL, self->counter);
}

FIXTURE_TEARDOWN(kept)
{
	profil_stop();
}

TEST_F(kept, one_descriptor_that_is_out_of_the_way_until_profil_stop)
{
	int i, number = -1;

	EXPECT_EQ(0, descriptors(getpid(), NULL));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, on(self->counter));
		ASSERT_EQ(0, on(self->counter + 1));
		EXPECT_EQ(1, descriptors(getpid(), &number));
		EXPECT_LE(1000, number);
		EXPECT_EQ(FD_CLOEXEC, fcntl(number, F_GETFD));
		ASSERT_EQ(0, off());
		EXPECT_EQ(1, descriptors(getpid(), NULL));
		EXPECT_EQ(0, mappings(getpid()));
	}
	ASSERT_EQ(0, on(self->counter));
	ASSERT_EQ(0, profil_stop());
	EXPECT_EQ(0, descriptors(getpid(), NULL));
	EXPECT_EQ(0, mappings(getpid()));
}

/* Where the limit is low, and where standard input, output and error are closed. */
TEST_F(kept, it_is_none_of_the_first_three)
{
	static const rlim_t limits[] = { 600, 300, 10, 5 };
	struct rlimit limit;
	int number, fd;
	size_t i;

	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &limit));
	for (i = 0; i < ARRAY_SIZE(limits); i++) {
		pid_t pid = fork();

		ASSERT_LE(0, pid);
		if (pid) {
			EXPECT_EQ(0, wait_for(pid))
				TH_LOG("limit %lu", (unsigned long)limits[i]);
			continue;
		}
		limit.rlim_cur = limits[i];
		if (setrlimit(RLIMIT_NOFILE, &limit))
			_exit(1);
		for (fd = 0; fd < 3; fd++)
			close(fd);
		if (on(self->counter))
			_exit(2);
		if (descriptors(getpid(), &number) != 1 || number < 3)
			_exit(3);
		_exit(off() ? 4 : 0);
	}
}

/* Programs close what they do not know, and have its number for something else. */
TEST_F(kept, number_that_is_another_files_by_now_is_left_alone)
{
	char path[] = "/tmp/offXXXXXX", text[8] = "";
	int number = -1, way, fd;

	for (way = 0; way < 3; way++) {
		ASSERT_EQ(0, on(self->counter));
		ASSERT_EQ(1, descriptors(getpid(), &number));
		fd = mkstemp(strcpy(path, "/tmp/offXXXXXX"));
		ASSERT_LE(0, fd);
		ASSERT_EQ(number, dup2(fd, number));
		ASSERT_EQ(4, write(number, "mine", 4));
		EXPECT_EQ(0, way == 0 ? off() : way == 1 ? on(self->counter + 1) : 0);
		EXPECT_EQ(0, profil_stop());
		EXPECT_EQ(0, descriptors(getpid(), NULL));
		EXPECT_EQ(0, mappings(getpid()));
		ASSERT_EQ(4, pread(number, text, sizeof(text), 0));
		EXPECT_STREQ("mine", text);
		close(number);
		close(fd);
		unlink(path);
	}
}

/* Another library has turned it off, and its address is somebody's memory by now. */
TEST_F(kept, address_of_the_anchor_that_is_others_memory_is_left_alone)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
	unsigned long anchor;
	char *memory;
	int way;

	for (way = 0; way < 6; way++) {
		ASSERT_EQ(0, on(self->counter));
		anchor = find_anchor(NULL);
		ASSERT_NE(0, anchor);
		if (way & 1)
			ASSERT_EQ(0, syscall(SYS_close_range, 1000, ~0U, 0));
		ASSERT_EQ(0, munmap((void *)anchor, PAGE));
		memory = mmap((void *)anchor, PAGE, way < 4 ? PROT_READ | PROT_WRITE : PROT_NONE,
			      flags, -1, 0);
		ASSERT_EQ((void *)anchor, memory);
		if (way < 4)
			strcpy(memory, "mine");
		if (way & 2)
			ASSERT_EQ(0, mlock(memory, PAGE));
		/* Memory without access is not locked by its address. */
		if (way >= 4)
			ASSERT_EQ(0, mlockall(MCL_CURRENT));
		EXPECT_EQ(0, off());
		if (way < 4)
			EXPECT_STREQ("mine", memory);
		ASSERT_EQ(0, munlockall());
		/* It is still mapped. */
		EXPECT_EQ(0, mprotect(memory, PAGE, PROT_READ));
		ASSERT_EQ(0, munmap(memory, PAGE));
		EXPECT_EQ(0, mappings(getpid()));
		EXPECT_EQ(0, profil_stop());
		EXPECT_EQ(0, descriptors(getpid(), NULL));
	}
}

/* In a forked child: 0 if @counter is counted after another START, and nothing is left. */
static int begin_anew(__u16 *counter)
{
	if (mappings(getpid()) != 1)
		return 1;
	if (on(counter))
		return 2;
	if (mappings(getpid()) != 1)
		return 3;
	if (!counted(counter, 3) || turn_off(counter))
		return 4;
	return mappings(getpid()) ? 5 : 0;
}

/* The child has the anchor of its parent, and nothing hangs on it. */
TEST_F(kept, child_that_inherited_nothing_leaves_nothing)
{
	struct profil_region region = page_region(hot_a, self->counter);
	struct profil_ioc_start start = {
		.size = sizeof(start),
		.flags = PROFIL_START_F_NOINHERIT,
		.region_num = 1,
		.region_len = sizeof(region),
		.regions_uptr = UPTR(&region),
	};
	int way;

	for (way = 0; way < 2; way++) {
		pid_t pid;

		ASSERT_EQ(0, profil_start(&start));
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid && way)
			_exit(off() || mappings(getpid()));
		if (!pid)
			_exit(begin_anew(self->counter + 1));
		EXPECT_EQ(0, wait_for(pid));
		EXPECT_EQ(1, mappings(getpid()));
	}
	ASSERT_EQ(0, off());
	EXPECT_EQ(0, mappings(getpid()));
}

TEST_F(kept, child_can_turn_off_what_it_inherited)
{
	pid_t pid;

	ASSERT_EQ(0, on(self->counter));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(!counted(self->counter, 3) || turn_off(self->counter) ||
		      mappings(getpid()) || profil_stop() || descriptors(getpid(), NULL));
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_TRUE(counted(self->counter, 3));
	EXPECT_EQ(1, mappings(getpid()));
	EXPECT_EQ(0, turn_off(self->counter));
}

/* START of no region is an end that leaves the counts. */
TEST_F(kept, counts_can_be_read_after_an_end_by_start)
{
	struct profil_ioc_start none = { .size = sizeof(none) };
	struct profil_ioc_stats stats = { .size = sizeof(stats) };

	ASSERT_EQ(0, on(self->counter));
	ASSERT_TRUE(counted(self->counter, 3));
	ASSERT_EQ(0, profil_start(&none));
	ASSERT_EQ(0, profil_stats(&stats));
	EXPECT_EQ(PROFIL_STATE_OFF, stats.out_state);
	EXPECT_EQ(stats.out_in_range, *self->counter);
	EXPECT_EQ(1, mappings(getpid()));
	ASSERT_EQ(0, off());
	EXPECT_EQ(0, mappings(getpid()));
	EXPECT_EQ(-1, profil_stats(&stats));
	EXPECT_EQ(ENOENT, errno);
}

static void *on_and_off(void *counter)
{
	int i, failed = 0;

	for (i = 0; i < 300; i++) {
		failed += on(counter) != 0;
		failed += i % 16 ? off() != 0 : profil_stop() != 0;
	}
	return failed ? counter : NULL;
}

TEST_F(kept, threads_that_start_and_end_leave_one_descriptor_at_most)
{
	struct profil_ioc_stats stats;
	pthread_t thread[3];
	size_t i;
	void *ret;
	int fd;

	for (i = 0; i < ARRAY_SIZE(thread); i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, on_and_off, self->counter));
	for (i = 0; i < ARRAY_SIZE(thread); i++) {
		ASSERT_EQ(0, pthread_join(thread[i], &ret));
		EXPECT_EQ(NULL, ret);
	}
	EXPECT_GE(1, descriptors(getpid(), NULL));
	fd = profil_open();
	ASSERT_LE(0, fd);
	EXPECT_TRUE(raw_stats(fd, &stats) || stats.out_state == PROFIL_STATE_OFF);
	close(fd);
	/* And is there for another one. */
	ASSERT_EQ(0, on(self->counter));
	EXPECT_TRUE(counted(self->counter, 3));
	EXPECT_EQ(0, turn_off(self->counter));
	EXPECT_EQ(0, profil_stop());
	EXPECT_EQ(0, descriptors(getpid(), NULL));
}

TEST_HARNESS_MAIN
