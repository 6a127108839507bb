/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests of /dev/profil share: the raw commands, code at known
 * addresses, and CPU time spent by the count of ticks.
 *
 * Nothing here looks at wall time.  A tick of CPU time can take any time on a
 * busy machine, so every wait is for a count, and the harness' alarm is only
 * the last resort against a kernel that stopped counting.
 */
#ifndef PROFIL_COMMON_H
#define PROFIL_COMMON_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <linux/profil.h>
#include <linux/userfaultfd.h>

#include "kselftest_harness.h"

#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	300

#define PAGE		4096UL
#define PAGE_SCALE	32	/* one counter to 4096 bytes of code */
#define UPTR(p)	((__u64)(uintptr_t)(p))

/*
 * Code at known addresses: each of these begins a page of code that holds
 * nothing else, after pages that are never executed, so that a region of one
 * counter at PAGE_SCALE is exactly the function.
 *
 * hot_a/b/c(rounds) count down.  spin(rounds) does so in the instructions from
 * spin_begin up to spin_end, one where the machine can.  read_loop(fd, buf,
 * len, rounds) reads and does nothing else: a thread in it is nearly always in
 * the kernel, and would return to read_return.
 */
void hot_a(unsigned long rounds);
void hot_b(unsigned long rounds);
void hot_c(unsigned long rounds);
void spin(unsigned long rounds);
extern const char spin_begin[], spin_end[];
void read_loop(int fd, void *buf, size_t len, unsigned long rounds);
extern const char read_return[];

/* The pages of all these, and those before that are never executed. */
#define CODE_BEGIN	(UPTR(hot_a) - 4 * PAGE)
#define CODE_END	(UPTR(read_loop) + PAGE)

#define HOT_ROUNDS	150000UL	/* well below one tick on any machine */

#if defined(__x86_64__)
#define HOT_LOOP						\
	"1:	dec	%rdi\n"					\
	"	jnz	1b\n"					\
	"	ret\n"
#define SPIN							\
	"	mov	%rdi, %rcx\n"				\
	"spin_begin:\n"						\
	"1:	loop	1b\n"					\
	"spin_end:\n"						\
	"	ret\n"
#define READ_LOOP						\
	"	mov	%rcx, %r8\n"				\
	"1:	xor	%eax, %eax\n"				\
	"	syscall\n"					\
	"read_return:\n"					\
	"	dec	%r8\n"					\
	"	jnz	1b\n"					\
	"	ret\n"
#elif defined(__i386__)
#define HOT_LOOP						\
	"	mov	4(%esp), %ecx\n"			\
	"1:	dec	%ecx\n"					\
	"	jnz	1b\n"					\
	"	ret\n"
#define SPIN							\
	"	mov	4(%esp), %ecx\n"			\
	"spin_begin:\n"						\
	"1:	loop	1b\n"					\
	"spin_end:\n"						\
	"	ret\n"
#define READ_LOOP						\
	"	push	%ebx\n"					\
	"	push	%esi\n"					\
	"	mov	12(%esp), %ebx\n"			\
	"	mov	16(%esp), %ecx\n"			\
	"	mov	20(%esp), %edx\n"			\
	"	mov	24(%esp), %esi\n"			\
	"1:	mov	$3, %eax\n"				\
	"	int	$0x80\n"				\
	"read_return:\n"					\
	"	dec	%esi\n"					\
	"	jnz	1b\n"					\
	"	pop	%esi\n"					\
	"	pop	%ebx\n"					\
	"	ret\n"
#elif defined(__aarch64__)
#define HOT_LOOP						\
	"1:	subs	x0, x0, #1\n"				\
	"	b.ne	1b\n"					\
	"	ret\n"
#define SPIN							\
	"spin_begin:\n"						\
	"1:	subs	x0, x0, #1\n"				\
	"	b.ne	1b\n"					\
	"spin_end:\n"						\
	"	ret\n"
#define READ_LOOP						\
	"	mov	w8, #63\n"				\
	"	mov	w4, w0\n"				\
	"1:	mov	w0, w4\n"				\
	"	svc	#0\n"					\
	"read_return:\n"					\
	"	subs	x3, x3, #1\n"				\
	"	b.ne	1b\n"					\
	"	ret\n"
