// SPDX-License-Identifier: GPL-2.0-only
/*
 * Many profiled processes that live and die in every way, for some seconds, and
 * then the sums: what became of each of their ticks.
 *
 *   soak SECONDS SEED
 *
 * A life is an address space that is profiled, from START or fork() to its end.
 * Each has a keeper: a process that shares the memory, and so the profile, and
 * sleeps until the others have exited, were killed, or execute another image.
 * Then it asks for the statistics, which are final, and adds them up.  The
 * histograms are memory that all share and that outlives them.
 *
 * The kernel's own count is an event on the function that is the tick.  Which
 * sums can be equal is a matter of where that count begins and ends:
 *
 * USER	profiles user mode only, and compares with the ticks that found a thread in
 *	user mode.  None of them comes after a thread has given up the memory,
 *	so that both counts are equal however the life ends.
 * ALL	profiles the kernel as well, and compares all ticks.  A thread that exits
 *	leaves the memory and perf one after the other, in an order that kernels
 *	do not agree on, and may tick in between: so both counts are equal while
 *	no thread has ended, and are compared while all but one sleep.
 * WILD	stops and starts, with all flags and rates: compared with nothing.
 *
 * Loose families have no keeper.  They profile user mode, from before their
 * count begins, in all that descend from one process: what is in the histogram
 * is the kernel's count when the last one has died, without any question.  For
 * that no tick may be put off: their pages are in all page tables, and stay.
 */
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/eventfd.h>

#include "hook.h"
#include "../kernel/ticks.h"

#define PROCESSES	64	/* at a time, about */
#define FAMILIES	16	/* loose ones, of one to four processes */
#define LIVES		(PROCESSES - 2 * FAMILIES)	/* with a keeper */
#define MATES		7	/* threads beside the first */
#define DEPTH		2	/* children of children */
#define FORKS		2	/* of each in a loose family */
#define SHARED_FD	3
#define STACK		(64 * 1024)

/* A histogram of each width, of one page. */
struct area {
	__u16 narrow[PAGE / sizeof(__u16)];
	__u32 wide[PAGE / sizeof(__u32)];
};

#define FRAMES		(PROCESSES * sizeof(struct area) / PAGE)
#define FRAME_NUMBER	((1ULL << 55) - 1)	/* in what pagemap says of a page */

enum sum {
	SUM_LIVES, SUM_TICKS, SUM_NOT_DUE, SUM_SYSTEM, SUM_IN_RANGE,
	SUM_OUTSIDE, SUM_SATURATED, SUM_EXIT, SUM_STOPPED, SUM_UNREADY,
	SUM_DEFERRED, SUM_USER, SUM_USER_LIVES, SUM_GATES, SUM_GATED,
	SUM_EXIT_OURS, SUM_EXIT_THEIRS, SUM_FORKS, SUM_EXECS, SUM_KILLS,
	SUM_EXITS, SUM_QUESTIONS,
	SUM_FAMILIES, SUM_FAMILY_TICKS, SUM_FAMILY_THEIRS, SUM_FAMILY_PROCESSES, SUMS,
};

static const char *const sum_names[] = {
	"lives", "ticks", "not_due", "system", "in_range",
	"outside", "saturated", "lost_exit", "lost_stopped", "lost_unready",
	"deferred", "user_ticks", "user_lives", "gates", "gated_ticks",
	"exiting_ours", "exiting_theirs", "forks", "execs", "kills",
	"exits", "questions",
	"families", "family_ticks", "family_theirs", "family_processes",
};

enum check {
	CHECK_IDENTITY, CHECK_SETTLED, CHECK_LOST, CHECK_USER, CHECK_GATE,
	CHECK_FAMILY, CHECK_BINS, CHECK_FRAMES, CHECK_CALLS, CHECKS,
};

static const char *const check_names[] = {
	"every tick is in one class, at every question",
	"nothing is pending at the end of a life",
	"what is lost has a reason that was there",
	"ticks in user mode are the kernel's, whatever ended the life",
	"all ticks are the kernel's while the others sleep",
	"a histogram is the kernel's count of a family",
	"the sum of the counters is that of the samples in range",
	"no page of a histogram is moved",
	"what must succeed does",
};

