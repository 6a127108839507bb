// SPDX-License-Identifier: GPL-2.0-only
/*
 * What /dev/profil must not give away, and to whom: other memory, kernel
 * addresses, other programs' code, more than one's share.  Each test is a
 * statement of Documentation/security.rst; those that are not here are tested
 * where that file says.
 */
#include <dirent.h>
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <poll.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/sched.h>
#include <linux/seccomp.h>

#include "ticks.h"

#define USER		1000
#define OTHER_USER	1001

#define KERNEL_HALF	(1ULL << 63)
#define USER_LIMIT	(1ULL << 56)	/* of any machine's user addresses */

FIXTURE(security) {
	int fd;
	__u16 *counter;		/* a page that forked children share */
	struct profil_ioc_stats stats;
};

static void *shared_page(void)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return page == MAP_FAILED ? NULL : page;
}

FIXTURE_SETUP(security)
{
	self->fd = profil_open();
	ASSERT_LE(0, self->fd);
	self->counter = shared_page();
	ASSERT_NE(NULL, self->counter);
}

FIXTURE_TEARDOWN(security)
{
	close(self->fd);
}

/* Stops with all that was counted in @counter: 0, or where it went wrong. */
static int check_all_in(int fd, const __u16 *counter, __u64 least)
{
	struct profil_ioc_stats stats;

	if (!settle(fd, &stats) || profil_stop(fd) || profil_stats(fd, &stats))
		return 81;
	if (!check_identity(&stats) || lost_before_the_end(&stats))
		return 82;
	if (stats.out_in_range != *counter || *counter < least)
		return 83;
	return 0;
}

/* Memory */

struct place {
	__u64 addr, end;
	bool writable, executable;
};

static int list_mappings(struct place *places, int max)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512], prot[8];
	unsigned long long start, end;
	int num = 0;

	while (maps && num < max && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%llx-%llx %7s", &start, &end, prot) == 3)
			places[num++] = (struct place){
				start, end, prot[1] == 'w', prot[2] == 'x',
			};
	if (maps)
		fclose(maps);
	return num;
}

TEST_F(security, of_all_mappings_those_that_may_be_written_are_taken)
{
	static const int prots[] = {
		PROT_NONE, PROT_READ, PROT_EXEC, PROT_READ | PROT_EXEC,
		PROT_WRITE, PROT_READ | PROT_WRITE,
	};
	struct profil_region region = page_region((void *)CODE_BEGIN, NULL);
	struct place places[100];
	int i, num, taken = 0;

	for (i = 0; i < (int)ARRAY_SIZE(prots); i++) {
		ASSERT_NE(MAP_FAILED, mmap(NULL, PAGE, prots[i], MAP_PRIVATE |
					   MAP_ANONYMOUS, -1, 0));
		ASSERT_NE(MAP_FAILED, mmap(NULL, PAGE, prots[i], MAP_SHARED |
					   MAP_ANONYMOUS, -1, 0));
	}
	/* The program, its stack, the vdso and what the kernel shows in it. */
	num = list_mappings(places, ARRAY_SIZE(places) - 1);
	ASSERT_LT(12, num);
	ASSERT_GT((int)ARRAY_SIZE(places) - 1, num);
	/* vsyscall, also where it is not listed */
	places[num++] = (struct place){ .addr = 0xffffffffff600000ULL };
	for (i = 0; i < num; i++) {
		region.buf_uptr = places[i].addr;
		EXPECT_EQ(places[i].writable ? 0 : -ENXIO,
			  profil_start(self->fd, &region, 1))
			TH_LOG("%llx", (unsigned long long)places[i].addr);
		EXPECT_EQ(0, profil_stop(self->fd));
		taken += places[i].writable;
	}
	EXPECT_LE(4, taken);
	EXPECT_LE(9, num - taken);
}

/* A histogram of as many mappings as pages. */
#define MAPPINGS	500
#define REGIONS		4096
#define LOOKS		4
#define SIGHTS		3