#else
#error "the loops are not written for this architecture"
#endif

#define PAGE_OF_CODE(name, code)				\
	".globl " #name "\n"					\
	".type " #name ", %function\n"				\
	#name ":\n"						\
	code							\
	".balign 4096\n"

__asm__(".pushsection .text.profil_hot, \"ax\"\n"
	".balign 4096\n"
	".skip 16384\n"
	PAGE_OF_CODE(hot_a, HOT_LOOP)
	PAGE_OF_CODE(hot_b, HOT_LOOP)
	PAGE_OF_CODE(hot_c, HOT_LOOP)
	".globl spin_begin, spin_end\n"
	PAGE_OF_CODE(spin, SPIN)
	".globl read_return\n"
	PAGE_OF_CODE(read_loop, READ_LOOP)
	".popsection\n");

/* Copies of spin() in a row, each with a counter of its own at COPY_SCALE. */
#define COPY_BYTES	64
#define COPY_SCALE	(65536 * 2 / COPY_BYTES)

static inline void *copies_of_spin(int num)
{
	size_t bytes = spin_end + 8 - (char *)spin;
	char *code = mmap(NULL, num * COPY_BYTES, PROT_READ | PROT_WRITE |
			  PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i;

	if (code == MAP_FAILED || bytes > COPY_BYTES)
		return NULL;
	for (i = 0; i < num; i++)
		memcpy(code + i * COPY_BYTES, (char *)spin, bytes);
	__builtin___clear_cache(code, code + num * COPY_BYTES);
	return code;
}

static inline int write_file(const char *path, int flags, const char *text)
{
	int file = open(path, O_WRONLY | O_CLOEXEC | flags);
	ssize_t done;

	if (file < 0)
		return -errno;
	done = write(file, text, strlen(text));
	close(file);
	return done < 0 ? -errno : 0;
}

/* As much of it as @text, which ends with a 0, has room for. */
static inline int read_file(const char *path, char *text, size_t size)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t done;

	if (file < 0)
		return -errno;
	done = read(file, text, size - 1);
	close(file);
	if (done < 0)
		return -EIO;
	text[done] = '\0';
	return 0;
}

/*
 * A process that changed its user may not be traced, and its files in /proc are root's, unless
 * it says otherwise; and it has to end with its test.
 */
static inline int become(uid_t uid)
{
	return setgid(uid) || setuid(uid) || prctl(PR_SET_DUMPABLE, 1) ||
	       prctl(PR_SET_PDEATHSIG, SIGKILL) ? -errno : 0;
}

/* Gives up all capabilities but those of @low, 0 to 31, and @high, 32 and above. */
static inline int keep_capabilities(__u32 low, __u32 high)
{
	struct { __u32 version; int pid; } header = { 0x20080522, 0 };
	struct { __u32 effective, permitted, inheritable; } data[2] = {
		{ low, low, 0 }, { high, high, 0 },
	};

	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

#define LOW_KILL	(1 << 5)		/* CAP_KILL */
#define LOW_SETUID	(1 << 7)		/* CAP_SETUID */
#define HIGH_PERFMON	(1 << (38 - 32))	/* CAP_PERFMON */

/* In a namespace of users of its own, in which it is root. */
static inline int enter_namespace(void)
{
	uid_t uid = getuid();
	char map[32];

	if (unshare(CLONE_NEWUSER))
		return -errno;
	snprintf(map, sizeof(map), "0 %d 1", uid);
	return write_file("/proc/self/uid_map", 0, map) ?: -(int)getuid();
}

static inline int profil_open(void)
{
	return open("/dev/profil", O_RDWR | O_CLOEXEC);
}

/* A command's result as one number: 0, or minus the errno. */
static inline int profil_ioctl(int fd, unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg) ? -errno : 0;
}

static inline int profil_query(int fd, struct profil_ioc_query *query)
{
	*query = (struct profil_ioc_query){ .size = sizeof(*query) };
	return profil_ioctl(fd, PROFIL_IOC_QUERY, query);
}

static inline int profil_stats(int fd, struct profil_ioc_stats *stats)
{
	*stats = (struct profil_ioc_stats){ .size = sizeof(*stats) };
	return profil_ioctl(fd, PROFIL_IOC_STATS, stats);
}