struct shared {
	__u32 finish;		/* no new lives */
	__u32 live;
	int event;		/* the number that perf knows it by */
	bool deferred;		/* no tick counts by itself */
	bool worker;		/* counts what the tick could not */
	bool ticks;		/* the hook is the kernel's tick */
	__u64 sums[SUMS];
	__u64 bad[CHECKS];
	__u64 in_range[LIVES];	/* of each area */
	__u64 frames[FRAMES];	/* of memory, that these are in */
	struct area area[PROCESSES] __attribute__((aligned(PAGE)));
};

enum kind {
	USER,
	ALL,
	WILD,
	KINDS,
};

struct mate {
	pthread_t thread;
	pid_t tid;
	__u64 seed;
	bool stop;
	bool used;
};

static struct shared *shared;

static struct {
	unsigned int slot;
	__u64 seed;
	enum kind kind;
	bool loose;
	unsigned int depth;
	unsigned int forks;
	int fd;
	int zero;
	int pidfd;
	int gone;		/* written by what was executed */
	int counters[2];	/* of the process and of its keeper */
	int kill_after;		/* ms, or -1 */
	__u32 kept;		/* the keeper runs */
	bool based;
	__u64 base_ticks;
	__u64 base_events;
	__u32 park;
	__u32 parked;
	struct mate mates[MATES];
} life;

static char keeper_stack[STACK] __attribute__((aligned(64)));

static void add(enum sum sum, __u64 n)
{
	__atomic_add_fetch(&shared->sums[sum], n, __ATOMIC_RELAXED);
}

/* Without stdio: a process that was killed may hold its locks. */
__attribute__((format(printf, 2, 3)))
static void fail(enum check check, const char *format, ...)
{
	char text[512];
	va_list args;
	int len;

	if (__atomic_add_fetch(&shared->bad[check], 1, __ATOMIC_RELAXED) > 10)
		return;
	len = snprintf(text, sizeof(text), "# %s: slot %u kind %u: ",
		       check_names[check], life.slot, life.kind);
	va_start(args, format);
	len += vsnprintf(text + len, sizeof(text) - len - 1, format, args);
	va_end(args);
	text[len++] = '\n';
	if (write(1, text, len) != len)
		_exit(1);
}

static __u64 draw(__u64 *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed >> 11;
}

static unsigned int choose(unsigned int n)
{
	return draw(&life.seed) % n;
}

static int futex(__u32 *word, int op, __u32 value)
{
	return syscall(SYS_futex, word, op, value, NULL, NULL, 0);
}

/* Of one process and its threads, or of all that descend from it. */
static int counter_open(pid_t pid, bool user, bool family)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = shared->event,
		.inherit = 1,
		.inherit_thread = !family,
		.remove_on_exec = !family,
	};
	int fd = syscall(SYS_perf_event_open, &attr, pid, -1, -1,
			 PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0 && user && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, "user == 1"))
		return -1;
	return fd;
}

static __u64 counter_read(int fd)
{
	__u64 count;

	return read(fd, &count, sizeof(count)) == sizeof(count) ? count : ~0ULL;
}

static __u64 life_events(void)
{
	return counter_read(life.counters[0]) + counter_read(life.counters[1]);
}

/* Those that the kernel's count has as well. */
static __u64 life_ticks(const struct profil_ioc_stats *stats)
{
	return stats->out_ticks - (life.kind == USER ? stats->out_system : 0);
}

static void identity(const struct profil_ioc_stats *s)
{
	__u64 lost = s->out_lost_full + s->out_lost_stopped +
		     s->out_lost_exit + s->out_lost_fault +
		     s->out_lost_denied + s->out_lost_unready +
		     s->out_lost_contended;

	add(SUM_QUESTIONS, 1);
	if (s->out_lost == lost &&
	    s->out_ticks == s->out_not_due + s->out_system + s->out_in_range +
			    s->out_outside + s->out_saturated +
			    s->out_pending + lost)
		return;
	fail(CHECK_IDENTITY,
	     "%llu ticks: undue %llu system %llu in %llu out %llu full %llu pending %llu lost %llu %llu",
	     s->out_ticks, s->out_not_due, s->out_system, s->out_in_range,
	     s->out_outside, s->out_saturated, s->out_pending, s->out_lost,
	     lost);
}