static void *mappings_alloc(void)
{
	char *page = mmap(NULL, MAPPINGS * PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i;

	for (i = 0; page != MAP_FAILED && i < MAPPINGS; i += 2)
		if (madvise(page + i * PAGE, PAGE, MADV_DONTDUMP))
			return NULL;
	return page == MAP_FAILED ? NULL : page;
}

/* A thread that calls START for many times the same histogram. */
struct starter {
	pthread_t thread;
	int fd, ret;
	struct profil_region regions[REGIONS];
	volatile pid_t tid;
	volatile bool done;
};

static void *starter_fn(void *arg)
{
	struct starter *starter = arg;

	starter->tid = syscall(SYS_gettid);
	starter->ret = profil_start(starter->fd, starter->regions, REGIONS);
	starter->done = true;
	return NULL;
}

static int starter_start(struct starter *starter, void *page)
{
	int i;

	for (i = 0; i < REGIONS; i++) {
		starter->regions[i] = page_region((void *)CODE_BEGIN, page);
		starter->regions[i].bytes = MAPPINGS * PAGE;
	}
	starter->tid = 0;
	starter->done = false;
	return pthread_create(&starter->thread, NULL, starter_fn, starter);
}

/*
 * Whether the thread, which does not run just now, is looking at histograms, and has run since
 * this was so before: @switches are those that it had then.
 */
static bool starter_looks(const struct starter *starter, unsigned long *switches)
{
	static const char name[] = "\nnonvoluntary_ctxt_switches:";
	char path[64], text[4096], *line;
	unsigned long before = *switches;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stack", starter->tid);
	if (read_file(path, text, sizeof(text)) || !strstr(text, "profil_set_check"))
		return false;
	snprintf(path, sizeof(path), "/proc/self/task/%d/status", starter->tid);
	if (read_file(path, text, sizeof(text)))
		return false;
	line = strstr(text, name);
	if (line)
		*switches = strtoul(line + strlen(name), NULL, 10);
	return *switches != before;
}

/*
 * START looks at all mappings of one histogram, 4096 times.  Amid that another thread
 * takes one of them away.  If it had to wait for all of the looking, START would not
 * notice.  On one CPU: whoever asks there what the other thread does finds it at rest.  The
 * first time that is before it has locked anything; the third time it has done so for long.
 */
TEST_F(security, start_of_many_mappings_keeps_nobody_from_the_address_space)
{
	static struct starter starter;
	void *page = NULL;
	unsigned long switches;
	int looks = 0, sights;
	bool seen;

	if (access("/proc/self/stack", R_OK))
		SKIP(return, "only root sees where a thread is in the kernel");
	pin(0);
	starter.fd = self->fd;
	/* All may be over before it is seen. */
	while (looks < LOOKS) {
		page = page ?: mappings_alloc();
		ASSERT_NE(NULL, page);
		ASSERT_EQ(0, starter_start(&starter, page));
		sights = 0;
		switches = 0;
		while (!starter.done && sights < SIGHTS)
			sights += starter_looks(&starter, &switches);
		seen = sights == SIGHTS;
		if (seen)
			ASSERT_EQ(0, munmap(page, PAGE));
		ASSERT_EQ(0, pthread_join(starter.thread, NULL));
		ASSERT_EQ(seen ? -ENXIO : 0, starter.ret);
		if (seen)
			munmap(page, MAPPINGS * PAGE);
		page = seen ? NULL : page;
		looks += seen;
	}
}

TEST_F(security, memory_that_only_another_process_has_is_refused)
{
	volatile __u16 *page = page_alloc();
	int go[2];
	pid_t pid;
	char c;

	ASSERT_NE(NULL, (void *)page);
	ASSERT_EQ(0, pipe(go));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(read(go[0], &c, 1) != 1 || *page);
	ASSERT_EQ(0, munmap((void *)page, PAGE));
	EXPECT_EQ(-ENXIO, profil_start_page(self->fd, hot_a, (void *)page));
	burn_uncounted(self->fd, hot_a, 5);
	ASSERT_EQ(1, write(go[1], "x", 1));
	EXPECT_EQ(0, wait_for(pid));
}

TEST_F(security, protection_key_denies_the_kernel_what_it_denies_the_thread)
{
	struct profil_ioc_query query;
	bool own;
	__u16 was;
	int key = pkey_alloc(0, 0);

	if (key < 0)
		SKIP(return, "no protection keys: %s", strerror(errno));
	ASSERT_EQ(0, profil_query(self->fd, &query));
	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->counter));
	ASSERT_TRUE(burn(self->fd, hot_a, 10));
	ASSERT_TRUE(settle(self->fd, &self->stats));
	EXPECT_EQ(0, self->stats.out_lost);

	ASSERT_EQ(0, pkey_set(key, PKEY_DISABLE_WRITE));
	ASSERT_EQ(0, pkey_mprotect(self->counter, PAGE, PROT_READ | PROT_WRITE,
				   key));
	was = *self->counter;
	ASSERT_TRUE(burn(self->fd, hot_a, 40));
	ASSERT_TRUE(settle(self->fd, &self->stats));
	EXPECT_EQ(was, *self->counter);
	EXPECT_EQ(was, self->stats.out_in_range);
	EXPECT_LT(5, self->stats.out_lost_denied);
	EXPECT_EQ(self->stats.out_lost, self->stats.out_lost_denied);
	EXPECT_TRUE(check_identity(&self->stats));

	/* A worker has the rights of a new thread: key 0 and no other. */
	own = query.out_features & PROFIL_FEATURE_TASK_WORK ||
	      !(query.out_features & PROFIL_FEATURE_DEFERRED);
	ASSERT_EQ(0, pkey_set(key, 0));
	ASSERT_TRUE(burn(self->fd, hot_a, 20));
	ASSERT_TRUE(settle(self->fd, &self->stats));
	ASSERT_EQ(0, profil_stop(self->fd));
	ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
	EXPECT_EQ(self->stats.out_in_range, *self->counter);
	EXPECT_EQ(own, *self->counter > was);
}

/* What is seen */

static int zero_fd;
static char *sink;

#define SINK	(1UL << 20)

static void kernel_time(unsigned long rounds)
{
	read_loop(zero_fd, sink, SINK, 1 + rounds / HOT_ROUNDS);
}

/*
 * The first counter has what is in no code of this process, and each of its executable
 * mappings as many counters as it needs.
 */
static int start_own_code(int fd, __u16 *counter, __u32 flags)
{
	struct place places[100];
	struct profil_region regions[ARRAY_SIZE(places) + 1];
	int i, places_num = list_mappings(places, ARRAY_SIZE(places)), num = 0;
	__u16 *next = counter + 1;

	regions[num++] = any_region(counter);
	for (i = 0; i < places_num; i++) {
		if (!places[i].executable || places[i].addr >= USER_LIMIT)
			continue;
		regions[num] = page_region((void *)(uintptr_t)places[i].addr, next);
		regions[num].bytes = (places[i].end - places[i].addr) / PAGE * sizeof(*next);
		next += regions[num++].bytes / sizeof(*next);
	}
	if (num < 2 || next > counter + PAGE / sizeof(*next))
		return -ENOSPC;
	return profil_start_flags(fd, regions, num, flags);
}

TEST_F(security, no_kernel_code_is_in_a_histogram)
{
	__u64 before;

	zero_fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, zero_fd);
	sink = malloc(SINK);
	ASSERT_NE(NULL, sink);
	/* That it is in the kernel for most of its time, */
	ASSERT_EQ(0, start_own_code(self->fd, self->counter, PROFIL_START_F_USER_ONLY));
	do {
		kernel_time(1);
		ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
	} while (self->stats.out_system < 30);
	ASSERT_EQ(0, profil_stop(self->fd));
	ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
	before = self->stats.out_ticks - self->stats.out_in_range;
	EXPECT_EQ(before - self->stats.out_lost_stopped, self->stats.out_system);
	/* where all is counted, and none of it there. */
	ASSERT_EQ(0, start_own_code(self->fd, self->counter, 0));
	ASSERT_TRUE(burn(self->fd, kernel_time, 60));
	ASSERT_TRUE(settle(self->fd, &self->stats));
	ASSERT_EQ(0, profil_stop(self->fd));
	ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
	EXPECT_LT(20, self->stats.out_deferred);
	EXPECT_EQ(0, self->counter[0]);
	/* And a tick that found the process in one of the calls that ended it. */
	EXPECT_EQ(self->stats.out_ticks - self->stats.out_system -
		  self->stats.out_lost_stopped, sum_u16(self->counter, PAGE / 2));
}

TEST_F(security, code_of_another_process_is_not_seen)
{
	struct profil_region regions[] = {
		page_region(hot_a, self->counter),
		page_region(hot_b, self->counter + 1),
	};
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid)
		for (;;)
			hot_b(HOT_ROUNDS);
	ASSERT_EQ(0, profil_start(self->fd, regions, ARRAY_SIZE(regions)));
	ASSERT_TRUE(burn(self->fd, hot_a, 60));
	ASSERT_EQ(0, kill(pid, SIGKILL));
	EXPECT_EQ(-SIGKILL, wait_for(pid));
	EXPECT_EQ(0, check_all_in(self->fd, self->counter, 20));
	EXPECT_EQ(0, self->counter[1]);
}

/* Nothing but counts, flags and user addresses; all of it written. */
static bool harmless(const void *answer, size_t size)
{
	const __u64 *word = answer;

	for (; size; size -= sizeof(*word), word++)
		if (*word >= USER_LIMIT && (*word & UINT_MAX) >= 1 << 16) {
			printf("# an answer has %llx\n", (long long)*word);
			return false;
		}
	return true;
}