static inline int stop_cookie(int fd, __u64 cookie)
{
	struct profil_ioc_stop stop = { .size = sizeof(stop), .cookie = cookie };

	return profil_ioctl(fd, PROFIL_IOC_STOP, &stop);
}

static inline int profil_stop(int fd)
{
	struct profil_ioc_stop stop = { .size = sizeof(stop) };

	return profil_ioctl(fd, PROFIL_IOC_STOP, &stop);
}

static inline int profil_start_rate(int fd, const struct profil_region *regions,
				    __u32 num, __u32 rate)
{
	struct profil_ioc_start start = {
		.size = sizeof(start),
		.region_num = num,
		.region_len = sizeof(*regions),
		.regions_uptr = UPTR(regions),
		.rate = rate,
	};

	return profil_ioctl(fd, PROFIL_IOC_START, &start);
}

static inline int profil_start_timer(int fd, const struct profil_region *regions,
				     __u32 num, __u32 rate, __u32 jitter)
{
	struct profil_ioc_start start = {
		.size = sizeof(start),
		.region_num = num,
		.region_len = sizeof(*regions),
		.regions_uptr = UPTR(regions),
		.rate = rate,
		.source = PROFIL_SOURCE_TIMER,
		.jitter = jitter,
	};

	return profil_ioctl(fd, PROFIL_IOC_START, &start);
}

static inline int profil_start_flags(int fd, const struct profil_region *regions,
				     __u32 num, __u32 flags)
{
	struct profil_ioc_start start = {
		.size = sizeof(start),
		.flags = flags,
		.region_num = num,
		.region_len = sizeof(*regions),
		.regions_uptr = UPTR(regions),
	};

	return profil_ioctl(fd, PROFIL_IOC_START, &start);
}

static inline int profil_start(int fd, const struct profil_region *regions,
			       __u32 num)
{
	return profil_start_rate(fd, regions, num, 0);
}

/* The region of one 16-bit counter that is one page of code. */
static inline struct profil_region page_region(void *code, void *counter)
{
	return (struct profil_region){
		.buf_uptr = UPTR(counter),
		.bytes = sizeof(__u16),
		.offset = UPTR(code),
		.scale = PAGE_SCALE,
	};
}

/* The region of one 16-bit counter that is all code, wherever it is. */
static inline struct profil_region any_region(void *counter)
{
	return (struct profil_region){
		.buf_uptr = UPTR(counter),
		.bytes = sizeof(__u16),
		.scale = 2,
		.flags = PROFIL_REGION_F_OVERFLOW,
	};
}

static inline int profil_start_page(int fd, void *code, void *counter)
{
	struct profil_region region = page_region(code, counter);

	return profil_start(fd, &region, 1);
}

/* The same, and what START says of where the anchor is; 0 if it failed. */
static inline __u64 profil_start_anchor(int fd, void *code, void *counter)
{
	struct profil_region region = page_region(code, counter);
	struct profil_ioc_start start = {
		.size = sizeof(start),
		.region_num = 1,
		.region_len = sizeof(region),
		.regions_uptr = UPTR(&region),
	};

	return profil_ioctl(fd, PROFIL_IOC_START, &start) ? 0 : start.out_anchor;
}

/* A fresh page that nothing has touched yet. */
static inline void *page_alloc(void)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return page == MAP_FAILED ? NULL : page;
}

/* How nearly each test begins: a device that opens, and such a page. */
#define ASSERT_OPEN_WITH_PAGE(fd, page)					\
	do {								\
		(fd) = profil_open();					\
		ASSERT_LE(0, (fd));					\
		(page) = page_alloc();					\
		ASSERT_NE(NULL, (page));				\
	} while (0)

/* The fixture of a program whose tests need no more than that. */
#define FIXTURE_WITH_PAGE(name)						\
	FIXTURE(name) {							\
		int fd;							\
		__u16 *counter;						\
		struct profil_ioc_stats stats;				\
	};								\
	FIXTURE_SETUP(name)						\
	{								\
		ASSERT_OPEN_WITH_PAGE(self->fd, self->counter);		\
	}								\
	FIXTURE_TEARDOWN(name)						\
	{								\
		close(self->fd);					\
	}