/* Both counts of one moment, while all other threads sleep. */
static bool life_pair(__u64 *events, struct profil_ioc_stats *stats)
{
	__u64 before;

	do {
		before = life_events();
		if (profil_stats(life.fd, stats))
			return false;
		*events = life_events();
	} while (*events != before);
	identity(stats);
	return true;
}

/*
 * A thread may end with a tick of the kernel pending.  START and STOP do not
 * wait for a page whose table others change just then.  Nothing here gives
 * cause for full, fault, denied, contended; and what was not put off cannot be
 * lost.
 */
static void check_lost(const struct profil_ioc_stats *s)
{
	if (s->out_lost == s->out_lost_exit + s->out_lost_stopped +
			   s->out_lost_unready &&
	    s->out_lost <= s->out_deferred)
		return;
	fail(CHECK_LOST,
	     "%llu put off: full %llu stop %llu exit %llu fault %llu denied %llu unready %llu busy %llu",
	     s->out_deferred, s->out_lost_full, s->out_lost_stopped,
	     s->out_lost_exit, s->out_lost_fault, s->out_lost_denied,
	     s->out_lost_unready, s->out_lost_contended);
}

static void check_events(const struct profil_ioc_stats *stats, __u64 events)
{
	__u64 ticks = life_ticks(stats) - life.base_ticks;

	events -= life.base_events;
	if (!shared->ticks || life.kind == WILD ||
	    !__atomic_load_n(&life.based, __ATOMIC_ACQUIRE))
		return;
	if (life.kind == USER) {
		add(SUM_USER, ticks);
		add(SUM_USER_LIVES, 1);
		if (ticks != events)
			fail(CHECK_USER, "%llu ticks, the kernel's %llu", ticks,
			     events);
	} else if (ticks > events) {
		add(SUM_EXIT_OURS, ticks - events);
	} else {
		add(SUM_EXIT_THEIRS, events - ticks);
	}
}

/* The last question of a life, when nobody else has its memory. */
static void life_account(void)
{
	struct profil_ioc_stats s;
	__u64 events;
	int i;

	for (i = 0; i < 6000; i++) {
		if (!life_pair(&events, &s))	/* it never came to START */
			return;
		if (!s.out_pending)
			break;
		usleep(10000);
	}
	if (s.out_pending)
		fail(CHECK_SETTLED, "%llu are pending", s.out_pending);
	check_events(&s, events);
	/* Else the keeper's own ticks go on to be counted. */
	if (profil_stop(life.fd) || profil_stats(life.fd, &s))
		fail(CHECK_CALLS, "STOP at the end: %s", strerror(errno));
	identity(&s);
	check_lost(&s);
	__atomic_add_fetch(&shared->in_range[life.slot], s.out_in_range,
			   __ATOMIC_RELAXED);
	add(SUM_LIVES, 1);
	add(SUM_TICKS, s.out_ticks);
	add(SUM_NOT_DUE, s.out_not_due);
	add(SUM_SYSTEM, s.out_system);
	add(SUM_IN_RANGE, s.out_in_range);
	add(SUM_OUTSIDE, s.out_outside);
	add(SUM_SATURATED, s.out_saturated);
	add(SUM_EXIT, s.out_lost_exit);
	add(SUM_STOPPED, s.out_lost_stopped);
	add(SUM_UNREADY, s.out_lost_unready);
	add(SUM_DEFERRED, s.out_deferred);
}

/*
 * Shares memory and descriptors with the life, and what libc takes for its
 * thread: so no more of libc than system calls before the others are gone.
 */