static bool answers_are_harmless(int fd)
{
	struct profil_ioc_stats stats;
	struct profil_ioc_query query;

	memset(&stats, 0xa5, sizeof(stats));
	stats.size = sizeof(stats);
	stats.flags = 0;
	stats.cookie = 0;
	memset(&query, 0xa5, sizeof(query));
	query.size = sizeof(query);
	query.flags = 0;
	/* The first words are two numbers of 32 bits each. */
	return !profil_ioctl(fd, PROFIL_IOC_STATS, &stats) &&
	       stats.out_state <= PROFIL_STATE_FAULT && !stats.out_rate &&
	       harmless(&stats.out_ticks, sizeof(stats) -
			offsetof(struct profil_ioc_stats, out_ticks)) &&
	       !profil_ioctl(fd, PROFIL_IOC_QUERY, &query) &&
	       query.out_abi == PROFIL_ABI && query.out_features <= 7 &&
	       query.out_tick_ns <= 1000000000 && query.out_tick_hz <= 10000 &&
	       query.out_hook <= PROFIL_HOOK_HRTIMER &&
	       query.out_hooks_lost < 1000 && query.out_regions_max <= 65536 &&
	       query.out_start_flags <= 3 && query.out_region_flags <= 15 &&
	       query.out_sources <= 3;
}

TEST_F(security, no_answer_holds_a_kernel_address)
{
	unsigned int seed = 1, faults = 0, i;
	struct profil_region region;
	__u16 *counter;
	pid_t pid;

	zero_fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, zero_fd);
	sink = malloc(SINK);
	ASSERT_NE(NULL, sink);
	for (i = 0; i < 60; i++) {
		counter = page_alloc();
		ASSERT_NE(NULL, counter);
		region = any_region(counter);
		ASSERT_EQ(0, profil_start(self->fd, &region, 1));
		ASSERT_TRUE(burn(self->fd, i & 1 ? kernel_time : hot_a, 2));
		EXPECT_TRUE(answers_are_harmless(self->fd));
		switch (rand_r(&seed) % 5) {
		case 0:
			munmap(counter, PAGE);
			ASSERT_TRUE(burn_until_state(self->fd, hot_a,
						     PROFIL_STATE_FAULT,
						     &self->stats));
			EXPECT_EQ(UPTR(counter), self->stats.out_fault_addr);
			faults++;
			break;
		case 1:
			pid = fork();
			ASSERT_LE(0, pid);
			if (!pid)
				_exit(!burn(self->fd, hot_b, 1) ||
				      !answers_are_harmless(self->fd));
			EXPECT_EQ(0, wait_for(pid));
			break;
		case 2:
			EXPECT_EQ(0, profil_stop(self->fd));
			break;
		case 3:
			munmap((void *)find_anchor(NULL), PAGE);
			ASSERT_EQ(0, profil_start(self->fd, &region, 1));
			break;
		default:
			region.buf_uptr = KERNEL_HALF;
			EXPECT_EQ(-ENXIO, profil_start(self->fd, &region, 1));
		}
		EXPECT_TRUE(answers_are_harmless(self->fd));
	}
	EXPECT_LT(3, faults);
}

/* Other programs, other rights */

static int setuid_image(void)
{
	int fd = profil_open();

	if (fd < 0 || geteuid() || getuid() != USER)
		return 1;
	burn_uncounted(fd, hot_a, 10);
	return 0;
}

/* In a process of a user, who watches the memory that both share. */
static int run_setuid(const char *path, __u16 *counter)
{
	struct profil_ioc_stats stats;
	int fd, ret;
	__u16 was;
	pid_t pid;

	if (become(USER))
		return 1;
	fd = profil_open();
	if (fd < 0 || profil_start_page(fd, hot_a, counter) ||
	    !burn(fd, hot_a, 40) || !settle(fd, &stats))
		return 2;
	pid = fork();
	if (!pid) {
		/* It is profiled into the same memory, until it executes. */
		if (profil_stats(fd, &stats) ||
		    stats.out_state != PROFIL_STATE_ON)
			_exit(2);
		if (!burn(fd, hot_a, 5) || !settle(fd, &stats))
			_exit(3);
		raise(SIGSTOP);
		execl(path, path, "--executed-setuid", NULL);
		_exit(4);
	}
	if (pid < 0 || waitpid(pid, &ret, WUNTRACED) != pid || !WIFSTOPPED(ret))
		return 3;
	was = *(volatile __u16 *)counter;
	kill(pid, SIGCONT);
	ret = wait_for(pid);
	if (ret)
		return 10 + ret;
	return was < 5 || was != *(volatile __u16 *)counter ? 4 : 0;
}

TEST_F(security, setuid_program_leaves_the_histogram_of_its_caller_alone)
{
	char path[] = "/tmp/profil_security_XXXXXX";
	pid_t pid;

	if (geteuid())
		SKIP(return, "only root can make a program that is root's");
	ASSERT_EQ(0, make_setuid(path));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(run_setuid(path, self->counter));
	EXPECT_EQ(0, wait_for(pid));
	unlink(path);
}

TEST_F(security, mode_of_the_device_is_the_administrators)
{
	struct stat stat;
	pid_t pid;
	int fd;

	if (geteuid())
		SKIP(return, "only root can change the mode of the device");
	ASSERT_EQ(0, fstat(self->fd, &stat));
	EXPECT_EQ(0666, stat.st_mode & 0777);
	ASSERT_EQ(0, chmod("/dev/profil", 0600));
	pid = fork();
	if (!pid) {
		if (become(USER))
			_exit(1);
		fd = profil_open();
		if (fd >= 0 || errno != EACCES)
			_exit(2);
		/* A descriptor that root hands over is leave enough. */
		if (profil_start_page(self->fd, hot_a, self->counter) ||
		    !burn(self->fd, hot_a, 20))
			_exit(3);
		_exit(check_all_in(self->fd, self->counter, 1));
	}
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_EQ(0, chmod("/dev/profil", stat.st_mode & 0777));
}

/* Runs until @counter has grown by @ticks, without a system call. */
static bool burn_silently(const volatile __u16 *counter, __u16 ticks)
{
	__u16 end = *counter + ticks;
	int i;

	for (i = 0; i < 20000 && *counter < end; i++)
		hot_a(HOT_ROUNDS);
	return *counter >= end;
}

TEST_F(security, seccomp_strict_mode_is_counted_without_a_system_call)
{
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid) {
		if (profil_start_page(self->fd, hot_a, self->counter) ||
		    prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
			_exit(1);
		/* Not exit_group(), which is forbidden from now on. */
		syscall(SYS_exit, burn_silently(self->counter, 30) ? 0 : 2);
	}
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_LE(30, *(volatile __u16 *)self->counter);
}