/* @page will not be there until it is resolved; -1 where nobody may do this. */
static inline int userfault_create(void *page)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = {
		.range.start = UPTR(page),
		.range.len = PAGE,
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int uffd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	if (uffd < 0 || ioctl(uffd, UFFDIO_API, &api) ||
	    ioctl(uffd, UFFDIO_REGISTER, &reg))
		return -1;
	return uffd;
}

static inline int userfault_resolve(int uffd, void *page)
{
	struct uffdio_zeropage zero = {
		.range.start = UPTR(page),
		.range.len = PAGE,
	};

	return ioctl(uffd, UFFDIO_ZEROPAGE, &zero);
}

static inline void print_stats(const struct profil_ioc_stats *s)
{
	printf("# ticks %llu: not_due %llu system %llu in_range %llu outside %llu\n",
	       s->out_ticks, s->out_not_due, s->out_system, s->out_in_range,
	       s->out_outside);
	printf("# saturated %llu pending %llu lost %llu: full %llu\n",
	       s->out_saturated, s->out_pending, s->out_lost, s->out_lost_full);
	printf("# stopped %llu exit %llu fault %llu denied %llu unready %llu contended %llu\n",
	       s->out_lost_stopped, s->out_lost_exit, s->out_lost_fault,
	       s->out_lost_denied, s->out_lost_unready, s->out_lost_contended);
}

/*
 * Every class is in a sum.  The module adds up the same counts, so this finds a class that one of
 * the two forgets, and no tick that is lost: for that, ticks.h has the kernel's own count.
 */
static inline bool check_identity(const struct profil_ioc_stats *s)
{
	__u64 lost = s->out_lost_full + s->out_lost_stopped +
		     s->out_lost_exit + s->out_lost_fault +
		     s->out_lost_denied + s->out_lost_unready +
		     s->out_lost_contended;
	__u64 ticks = s->out_not_due + s->out_system + s->out_in_range +
		      s->out_outside + s->out_saturated + s->out_pending +
		      s->out_lost;

	if (s->out_ticks == ticks && s->out_lost == lost)
		return true;
	print_stats(s);
	return false;
}

static inline bool none_lost(const struct profil_ioc_stats *s)
{
	if (s->out_lost)
		print_stats(s);
	return !s->out_lost;
}

/*
 * Once the profile has ended.  A tick may find the process in the very call that
 * ends it, and one that waits for a worker may find that a counter is full.
 */
static inline __u64 lost_before_the_end(const struct profil_ioc_stats *s)
{
	return s->out_lost - s->out_lost_stopped;
}

static inline bool none_lost_before_the_end(const struct profil_ioc_stats *s)
{
	if (lost_before_the_end(s))
		print_stats(s);
	return !lost_before_the_end(s);
}

/*
 * Runs @hot until @ticks more ticks were seen; false if the profile is not on.
 * Asking for the count takes its share of them: on a slow kernel up to a third if it
 * were after each HOT_ROUNDS, and of ten ticks, say, hardly one might be left for @hot.
 */
static inline bool burn(int fd, void (*hot)(unsigned long), __u64 ticks)
{
	struct profil_ioc_stats stats;
	__u64 end = 0;

	for (;;) {
		if (profil_stats(fd, &stats) ||
		    stats.out_state != PROFIL_STATE_ON)
			return false;
		if (!end)
			end = stats.out_ticks + ticks;
		if (stats.out_ticks >= end)
			return true;
		hot(4 * HOT_ROUNDS);
	}
}

/*
 * What CPU 0 was busy, in hundredths of a second, by the kernel's own account: that
 * is of ticks, so a VM whose host does something else has no more of it.
 */
static inline long busy_cpu0(void)
{
	long user, nice, system;
	FILE *stat = fopen("/proc/stat", "re");
	int n = 0;

	if (stat) {
		n = fscanf(stat, "cpu %*[^\n] cpu0 %ld %ld %ld", &user, &nice, &system);
		fclose(stat);
	}
	return n == 3 ? user + nice + system : -1;
}

/*
 * For a process that must not be counted, and so has no count to wait for:
 * spends the CPU time of @ticks ticks.
 */