static int keeper(void *unused)
{
	struct pollfd fds[] = {
		{ .fd = life.pidfd, .events = POLLIN },
		{ .fd = life.gone, .events = POLLIN },
	};
	struct timespec after = {
		.tv_sec = life.kill_after / 1000,
		.tv_nsec = life.kill_after % 1000 * 1000000,
	};
	int ret;

	(void)unused;
	life.counters[1] = counter_open(0, life.kind == USER, false);
	__atomic_store_n(&life.kept, 1, __ATOMIC_SEQ_CST);
	futex(&life.kept, FUTEX_WAKE, 1);
	ret = syscall(SYS_ppoll, fds, 2, life.kill_after < 0 ? NULL : &after,
		      NULL, 0);
	if (!ret) {
		syscall(SYS_pidfd_send_signal, life.pidfd, SIGKILL, NULL, 0);
		add(SUM_KILLS, 1);
		syscall(SYS_ppoll, fds, 2, NULL, NULL, 0);
	}
	life_account();
	__atomic_sub_fetch(&shared->live, 1, __ATOMIC_SEQ_CST);
	_exit(0);
}

static bool life_keep(void)
{
	life.pidfd = syscall(SYS_pidfd_open, getpid(), 0);
	life.gone = eventfd(0, 0);
	life.counters[0] = counter_open(0, life.kind == USER, false);
	if (life.pidfd < 0 || life.gone < 0 || life.counters[0] < 0 ||
	    clone(keeper, keeper_stack + STACK, CLONE_VM | CLONE_FILES |
		  SIGCHLD, NULL) < 0)
		return false;
	while (!__atomic_load_n(&life.kept, __ATOMIC_SEQ_CST))
		futex(&life.kept, FUTEX_WAIT, 0);
	return life.counters[1] >= 0;
}

/* One region to each page of code, or some, and one for all that is left. */
static unsigned int regions(struct profil_region *region, bool overflow)
{
	void (*const code[])(unsigned long) = { hot_a, hot_b, hot_c };
	struct area *area = &shared->area[life.slot];
	unsigned int i, n = 0, order, most;
	void *buffers[] = { area->narrow, area->wide };
	static const __u32 flags[] = { 0, PROFIL_REGION_F_U32 };

	for (i = 0; i <= ARRAY_SIZE(code); i++) {
		/* A full counter would be no loss, but a count less. */
		order = life.loose || choose(2);
		most = PAGE >> (order + 1);
		if (i == ARRAY_SIZE(code) ? !overflow : !choose(4))
			continue;
		region[n] = (struct profil_region){
			.buf_uptr = UPTR(buffers[order]) +
				    ((__u64)choose(most - 16) << (order + 1)),
			.bytes = 16ULL << (order + 1),
			.scale = 16 * PAGE_SCALE,
			.flags = flags[order],
		};
		if (i == ARRAY_SIZE(code))
			region[n].flags |= PROFIL_REGION_F_OVERFLOW;
		else
			region[n].offset = UPTR(code[i]);
		n++;
	}
	return n;
}

static int life_start(void)
{
	static const __u32 rates[] = { 0, 0, 0, 100, 37 };
	struct profil_region region[4];
	struct profil_ioc_start start = {
		.size = sizeof(start),
		.region_len = sizeof(*region),
		.regions_uptr = UPTR(region),
	};

	/* Without a region, START is STOP: only the wild may stop, or be without. */
	do {
		start.region_num = regions(region, life.loose || choose(8));
	} while (!start.region_num && life.kind != WILD);
	if (!life.loose)
		start.rate = rates[choose(ARRAY_SIZE(rates))];
	if (life.kind == USER)
		start.flags |= PROFIL_START_F_USER_ONLY;
	if (life.kind == WILD && !choose(4))
		start.flags |= PROFIL_START_F_NOINHERIT;
	return profil_ioctl(life.fd, PROFIL_IOC_START, &start);
}

static void burn_some(__u64 *seed)
{
	char buf[256];

	switch (draw(seed) % 5) {
	case 0:
		hot_a(HOT_ROUNDS);
		break;
	case 1:
		hot_b(HOT_ROUNDS);
		break;
	case 2:
		hot_c(HOT_ROUNDS);
		break;
	case 3:
		read_loop(life.zero, buf, sizeof(buf), 200);
		break;
	default:
		if (draw(seed) % 8 == 0)
			usleep(draw(seed) % 10000);
		break;
	}
}