TEST_F(security, seccomp_filter_forbids_ioctl_and_open_and_no_tick)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { ARRAY_SIZE(filter), filter };
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid) {
		if (profil_start_page(self->fd, hot_a, self->counter) ||
		    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
			_exit(1);
		if (profil_open() >= 0 || errno != EPERM)
			_exit(2);
		if (profil_stats(self->fd, &self->stats) != -EPERM ||
		    profil_stop(self->fd) != -EPERM ||
		    profil_start_page(self->fd, hot_b, self->counter) != -EPERM)
			_exit(3);
		_exit(burn_silently(self->counter, 30) ? 0 : 4);
	}
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_LE(30, *(volatile __u16 *)self->counter);
}

/* From now on no file can be opened for reading: 0, or minus the errno. */
static int confine(void)
{
	const struct landlock_ruleset_attr attr = {
		.handled_access_fs = LANDLOCK_ACCESS_FS_READ_FILE,
	};
	int rules = syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);

	if (rules < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_landlock_restrict_self, rules, 0))
		return -errno;
	close(rules);
	return 0;
}

TEST_F(security, landlock_is_asked_at_open_and_not_at_start)
{
	void *anchor;
	pid_t pid;

	/* As it asks for its version. */
	if (syscall(SYS_landlock_create_ruleset, NULL, 0, 1) < 0)
		SKIP(return, "no Landlock: %s", strerror(errno));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		if (profil_start_page(self->fd, hot_a, self->counter))
			_exit(1);
		anchor = (void *)find_anchor(NULL);
		if (confine() || profil_open() >= 0 || errno != EACCES)
			_exit(2);
		if (!burn(self->fd, hot_a, 10))
			_exit(3);
		/* With an anchor START opens nothing, and without one as before. */
		if (profil_start_page(self->fd, hot_a, self->counter) ||
		    !burn(self->fd, hot_a, 10))
			_exit(4);
		if (munmap(anchor, PAGE))
			_exit(5);
		_exit(profil_start_page(self->fd, hot_a, self->counter) ||
		      !burn(self->fd, hot_a, 10) ? 6 : 0);
	}
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_LT(5, *(volatile __u16 *)self->counter);
}

TEST_F(security, process_that_is_not_dumpable_profiles_itself)
{
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid) {
		if (become(USER) || prctl(PR_SET_DUMPABLE, 0))
			_exit(1);
		if (open("/proc/self/mem", O_RDWR | O_CLOEXEC) >= 0)
			_exit(2);
		if (profil_start_page(self->fd, hot_a, self->counter) ||
		    !burn(self->fd, hot_a, 40))
			_exit(3);
		_exit(check_all_in(self->fd, self->counter, 3));
	}
	EXPECT_EQ(0, wait_for(pid));
}

/* The anchor is charged to the address space as any mapping. */
TEST_F(security, address_space_without_room_gets_no_anchor)
{
	const struct rlimit full = { 0, RLIM_INFINITY };
	const struct rlimit room = { RLIM_INFINITY, RLIM_INFINITY };
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid) {
		if (setrlimit(RLIMIT_AS, &full))
			_exit(1);
		if (profil_start_page(self->fd, hot_a, self->counter) !=
		    -ENOMEM)
			_exit(2);
		if (profil_stats(self->fd, &self->stats) != -ENOENT)
			_exit(3);
		if (setrlimit(RLIMIT_AS, &room) ||
		    profil_start_page(self->fd, hot_a, self->counter) ||
		    setrlimit(RLIMIT_AS, &full))
			_exit(4);
		/* One that is there is enough. */
		if (profil_start_page(self->fd, hot_a, self->counter) ||
		    !burn(self->fd, hot_a, 20))
			_exit(5);
		_exit(check_all_in(self->fd, self->counter, 1));
	}
	EXPECT_EQ(0, wait_for(pid));
}

/* As any mapping, it is locked where all are. */
TEST_F(security, address_space_that_is_locked_needs_room_for_the_anchor)
{
	struct rlimit room = { 0, 0 };
	pid_t pid;

	if (geteuid())
		SKIP(return, "only root can become another user");
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		if (mlockall(MCL_FUTURE) || setrlimit(RLIMIT_MEMLOCK, &room) ||
		    become(USER))
			_exit(1);
		_exit(profil_start_page(self->fd, hot_a, self->counter) != -EAGAIN);
	}
	EXPECT_EQ(0, wait_for(pid));
}

/* From outside: tracers, dumps */

/* What a child tells by the page behind its counter. */
struct told {
	volatile __u16 counter;
	volatile bool ready, stop;
	volatile unsigned long anchor;
};

/* The way there that is open, of all there are; else nothing. */
static const char *reach_anchor(pid_t pid, unsigned long anchor)
{
	char buf[8] = "unequal", path[64];
	struct iovec here = { buf, sizeof(buf) };
	struct iovec there = { (void *)anchor, sizeof(buf) };
	const char *how = "";
	void *at;
	int file;

	if (process_vm_readv(pid, &here, 1, &there, 1, 0) >= 0)
		return "process_vm_readv";
	if (process_vm_writev(pid, &here, 1, &there, 1, 0) >= 0)
		return "process_vm_writev";
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	file = open(path, O_RDWR | O_CLOEXEC);
	if (file < 0)
		return "no /proc/PID/mem";
	if (pread64(file, buf, sizeof(buf), anchor) >= 0)
		how = "read of /proc/PID/mem";
	else if (pwrite64(file, buf, sizeof(buf), anchor) >= 0)
		how = "write to /proc/PID/mem";
	close(file);
	if (*how)
		return how;
	errno = 0;
	if (ptrace(PTRACE_PEEKDATA, pid, (void *)anchor, NULL) != -1 || !errno)
		return "PTRACE_PEEKDATA";
	if (!ptrace(PTRACE_POKEDATA, pid, (void *)anchor, NULL))
		return "PTRACE_POKEDATA";
	snprintf(path, sizeof(path), "/proc/%d/map_files/%lx-%lx", pid, anchor,
		 anchor + PAGE);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return "no file in /proc/PID/map_files";
	at = mmap(NULL, PAGE, PROT_NONE, MAP_SHARED, file, 0);
	close(file);
	return at == MAP_FAILED && errno == EINVAL ? "" : "mmap";
}

static bool attach(pid_t pid)
{
	int status;

	return !ptrace(PTRACE_ATTACH, pid, NULL, NULL) &&
	       waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status);
}

TEST_F(security, anchor_is_out_of_reach_from_outside)
{
	struct told *told = (void *)self->counter;
	__u16 was;
	pid_t pid;

	if (geteuid())
		SKIP(return, "root, who may do the most, has to try");
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		if (profil_start_page(self->fd, hot_a, (void *)&told->counter))
			_exit(1);
		told->anchor = find_anchor(NULL);
		told->ready = true;
		while (!told->stop)
			hot_a(HOT_ROUNDS);
		_exit(check_all_in(self->fd, (void *)&told->counter, 5));
	}
	while (!told->ready)
		usleep(1000);
	ASSERT_TRUE(attach(pid));
	ASSERT_NE(0, told->anchor);
	EXPECT_STREQ("", reach_anchor(pid, told->anchor));
	was = told->counter;
	ASSERT_EQ(0, ptrace(PTRACE_DETACH, pid, NULL, NULL));
	while (told->counter < was + 5)
		usleep(1000);
	told->stop = true;
	EXPECT_EQ(0, wait_for(pid));
}