static inline void burn_uncounted(int fd, void (*hot)(unsigned long),
				  __u64 ticks)
{
	struct profil_ioc_query query;
	struct timespec ts;
	__u64 now, end = 0;

	if (profil_query(fd, &query))
		return;
	do {
		hot(HOT_ROUNDS);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
		now = ts.tv_sec * 1000000000ULL + ts.tv_nsec;
		if (!end)
			end = now + ticks * query.out_tick_ns;
	} while (now < end);
}

/*
 * Waits until nothing is pending; @stats is then a snapshot in which all that
 * was counted is in the histograms.  Only threads that return to user mode
 * have their samples delivered, so none may be asleep for long.
 */
static inline bool settle(int fd, struct profil_ioc_stats *stats)
{
	int i;

	for (i = 0; i < 20000; i++) {
		if (profil_stats(fd, stats))
			return false;
		if (!stats->out_pending)
			return true;
		hot_c(HOT_ROUNDS);
		usleep(500);
	}
	return false;
}

/* Ends the profile once all is delivered; @stats, with every tick in them, are its last. */
static inline bool profil_finish(int fd, struct profil_ioc_stats *stats)
{
	return settle(fd, stats) && !profil_stop(fd) &&
	       !profil_stats(fd, stats) && check_identity(stats);
}

/* Runs @hot until the state is @state; false if that takes 1000 ticks. */
static inline bool burn_until_state(int fd, void (*hot)(unsigned long),
				    __u32 state, struct profil_ioc_stats *stats)
{
	__u64 end = 0;

	for (;;) {
		if (profil_stats(fd, stats))
			return false;
		if (stats->out_state == state)
			return true;
		if (!end)
			end = stats->out_ticks + 1000;
		if (stats->out_ticks >= end)
			return false;
		hot(4 * HOT_ROUNDS);
	}
}

static inline __u64 sum_u16(const volatile __u16 *counter, size_t num)
{
	__u64 sum = 0;

	while (num--)
		sum += *counter++;
	return sum;
}

/* The anchor's address, 0 if there is none; @num, if given, says how many. */
static inline unsigned long find_anchor(int *num)
{
	unsigned long start, anchor = 0;
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	int found = 0;

	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, "/dev/profil") &&
		    sscanf(line, "%lx-", &start) == 1) {
			anchor = start;
			found++;
		}
	if (maps)
		fclose(maps);
	if (num)
		*num = found;
	return anchor;
}

/* Nearly all of it is one system call of many ticks, which returns to read_return. */
static inline void long_call(unsigned long rounds __attribute__((unused)))
{
	static char drawn[32 << 20];
	int file = open("/dev/urandom", O_RDONLY | O_CLOEXEC);

	read_loop(file, drawn, sizeof(drawn), 1);
	close(file);
}

/* A thread that runs @hot until @stop is set. */
struct burner {
	pthread_t thread;
	void (*hot)(unsigned long rounds);
	volatile bool stop;
};

static inline void *burner_fn(void *arg)
{
	struct burner *burner = arg;

	while (!burner->stop)
		burner->hot(HOT_ROUNDS);
	return NULL;
}

static inline int burner_start(struct burner *burner,
			       void (*hot)(unsigned long))
{
	burner->hot = hot;
	burner->stop = false;
	return pthread_create(&burner->thread, NULL, burner_fn, burner);
}

static inline void burner_join(struct burner *burner)
{
	burner->stop = true;
	pthread_join(burner->thread, NULL);
}

/* To this CPU alone, if it is there. */
static inline void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* The exit status of @pid, or minus the signal that ended it. */
static inline int wait_for(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		return -1000;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* This program once more, as one that runs with root's rights. */
static inline int make_setuid(char *path)
{
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int to = mkstemp(path), err = 0;
	char buf[1 << 14];
	ssize_t num;

	if (from < 0 || to < 0)
		return -1;
	while (!err && (num = read(from, buf, sizeof(buf))) > 0)
		err = write(to, buf, num) != num;
	if (!err)
		err = fchmod(to, 04755);
	close(from);
	close(to);
	return err;
}

#endif /* PROFIL_COMMON_H */