static void *mate_fn(void *arg)
{
	struct mate *mate = arg;

	mate->tid = syscall(SYS_gettid);
	while (!__atomic_load_n(&mate->stop, __ATOMIC_RELAXED)) {
		if (__atomic_load_n(&life.park, __ATOMIC_SEQ_CST)) {
			__atomic_add_fetch(&life.parked, 1, __ATOMIC_SEQ_CST);
			while (__atomic_load_n(&life.park, __ATOMIC_SEQ_CST))
				futex(&life.park, FUTEX_WAIT, 1);
			__atomic_sub_fetch(&life.parked, 1, __ATOMIC_SEQ_CST);
		}
		burn_some(&mate->seed);
	}
	return NULL;
}

static int thread_create(pthread_t *thread, void *(*fn)(void *), void *arg)
{
	pthread_attr_t attr;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 2 * STACK);
	err = pthread_create(thread, &attr, fn, arg);
	pthread_attr_destroy(&attr);
	return err;
}

static void act_mate(void)
{
	struct mate *mate = &life.mates[choose(MATES)];

	if (mate->used && life.kind == ALL)
		return;
	if (mate->used) {
		__atomic_store_n(&mate->stop, true, __ATOMIC_RELAXED);
		pthread_join(mate->thread, NULL);
		mate->used = false;
		return;
	}
	*mate = (struct mate){ .seed = draw(&life.seed) | 1, .used = true };
	if (thread_create(&mate->thread, mate_fn, mate)) {
		fail(CHECK_CALLS, "no thread: %s", strerror(errno));
		mate->used = false;
	}
}

/* No thread of an ALL has ended: its ticks are the kernel's, and none is lost. */
static void act_gate(void)
{
	struct profil_ioc_stats stats;
	__u64 events, ticks;
	__u32 i, n = 0;

	for (i = 0; i < MATES; i++)
		n += life.mates[i].used;
	__atomic_store_n(&life.park, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&life.parked, __ATOMIC_SEQ_CST) < n)
		usleep(1000);
	for (i = 0; i < MATES; i++)
		if (life.mates[i].used)
			wait_asleep(getpid(), life.mates[i].tid);
	if (life_pair(&events, &stats) && shared->ticks) {
		events -= life.base_events;
		ticks = life_ticks(&stats) - life.base_ticks;
		add(SUM_GATES, 1);
		add(SUM_GATED, ticks);
		if (ticks != events || stats.out_lost_exit)
			fail(CHECK_GATE, "%llu ticks, the kernel's %llu, %llu lost at exits",
			     ticks, events, stats.out_lost_exit);
	}
	__atomic_store_n(&life.park, 0, __ATOMIC_SEQ_CST);
	futex(&life.park, FUTEX_WAKE, MATES);
	while (__atomic_load_n(&life.parked, __ATOMIC_SEQ_CST))
		usleep(1000);
}

static void act_ask(void)
{
	struct profil_ioc_stats stats;
	int ret = profil_stats(life.fd, &stats);

	if (!ret)
		identity(&stats);
	else if (life.kind != WILD || ret != -ENOENT)
		fail(CHECK_CALLS, "STATS: %s", strerror(-ret));
}

static void act_start(void)
{
	int ret;

	/* It does not wait for a thread that was about to count: one is lost. */
	if (life.loose && shared->deferred)
		return;
	ret = life_start();
	if (ret)
		fail(CHECK_CALLS, "START: %s", strerror(-ret));
}

/*
 * A child has the shared pages, but not in its page tables: a tick would have
 * to be put off, and is lost if the process is killed then.
 */
static void area_touch(void)
{
	char *page = (char *)&shared->area[life.slot];
	char *end = (char *)&shared->area[life.slot + 1];

	for (; page < end; page += PAGE)
		__atomic_fetch_add(page, 0, __ATOMIC_RELAXED);
}