/* The tracee: each tick that the kernel saw is one that profil saw. */
static int be_traced(int fd, struct told *told)
{
	__u64 events_first, events_last;
	struct profil_ioc_stats first, last;
	struct instance instance;
	pid_t tid = getpid();

	if (instance_create(&instance) ||
	    instance_watch(&instance, &tid, 1, ALL_TICKS) ||
	    profil_start_page(fd, hot_a, (void *)&told->counter) ||
	    !take_pair(&instance, fd, &events_first, &first))
		return 1;
	told->ready = true;
	while (!told->stop)
		hot_a(HOT_ROUNDS);
	if (!take_pair(&instance, fd, &events_last, &last))
		return 2;
	if (events_last - events_first != last.out_ticks - first.out_ticks)
		return 3;
	return check_all_in(fd, (void *)&told->counter, 60);
}

TEST_F(security, tracer_reads_the_histogram_and_loses_no_tick)
{
	struct told *told = (void *)self->counter;
	__u16 peeked, was = 0;
	pid_t pid;
	int i;

	if (geteuid())
		SKIP(return, "only root has the kernel's own count of ticks");
	ASSERT_EQ(0, event_create());
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(be_traced(self->fd, told));
	while (!told->ready)
		usleep(1000);
	for (i = 0; i < 30; i++) {
		while (told->counter < was + 2)
			usleep(1000);
		ASSERT_TRUE(attach(pid));
		peeked = ptrace(PTRACE_PEEKDATA, pid, (void *)&told->counter,
				NULL);
		EXPECT_LE(was + 2, peeked);
		was = peeked;
		ASSERT_EQ(0, ptrace(PTRACE_DETACH, pid, NULL, NULL));
	}
	told->stop = true;
	EXPECT_EQ(0, wait_for(pid));
	event_remove();
}

/* Finds the segment of a core file that holds @addr. */
static bool core_segment(int core, unsigned long addr, ElfW(Phdr) *segment)
{
	ElfW(Ehdr) head;
	off64_t at;
	int i;

	if (pread64(core, &head, sizeof(head), 0) != sizeof(head) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_type != ET_CORE)
		return false;
	for (i = 0; i < head.e_phnum; i++) {
		at = head.e_phoff + i * sizeof(*segment);
		if (pread64(core, segment, sizeof(*segment), at) ==
		    sizeof(*segment) && segment->p_type == PT_LOAD &&
		    addr - segment->p_vaddr < segment->p_memsz)
			return true;
	}
	return false;
}

#define CORE_PATTERN	"/proc/sys/kernel/core_pattern"

static void die_profiled(int fd, struct told *told)
{
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	struct burner burner;

	/* All there is, of shared and of file mappings too. */
	if (setrlimit(RLIMIT_CORE, &unlimited) ||
	    write_file("/proc/self/coredump_filter", 0, "0xff") ||
	    profil_start_page(fd, hot_a, (void *)&told->counter) ||
	    burner_start(&burner, hot_a) || !burn(fd, hot_a, 20))
		_exit(1);
	told->anchor = find_anchor(NULL);
	abort();
}

TEST_F(security, core_dump_has_the_histogram_and_nothing_of_the_anchor)
{
	struct told *told = (void *)self->counter;
	char pattern[256], path[64];
	ElfW(Phdr) segment;
	__u16 dumped = 0;
	int status, core;
	pid_t pid;

	if (geteuid())
		SKIP(return, "only root can say where core dumps go");
	ASSERT_EQ(0, read_file(CORE_PATTERN, pattern, sizeof(pattern)));
	ASSERT_EQ(0, write_file(CORE_PATTERN, 0, "/tmp/profil_core.%p"));
	pid = fork();
	if (!pid)
		die_profiled(self->fd, told);
	EXPECT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, write_file(CORE_PATTERN, 0, pattern));
	ASSERT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(SIGABRT, WTERMSIG(status));
	EXPECT_TRUE(WCOREDUMP(status));

	snprintf(path, sizeof(path), "/tmp/profil_core.%d", pid);
	core = open(path, O_RDONLY | O_CLOEXEC);
	unlink(path);
	ASSERT_LE(0, core);
	ASSERT_NE(0, told->anchor);
	ASSERT_TRUE(core_segment(core, told->anchor, &segment));
	EXPECT_EQ(0, segment.p_flags);
	EXPECT_EQ(0, segment.p_filesz);
	ASSERT_TRUE(core_segment(core, UPTR(told), &segment));
	EXPECT_EQ(sizeof(dumped),
		  pread64(core, &dumped, sizeof(dumped), segment.p_offset +
			  UPTR(told) - segment.p_vaddr));
	EXPECT_LT(3, dumped);
	EXPECT_GE(told->counter, dumped);
	close(core);
}

/* Limits */

#define KNOBS		"/sys/module/profil/parameters/"

static const char *const knobs[] = {
	"max_profiles_user", "max_regions_user", "max_records_user",
	"max_workers_user", "max_profiles",
};

/* The children of a test: of any user, each with a profile or without. */
FIXTURE(limits) {
	int fd;
	char was[ARRAY_SIZE(knobs)][32];
	int num;
	pid_t pids[20];
	__u16 *counter;
	struct profil_ioc_query query;
};

static int set_knob(const char *knob, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), KNOBS "%s", knob);
	return write_file(path, 0, value);
}

FIXTURE_SETUP(limits)
{
	char path[128];
	size_t i;

	if (geteuid())
		SKIP(return, "only root can set limits");
	self->fd = profil_open();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, profil_query(self->fd, &self->query));
	self->counter = shared_page();
	ASSERT_NE(NULL, self->counter);
	for (i = 0; i < ARRAY_SIZE(knobs); i++) {
		snprintf(path, sizeof(path), KNOBS "%s", knobs[i]);
		ASSERT_EQ(0, read_file(path, self->was[i],
				       sizeof(self->was[i])))
			TH_LOG("%s", path);
	}
}

FIXTURE_TEARDOWN(limits)
{
	size_t i;

	if (geteuid())
		return;
	while (self->num) {
		kill(self->pids[--self->num], SIGKILL);
		waitpid(self->pids[self->num], NULL, 0);
	}
	for (i = 0; i < ARRAY_SIZE(knobs); i++)
		EXPECT_EQ(0, set_knob(knobs[i], self->was[i]));
	close(self->fd);
}

/* As many regions as wanted, where there is no code. */
static int start_many(int fd, __u16 *counter, __u32 num)
{
	/* Static, so that only the first time takes memory of the program. */
	static struct profil_region regions[4096];
	__u32 i;

	for (i = 0; i < num; i++)
		regions[i] = page_region((void *)CODE_BEGIN, counter);
	return profil_start(fd, regions, num);
}