static void life_run(bool inherited);

static void act_fork(void)
{
	__u64 seed = draw(&life.seed) | 1;
	pid_t pid;

	if (life.depth == DEPTH || (life.loose ? life.forks++ >= FORKS :
	    __atomic_load_n(&shared->live, __ATOMIC_SEQ_CST) >= LIVES))
		return;
	if (!life.loose)
		__atomic_add_fetch(&shared->live, 1, __ATOMIC_SEQ_CST);
	pid = fork();
	if (!pid) {
		life.seed = seed;
		life.depth++;
		life.forks = 0;
		life_run(true);
	}
	add(life.loose ? SUM_FAMILY_PROCESSES : SUM_FORKS, 1);
	if (pid < 0)
		fail(CHECK_CALLS, "fork: %s", strerror(errno));
}

static void *exec_fn(void *unused)
{
	char slot[16], seed[32], gone[16];

	(void)unused;
	snprintf(slot, sizeof(slot), "%u", life.slot);
	snprintf(seed, sizeof(seed), "%llu", draw(&life.seed) | 1);
	snprintf(gone, sizeof(gone), "%d", life.gone);
	add(SUM_EXECS, 1);
	execl("/proc/self/exe", "soak", "--life", slot, seed, gone, NULL);
	fail(CHECK_CALLS, "exec: %s", strerror(errno));
	_exit(1);
}

__attribute__((noreturn))
static void life_end(void)
{
	pthread_t thread;

	switch (choose(life.loose ? 3 : 6)) {
	case 0:
		add(SUM_EXITS, 1);
		exit(0);
	case 1:
		add(SUM_EXITS, 1);
		_exit(0);
	case 2:
		add(SUM_KILLS, 1);
		kill(getpid(), SIGKILL);
		break;
	case 3:
		if (life.kind == WILD)
			profil_stop(life.fd);
		_exit(0);
	case 4:
		exec_fn(NULL);
		break;
	default:
		thread_create(&thread, exec_fn, NULL);
		break;
	}
	for (;;)
		burn_some(&life.seed);
}

static void life_act(void)
{
	switch (choose(life.kind == ALL ? 6 : 8)) {
	case 0:
		act_ask();
		break;
	case 1:
		act_start();
		break;
	case 2:
		act_fork();
		break;
	case 3:
		if (life.kind == ALL)
			act_gate();
		if (life.kind == WILD)
			profil_stop(life.fd);
		break;
	case 6:
	case 7:
		act_mate();
		break;
	default:
		burn_some(&life.seed);
		break;
	}
}

/* Whose profile is the parent's may keep it, and is of its kind then. */
static bool life_begin(bool inherited)
{
	struct profil_ioc_stats stats;
	bool on = inherited && !profil_stats(life.fd, &stats) &&
		  stats.out_state == PROFIL_STATE_ON;
	bool keep = on && choose(2);

	if (!keep)
		life.kind = choose(KINDS);
	life.kill_after = choose(4) ? -1 : (int)choose(1000);
	if (!life_keep() || (!keep && life_start()))
		return false;
	if (!life_pair(&life.base_events, &stats))
		return life.kind == WILD;
	life.base_ticks = life_ticks(&stats);
	__atomic_store_n(&life.based, true, __ATOMIC_RELEASE);
	return true;
}

__attribute__((noreturn))
static void life_run(bool inherited)
{
	unsigned int i, steps = 2 + choose(16);

	memset(life.mates, 0, sizeof(life.mates));
	life.parked = 0;
	life.park = 0;
	life.kept = 0;
	life.based = false;
	syscall(SYS_close_range, SHARED_FD + 1, ~0U, 0);
	area_touch();
	life.fd = profil_open();
	life.zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	if (life.fd < 0 || life.zero < 0 ||
	    (!life.loose && !life_begin(inherited))) {
		fail(CHECK_CALLS, "a life did not begin: %s", strerror(errno));
		_exit(1);
	}
	for (i = choose(MATES + 1); i; i--)
		act_mate();
	for (i = 0; i < steps && !__atomic_load_n(&shared->finish,
						  __ATOMIC_RELAXED); i++) {
		burn_some(&life.seed);
		life_act();
	}
	life_end();
}