/* START until what ended processes had was given back, which is later. */
static int start_patiently(int fd, __u16 *counter, __u32 num)
{
	int ret;

	while ((ret = start_many(fd, counter, num)) == -ENOSPC)
		usleep(5000);
	return ret;
}

enum how {
	OUTSIDE,
	NAMESPACE,	/* a child namespace of users */
	PATIENT = 2,	/* beside these: wait for what ended processes had */
};

/*
 * START of @num regions in a new process of @uid, which keeps them until the
 * test ends: what it returned, or something positive.
 */
static int hold(FIXTURE_DATA(limits) *self, uid_t uid, __u32 num,
		unsigned int how)
{
	int answer[2], ret = 1;
	pid_t pid;

	if (self->num == ARRAY_SIZE(self->pids) || pipe(answer))
		return 2;
	pid = fork();
	if (!pid) {
		if (become(uid))
			ret = 3;
		else if (how & NAMESPACE && enter_namespace())
			ret = 4;
		else if (!set_knob("max_profiles_user", "1000000"))
			ret = 5;
		else
			ret = (how & PATIENT ? start_patiently : start_many)
				(self->fd, self->counter, num);
		if (write(answer[1], &ret, sizeof(ret)) != sizeof(ret))
			_exit(1);
		for (;;)
			pause();
	}
	close(answer[1]);
	if (pid > 0)
		self->pids[self->num++] = pid;
	if (read(answer[0], &ret, sizeof(ret)) != sizeof(ret))
		ret = 6;
	close(answer[0]);
	return ret;
}

TEST_F(limits, are_those_of_the_user_in_any_namespace)
{
	ASSERT_EQ(0, set_knob("max_profiles_user", "2"));
	EXPECT_EQ(0, hold(self, USER, 1, OUTSIDE | PATIENT));
	EXPECT_EQ(0, hold(self, USER, 1, NAMESPACE | PATIENT));
	EXPECT_EQ(-ENOSPC, hold(self, USER, 1, OUTSIDE));
	EXPECT_EQ(-ENOSPC, hold(self, USER, 1, NAMESPACE));
	EXPECT_EQ(-ENOSPC, hold(self, USER, 1, NAMESPACE));
	/* Whose 0 is another user has limits of his own, and so has root. */
	EXPECT_EQ(0, hold(self, OTHER_USER, 1, NAMESPACE | PATIENT));
	EXPECT_EQ(0, hold(self, OTHER_USER, 1, OUTSIDE | PATIENT));
	EXPECT_EQ(-ENOSPC, hold(self, OTHER_USER, 1, NAMESPACE));
	EXPECT_EQ(0, start_patiently(self->fd, self->counter, 1));
}

TEST_F(limits, of_the_system_is_of_all_users)
{
	ASSERT_EQ(0, set_knob("max_profiles_user", "2"));
	ASSERT_EQ(0, set_knob("max_profiles", "2"));
	EXPECT_EQ(0, hold(self, USER, 1, OUTSIDE | PATIENT));
	EXPECT_EQ(0, hold(self, OTHER_USER, 1, OUTSIDE | PATIENT));
	EXPECT_EQ(-ENOSPC, hold(self, USER, 1, OUTSIDE));
	EXPECT_EQ(-ENOSPC, hold(self, USER, 1, OUTSIDE));
	/* What was refused is not the user's. */
	ASSERT_EQ(0, set_knob("max_profiles", self->was[4]));
	EXPECT_EQ(0, hold(self, USER, 1, OUTSIDE));
	EXPECT_EQ(-ENOSPC, hold(self, USER, 1, OUTSIDE));
}

TEST_F(limits, of_regions_is_of_all_profiles_of_a_user)
{
	__u32 max = self->query.out_regions_max;
	int i, num = 65536 / max;

	/* With the limit as it is, */
	EXPECT_STREQ("65536\n", self->was[1]);
	ASSERT_EQ(4096, max);
	for (i = 0; i < num; i++)
		ASSERT_EQ(0, hold(self, USER, max, OUTSIDE | PATIENT));
	EXPECT_EQ(-ENOSPC, hold(self, USER, 1, OUTSIDE));
	EXPECT_EQ(0, hold(self, OTHER_USER, max, OUTSIDE | PATIENT));
	/* and given back with the process. */
	kill(self->pids[0], SIGKILL);
	waitpid(self->pids[0], NULL, 0);
	self->pids[0] = self->pids[--self->num];
	EXPECT_EQ(0, hold(self, USER, max, OUTSIDE | PATIENT));
	EXPECT_EQ(-ENOSPC, hold(self, USER, 1, OUTSIDE));
}

TEST_F(limits, of_regions_leaves_the_former_profile_running)
{
	__u16 *other = self->counter + 1;
	int i;

	ASSERT_EQ(0, set_knob("max_regions_user", "3"));
	/* Root has one more region than it can replace. */
	ASSERT_EQ(0, start_patiently(self->fd, self->counter, 1));
	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->counter));
	for (i = 0; i < 5; i++)
		EXPECT_EQ(-ENOSPC, start_many(self->fd, other, 3));
	ASSERT_TRUE(burn(self->fd, hot_a, 40));
	EXPECT_EQ(0, check_all_in(self->fd, self->counter, 3));
	EXPECT_EQ(0, *other);
}

TEST_F(limits, of_regions_keeps_nobody_from_the_end_of_his_profile)
{
	struct profil_ioc_stats stats;

	ASSERT_EQ(0, start_patiently(self->fd, self->counter, 3));
	ASSERT_EQ(0, set_knob("max_regions_user", "0"));
	EXPECT_EQ(0, start_many(self->fd, self->counter, 0));
	ASSERT_EQ(0, profil_stats(self->fd, &stats));
	EXPECT_EQ(PROFIL_STATE_OFF, stats.out_state);
}

/*
 * Threads whose first sample finds no page and waits for it, with a pending
 * record each, which is so not free for another.
 */
#define WAITERS		80
#define RECORDS_FIRST	32	/* that each process has, with up to 4 CPUs */

struct waiters {
	int num;		/* seen to wait */
	bool failed;
	struct profil_ioc_stats stats;
};

static void *waiter_fn(void *arg)
{
	void (*code)(unsigned long) = arg;

	/* So many would keep the machine's own threads waiting. */
	setpriority(PRIO_PROCESS, syscall(SYS_gettid), 19);
	for (;;)
		code(HOT_ROUNDS);
	return NULL;
}