static __u64 area_sum(unsigned int slot)
{
	const volatile struct area *area = &shared->area[slot];
	__u64 sum = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(area->narrow); i++)
		sum += area->narrow[i];
	for (i = 0; i < ARRAY_SIZE(area->wide); i++)
		sum += area->wide[i];
	return sum;
}

/* The first of a loose family: profiled before it is counted. */
__attribute__((noreturn))
static void family_first(int said, int go)
{
	char c = 0;

	life.fd = profil_open();
	life.kind = USER;
	life.loose = true;
	area_touch();
	if (life.fd < 0 || life_start() || write(said, &c, 1) != 1 ||
	    read(go, &c, 1) != 1) {
		fail(CHECK_CALLS, "a family did not begin: %s",
		     strerror(errno));
		_exit(1);
	}
	life_run(true);
}

static void family(void)
{
	int said[2], go[2], counter;
	__u64 base, events, bins;
	char c = 0;
	pid_t pid;

	if (pipe(said) || pipe(go))
		_exit(1);
	pid = fork();
	if (!pid) {
		close(go[1]);
		family_first(said[1], go[0]);
	}
	close(said[1]);
	close(go[0]);
	if (pid < 0 || read(said[0], &c, 1) != 1)
		_exit(1);
	wait_asleep(pid, pid);
	counter = counter_open(pid, true, true);
	base = area_sum(life.slot);
	if (counter < 0 || write(go[1], &c, 1) != 1)
		fail(CHECK_CALLS, "no count of a family: %s", strerror(errno));
	while (waitpid(-1, NULL, 0) > 0)
		;
	bins = area_sum(life.slot) - base;
	events = counter_read(counter);
	add(SUM_FAMILIES, 1);
	add(SUM_FAMILY_PROCESSES, 1);
	add(SUM_FAMILY_TICKS, bins);
	add(SUM_FAMILY_THEIRS, events);
	/* A worker that comes when the process is gone finds no memory. */
	if (shared->ticks && (bins > events || (bins < events && !shared->worker)))
		fail(CHECK_FAMILY, "%llu in the histogram, the kernel's %llu",
		     bins, events);
	close(counter);
	close(said[0]);
	close(go[1]);
}

__attribute__((noreturn))
static void families(unsigned int slot, __u64 seed)
{
	life.slot = slot;
	life.seed = seed;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	signal(SIGCHLD, SIG_DFL);
	while (!__atomic_load_n(&shared->finish, __ATOMIC_RELAXED)) {
		draw(&life.seed);
		family();
	}
	_exit(0);
}

static bool shared_map(int flags)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | flags, SHARED_FD, 0);
	return shared != MAP_FAILED;
}

/* Where in memory the histograms are; who may not know is told 0. */
static bool frames_read(__u64 frames[FRAMES])
{
	off_t where = UPTR(shared->area) / PAGE * sizeof(*frames);
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	ssize_t done;
	size_t i;

	if (fd < 0)
		return false;
	done = pread(fd, frames, sizeof(shared->frames), where);
	close(fd);
	for (i = 0; i < FRAMES; i++)
		frames[i] &= FRAME_NUMBER;
	return done == sizeof(shared->frames) && frames[0];
}

/*
 * A page that is being moved is in no page table.  Ticks of that moment are put
 * off, and lost if the process dies or starts anew before it is over.
 */
static bool shared_pin(void)
{
	int err = write_file("/proc/sys/vm/compact_unevictable_allowed", 0, "0");

	return (!err || err == -ENOENT) && !mlock(shared, sizeof(*shared)) &&
	       frames_read(shared->frames);
}

static bool shared_create(void)
{
	struct profil_ioc_query query;
	int fd = memfd_create("soak", 0);

	if (fd < 0 || ftruncate(fd, sizeof(*shared)) ||
	    dup2(fd, SHARED_FD) < 0 || !shared_map(0) || !shared_pin())
		return false;
	if (fd != SHARED_FD)
		close(fd);
	if (event_create())
		return false;
	shared->event = event_id();
	fd = profil_open();
	if (shared->event < 0 || fd < 0 || profil_query(fd, &query))
		return false;
	close(fd);
	shared->deferred = query.out_features & PROFIL_FEATURE_DEFERRED;
	shared->worker = !(query.out_features & PROFIL_FEATURE_TASK_WORK);
	shared->ticks = !own_timers_chosen();
	return true;
}

/* A life that was executed: what it was before can be added up now. */
__attribute__((noreturn))
static void executed(char **args)
{
	__u64 one = 1;

	if (!shared_map(0))
		_exit(1);
	life.slot = atoi(args[0]);
	life.seed = strtoull(args[1], NULL, 10);
	__atomic_add_fetch(&shared->live, 1, __ATOMIC_SEQ_CST);
	if (write(atoi(args[2]), &one, sizeof(one)) != sizeof(one))
		fail(CHECK_CALLS, "the keeper is not told");
	life_run(false);
}

static void supervise(unsigned int seconds, __u64 seed)
{
	unsigned int i, next = 0;
	struct timespec now, end;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	/* Inherited by all: nobody but the families waits for a child. */
	signal(SIGCHLD, SIG_IGN);
	for (i = 0; i < FAMILIES; i++)
		if (!fork())
			families(LIVES + i, seed + i);
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += seconds;
	do {
		/* The rest is for their children. */
		while (__atomic_load_n(&shared->live, __ATOMIC_SEQ_CST) <
		       LIVES * 3 / 4) {
			__atomic_add_fetch(&shared->live, 1, __ATOMIC_SEQ_CST);
			life.slot = next++ % LIVES;
			life.seed = (seed + next) * 0x9e3779b97f4a7c15ULL | 1;
			if (!fork())
				life_run(false);
		}
		usleep(20000);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < end.tv_sec);
	__atomic_store_n(&shared->finish, 1, __ATOMIC_RELAXED);
	while (waitpid(-1, NULL, __WALL) > 0 || errno != ECHILD)
		;
}

static int report(void)
{
	__u64 frames[FRAMES];
	unsigned int i;
	int bad = 0;
	__u64 bins;

	if (!frames_read(frames))
		shared->bad[CHECK_CALLS]++;
	for (i = 0; i < FRAMES; i++)
		shared->bad[CHECK_FRAMES] += frames[i] != shared->frames[i];
	for (i = 0; i < LIVES; i++) {
		bins = area_sum(i);
		life.slot = i;
		if (bins != shared->in_range[i])
			fail(CHECK_BINS, "%llu in the histograms, %llu in range",
			     bins, shared->in_range[i]);
	}
	printf("# sums");
	for (i = 0; i < SUMS; i++)
		printf(" %s=%llu", sum_names[i], shared->sums[i]);
	puts("");
	if (!shared->sums[SUM_TICKS] || !shared->sums[SUM_FAMILY_TICKS])
		shared->bad[CHECK_CALLS]++;
	/* What is compared is there. */
	if (shared->ticks && (!shared->sums[SUM_USER] || !shared->sums[SUM_GATED]))
		shared->bad[CHECK_CALLS]++;
	/* A worker may come too late for some of a family, but not for most. */
	if (shared->ticks && 2 * shared->sums[SUM_FAMILY_TICKS] < shared->sums[SUM_FAMILY_THEIRS])
		shared->bad[CHECK_FAMILY]++;
	for (i = 0; i < CHECKS; i++) {
		printf("%sok - %s\n", shared->bad[i] ? "not " : "",
		       check_names[i]);
		bad |= !!shared->bad[i];
	}
	return bad;
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "--life"))
		executed(argv + 2);
	if (argc != 3 || !shared_create()) {
		fprintf(stderr, "soak: give SECONDS and SEED, and have the module loaded: %s\n",
			strerror(errno));
		return 2;
	}
	supervise(atoi(argv[1]), strtoull(argv[2], NULL, 10));
	event_remove();
	return report();
}