/* A process of @uid that starts these threads and tells how they do, for ever. */
static void tell_waiters(int fd, uid_t uid, struct waiters *told)
{
	struct profil_region region = {
		.bytes = WAITERS * sizeof(__u16),
		.scale = COPY_SCALE,
	};
	/* Each thread its own copy of the loop, and so its own counter. */
	char *code = copies_of_spin(WAITERS), *page = page_alloc();
	struct pollfd pollfd = { .events = POLLIN };
	struct uffd_msg msg;
	pthread_attr_t attr;
	pthread_t thread;
	int i;

	region.offset = UPTR(code);
	region.buf_uptr = UPTR(page);
	pollfd.fd = userfault_create(page);
	if (!code || !page || pollfd.fd < 0 || become(uid) ||
	    profil_start(fd, &region, 1) || pthread_attr_init(&attr) ||
	    pthread_attr_setstacksize(&attr, 128 << 10))	/* the least of arm64 */
		return;
	for (i = 0; i < WAITERS; i++)
		if (pthread_create(&thread, &attr, waiter_fn,
				   code + i * COPY_BYTES))
			return;
	do {
		poll(&pollfd, 1, 10);
		while (read(pollfd.fd, &msg, sizeof(msg)) == sizeof(msg))
			told->num++;
	} while (!profil_stats(fd, &told->stats) &&
		 check_identity(&told->stats));
}

static volatile struct waiters *start_waiters(FIXTURE_DATA(limits) *self,
					      uid_t uid)
{
	struct waiters *told = shared_page();
	pid_t pid;

	if (!told || self->num == ARRAY_SIZE(self->pids))
		return NULL;
	pid = fork();
	if (!pid) {
		tell_waiters(self->fd, uid, told);
		told->failed = true;
		_exit(1);
	}
	if (pid < 0)
		return NULL;
	self->pids[self->num++] = pid;
	return told;
}

/* That it has no more than @most records shows by the ticks that have none. */
static bool waiters_lose(volatile struct waiters *told, int most)
{
	while (!told->failed && told->stats.out_lost_full < 5 &&
	       told->num <= most)
		usleep(2000);
	return !told->failed && told->num <= most;
}

/* Where no thread waits for a page, more than this cannot be seen. */
static bool waiters_get_more(FIXTURE_DATA(limits) *self,
			     volatile struct waiters *told)
{
	while (self->query.out_features & PROFIL_FEATURE_TASK_WORK &&
	       !told->failed && told->num <= RECORDS_FIRST)
		usleep(2000);
	return !told->failed;
}

static void end_last_child(FIXTURE_DATA(limits) *self)
{
	kill(self->pids[--self->num], SIGKILL);
	waitpid(self->pids[self->num], NULL, 0);
}

static void end_children(FIXTURE_DATA(limits) *self)
{
	while (self->num)
		end_last_child(self);
}

TEST_F(limits, of_pending_records_is_of_a_user_and_ticks_are_told_as_lost)
{
	volatile struct waiters *first, *second, *other;

	if (!(self->query.out_features & PROFIL_FEATURE_TASK_WORK)) {
		/* No thread waits, and a worker soon gives its record up. */
		ASSERT_EQ(0, set_knob("max_records_user", "0"));
		first = start_waiters(self, USER);
		ASSERT_NE(NULL, (void *)first);
		ASSERT_TRUE(waiters_lose(first, RECORDS_FIRST));
		return;
	}
	ASSERT_EQ(0, set_knob("max_records_user", "32"));
	first = start_waiters(self, USER);
	ASSERT_NE(NULL, (void *)first);
	ASSERT_TRUE(waiters_get_more(self, first));
	EXPECT_TRUE(waiters_lose(first, 2 * RECORDS_FIRST));
	/* What a process has from the beginning is no matter of limits. */
	second = start_waiters(self, USER);
	ASSERT_NE(NULL, (void *)second);
	EXPECT_TRUE(waiters_lose(second, RECORDS_FIRST));
	end_last_child(self);
	other = start_waiters(self, OTHER_USER);
	ASSERT_NE(NULL, (void *)other);
	EXPECT_TRUE(waiters_get_more(self, other));
	end_children(self);
	/* And they are given back. */
	first = start_waiters(self, USER);
	ASSERT_NE(NULL, (void *)first);
	ASSERT_TRUE(waiters_get_more(self, first));
}

/* Each START delivers what the thread has put off; but its record waits for the thread. */
TEST_F(limits, of_pending_records_is_not_reached_by_starts_beside_one_call)
{
	struct profil_ioc_stats stats;
	struct burner burner;
	int i;

	ASSERT_EQ(0, set_knob("max_records_user", "0"));
	ASSERT_EQ(0, burner_start(&burner, long_call));
	for (i = 0; i < 3 * RECORDS_FIRST; i++) {
		ASSERT_EQ(0, profil_start_page(self->fd, read_loop, self->counter));
		do {
			ASSERT_EQ(0, profil_stats(self->fd, &stats));
		} while (!stats.out_pending && !stats.out_lost_full);
	}
	burner_join(&burner);
	EXPECT_EQ(0, stats.out_lost_full);
}

TEST_F(limits, of_workers_delays_and_loses_nothing)
{
	struct profil_region region = any_region(self->counter);
	struct profil_ioc_stats stats;

	zero_fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, zero_fd);
	sink = malloc(SINK);
	ASSERT_NE(NULL, sink);
	ASSERT_EQ(0, set_knob("max_workers_user", "0"));
	ASSERT_EQ(0, profil_start(self->fd, &region, 1));
	ASSERT_TRUE(burn(self->fd, kernel_time, 30));
	ASSERT_EQ(0, profil_stats(self->fd, &stats));
	if (self->query.out_features & PROFIL_FEATURE_TASK_WORK) {
		/* Each thread is its own worker; only more records need one. */
		ASSERT_TRUE(settle(self->fd, &stats));
	} else {
		EXPECT_LT(10, stats.out_pending + stats.out_lost_full);
		EXPECT_EQ(stats.out_ticks - stats.out_pending,
			  stats.out_in_range + stats.out_lost_full);
		ASSERT_EQ(0, set_knob("max_workers_user", self->was[3]));
		ASSERT_TRUE(settle(self->fd, &stats));
	}
	ASSERT_EQ(0, profil_stop(self->fd));
	ASSERT_EQ(0, profil_stats(self->fd, &stats));
	EXPECT_EQ(stats.out_in_range, *self->counter);
	EXPECT_EQ(stats.out_in_range, stats.out_ticks - stats.out_lost_full -
		  stats.out_lost_stopped);
}

/* What is pending then is settled, which is no matter of limits. */
TEST_F(limits, of_workers_keeps_no_process_that_ended)
{
	volatile struct waiters *told;
	int i, ret = -ENOSPC;

	ASSERT_EQ(0, set_knob("max_workers_user", "0"));
	ASSERT_EQ(0, set_knob("max_profiles_user", "1"));
	told = start_waiters(self, USER);
	ASSERT_NE(NULL, (void *)told);
	ASSERT_TRUE(waiters_lose(told, RECORDS_FIRST));
	for (i = 0; ret == -ENOSPC && i < 1000; i++) {
		end_last_child(self);
		usleep(5000);
		ret = hold(self, USER, 1, OUTSIDE);
	}
	EXPECT_EQ(0, ret);
}

TEST_F(limits, of_workers_is_for_more_records_too)
{
	volatile struct waiters *told;

	ASSERT_EQ(0, set_knob("max_workers_user", "0"));
	told = start_waiters(self, USER);
	ASSERT_NE(NULL, (void *)told);
	EXPECT_TRUE(waiters_lose(told, RECORDS_FIRST));
	ASSERT_EQ(0, set_knob("max_workers_user", self->was[3]));
	ASSERT_TRUE(waiters_get_more(self, told));
}

/* The CPU time of all workers of unbound workqueues, in hundredths of a second. */
static long workers_time(void)
{
	char path[280], text[512], *rest;
	long user, system, sum = 0;
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	while (proc && (entry = readdir(proc))) {
		snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
		if (read_file(path, text, sizeof(text)) || !strstr(text, "(kworker/u"))
			continue;
		rest = strrchr(text, ')');
		if (rest && sscanf(rest, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld",
				   &user, &system) == 2)
			sum += user + system;
	}
	if (proc)
		closedir(proc);
	return sum;
}

/* It is on nobody's account: 10000 samples are a second of the process. */
TEST_F(limits, of_what_workers_take_of_a_cpu)
{
	struct profil_region region = page_region(hot_a, self->counter);
	__u32 rate = self->query.out_timer_rate_max;
	__u64 samples = rate ?: self->query.out_tick_hz;
	long before = workers_time();

	ASSERT_EQ(0, rate ? profil_start_timer(self->fd, &region, 1, rate, 0) :
			    profil_start(self->fd, &region, 1));
	ASSERT_TRUE(burn(self->fd, hot_a, samples));
	EXPECT_EQ(0, profil_stop(self->fd));
	before = workers_time() - before;
	printf("# workers took %ld ms of a second\n", before * 10);
	/* A VM that waits for its processor is in somebody's time, too. */
	if (getenv("profil_exact"))
		EXPECT_GE(10, before);
}

static __u64 now_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

/* Each time it stays for longer, so the time it took says how often at most. */
TEST_F(limits, of_arming_patches_no_text_again_and_again)
{
	__u64 start = now_seconds(), least = 0, linger = 1;
	struct profil_ioc_query query;
	int i, armed = 0;

	for (i = 0; i < 100; i++) {
		ASSERT_EQ(0, profil_query(self->fd, &query));
		if (query.out_hook == PROFIL_HOOK_NONE && armed++) {
			least += linger;
			linger = linger < 128 ? 2 * linger : 128;
		}
		ASSERT_EQ(0, start_many(self->fd, self->counter, 1));
		ASSERT_EQ(0, profil_query(self->fd, &query));
		EXPECT_NE(PROFIL_HOOK_NONE, query.out_hook);
		ASSERT_EQ(0, profil_stop(self->fd));
		usleep(5000);
	}
	EXPECT_LE(least, now_seconds() - start + 1);
}

/* Memory of a group of processes */

#define CGROUP		"/tmp/profil_cgroup"
#define CHARGED		12	/* processes */

static long long group_usage(void)
{
	char text[32];

	if (read_file(CGROUP "/test/memory.current", text, sizeof(text)))
		return -1;
	return atoll(text);
}

static int group_create(void)
{
	mkdir(CGROUP, 0700);
	if (mount("none", CGROUP, "cgroup2", 0, NULL))
		return -errno;
	return write_file(CGROUP "/cgroup.subtree_control", 0, "+memory") ?:
	       (mkdir(CGROUP "/test", 0700) ? -errno : 0);
}

static void group_remove(void)
{
	int i;

	/* Who has been waited for may be in it for a moment. */
	for (i = 0; i < 1000 && rmdir(CGROUP "/test") && errno == EBUSY; i++)
		usleep(1000);
	umount(CGROUP);
	rmdir(CGROUP);
}

static void be_charged(int fd, int go, int done)
{
	static __u16 counter;
	__u32 max = 4096;
	char c = 'y';

	/* Once before, for all else that this needs memory for. */
	if (write_file(CGROUP "/test/cgroup.procs", 0, "0") ||
	    start_many(fd, &counter, max) || profil_stop(fd))
		c = 'n';
	if (write(done, &c, 1) != 1 || read(go, &c, 1) != 1)
		_exit(1);
	c = start_many(fd, &counter, max) ? 'n' : 'y';
	if (write(done, &c, 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static bool all_said_yes(int done)
{
	bool ret = true;
	char c;
	int i;

	for (i = 0; i < CHARGED; i++)
		ret &= read(done, &c, 1) == 1 && c == 'y';
	return ret;
}

TEST_F(limits, of_memory_are_those_of_the_callers_group)
{
	int go[2], done[2], i, err = group_create();
	const char yes[CHARGED] = { 0 };
	long long before, after;

	if (err) {
		group_remove();
		SKIP(return, "no memory controller: %s", strerror(-err));
	}
	ASSERT_EQ(0, pipe(go));
	ASSERT_EQ(0, pipe(done));
	for (i = 0; i < CHARGED; i++) {
		self->pids[self->num] = fork();
		ASSERT_LE(0, self->pids[self->num]);
		if (!self->pids[self->num])
			be_charged(self->fd, go[0], done[1]);
		self->num++;
	}
	EXPECT_TRUE(all_said_yes(done[0]));
	before = group_usage();
	EXPECT_LT(0, before);
	EXPECT_EQ(CHARGED, write(go[1], yes, CHARGED));
	EXPECT_TRUE(all_said_yes(done[0]));
	after = group_usage();
	TH_LOG("%lld, then %lld bytes", before, after);
	/* Each profile is at least as large as what was given for it. */
	EXPECT_LT(CHARGED * 4096LL * sizeof(struct profil_region),
		  after - before);
	end_children(self);
	group_remove();
}

/* What a session asks for does not fit into the group: it is told so, and nobody is killed. */
TEST_F(limits, of_memory_of_a_group_are_enomem)
{
	struct profil_ioc_session args = {
		.size = sizeof(args),
		.slots = PROFIL_SLOTS_MAX,
		.processes = PROFIL_PROCESSES_MIN,
		.objects = PROFIL_OBJECTS_MIN,
	};
	int err = group_create();
	pid_t pid;

	if (err) {
		group_remove();
		SKIP(return, "no memory controller: %s", strerror(-err));
	}
	ASSERT_EQ(0, write_file(CGROUP "/test/memory.max", 0, "16M"));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		if (write_file(CGROUP "/test/cgroup.procs", 0, "0"))
			_exit(100);
		_exit(-profil_ioctl(self->fd, PROFIL_IOC_SESSION, &args));
	}
	EXPECT_EQ(ENOMEM, wait_for(pid));
	group_remove();
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--executed-setuid"))
		return setuid_image();
	return test_harness_run(argc, argv);
}
