// SPDX-License-Identifier: GPL-2.0-only
/*
 * Coming and going of the module, its hooks, CPUs and memory, under load: what
 * lifecycle-guest calls.  Each command ends with status 0 if all was as it
 * should be, and says on lines that begin with # what was seen.
 *
 *   cycle N FILE [hammer]		insmod and rmmod N times
 *   hotplug N				CPU 1 off and on again
 *   off SWITCH before|while		a hook is switched off by root, once
 *   oom N GROUP			a process is killed in a control group
 */
#include "../kernel/session.h"
#include "../kernel/ticks.h"

#define LOADERS		3	/* more, and there is always one */
#define CPU_FILE	"/sys/devices/system/cpu/cpu1/online"
#define NS		1000000000ULL

static int fail(const char *what)
{
	printf("# %s (%s)\n", what, strerror(errno));
	return 1;
}

static __u64 clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * NS + now.tv_nsec;
}

/* cycle: the load */

static struct {
	bool finish;
	bool pause;		/* nobody new, so that the module can go */
	__u32 profiled;
	__u32 sessions;
	__u32 held, held_machines;	/* cycles with one that was open */
	__u32 bad;
	__u32 removed;
} *shared;

/* Whether there is no module just now; it may come and go. */
static bool is_gone(int err)
{
	return err == ENOENT || err == ENXIO || err == ENODEV;
}

/* Small, so that what is left of it is seen among other objects of the kernel. */
static int session_begin(struct view *view, __u32 flags)
{
	struct profil_ioc_session args = session_args();

	args.slots = PROFIL_SLOTS_MIN;
	args.processes = PROFIL_PROCESSES_MIN;
	args.objects = PROFIL_OBJECTS_MIN;
	args.flags = flags;
	return view_open(view, &args);
}

/* Once it is stopped: each tick is in one class. */
static bool session_adds_up(const struct view *view)
{
	const struct profil_session_page *page = view->page;
	struct sums sums;

	view_sum(view, &sums);
	return sums.ticks == page->not_due + sums.slots + page->exec + page->full +
			     page->kthreads + page->interrupts;
}

/* Half of them end here: what they have open goes without a word, or another program begins. */
static void load_die(unsigned int *seed)
{
	switch (rand_r(seed) % 4) {
	case 0:
		kill(getpid(), SIGKILL);
		break;
	case 1:
		execl("/proc/self/exe", "lifecycle", "nothing", NULL);
		_exit(1);
	}
}

/* In a child of load_session(). */
__attribute__((noreturn))
static void load_member(const struct view *view, unsigned int seed)
{
	if (session_join(view->fd))
		_exit(1);
	hot_a(4 * HOT_ROUNDS);
	if (rand_r(&seed) % 2 && !fork())
		hot_a(4 * HOT_ROUNDS);
	if (rand_r(&seed) % 2)
		execl("/proc/self/exe", "lifecycle", "nothing", NULL);
	_exit(0);
}

/* In a child: a session, of processes or of the machine, that ends in one of many ways. */
static int load_session(unsigned int seed)
{
	bool machine = rand_r(&seed) % 2;
	struct view view;
	int err = session_begin(&view, machine ? PROFIL_SESSION_F_SYSTEM : 0);
	pid_t pid = -1;

	if (err)
		/* Four of the machine are all there are, and what ended holds its place a while. */
		return !is_gone(-err) && !(machine && err == -ENOSPC);
	__atomic_add_fetch(&shared->sessions, 1, __ATOMIC_RELAXED);
	if (machine)
		hot_a(4 * HOT_ROUNDS);
	else
		pid = fork();
	if (!pid)
		load_member(&view, seed);
	load_die(&seed);
	if (rand_r(&seed) % 2)
		return pid > 0 ? wait_for(pid) : 0;
	return session_stop(&view) || !session_adds_up(&view);
}

/* In a child: profiled if there is a module just now. */
static int load_once(unsigned int seed)
{
	struct profil_ioc_stats stats;
	int i, fd = profil_open();
	pid_t pid;

	if (fd < 0)
		return !is_gone(errno);
	if (rand_r(&seed) % 3 == 0) {
		close(fd);
		return load_session(seed);
	}
	if (profil_start_page(fd, hot_a, page_alloc()))
		return 1;
	__atomic_add_fetch(&shared->profiled, 1, __ATOMIC_RELAXED);
	for (i = rand_r(&seed) % 4; i; i--)
		hot_a(HOT_ROUNDS);
	pid = rand_r(&seed) % 2 ? fork() : -1;
	if (!pid)
		hot_a(HOT_ROUNDS);
	if (profil_stats(fd, &stats) || !check_identity(&stats))
		return 1;
	load_die(&seed);
	return rand_r(&seed) % 2 ? profil_stop(fd) : 0;
}

static void load(unsigned int seed, bool hammer)
{
	int status;
	pid_t pid;

	while (!__atomic_load_n(&shared->finish, __ATOMIC_RELAXED)) {
		if (__atomic_load_n(&shared->pause, __ATOMIC_RELAXED)) {
			usleep(1000);
			continue;
		}
		pid = fork();
		if (!pid)
			_exit(load_once(seed));
		status = wait_for(pid);
		if (status && status != -SIGKILL)
			__atomic_add_fetch(&shared->bad, 1, __ATOMIC_RELAXED);
		rand_r(&seed);
		usleep(rand_r(&seed) % (hammer ? 20000 : 150000));
	}
}

static int module_remove(void)
{
	if (syscall(SYS_delete_module, "profil", O_NONBLOCK))
		return errno;
	__atomic_add_fetch(&shared->removed, 1, __ATOMIC_RELAXED);
	return 0;
}

/* Whoever comes first: somebody succeeds, the others see that it is in use. */
static void removers(void)
{
	int err;

	while (!__atomic_load_n(&shared->finish, __ATOMIC_RELAXED)) {
		err = module_remove();
		if (err && err != EAGAIN && err != EBUSY && err != ENOENT)
			__atomic_add_fetch(&shared->bad, 1, __ATOMIC_RELAXED);
		usleep(3000);
	}
}

static int module_counts(void)
{
	struct profil_ioc_stats stats;
	pid_t pid = fork();
	int fd;

	if (!pid) {
		fd = profil_open();
		_exit(fd < 0 || profil_start_page(fd, hot_a, page_alloc()) ||
		      !burn(fd, hot_a, 5) || profil_stats(fd, &stats) ||
		      !check_identity(&stats));
	}
	return wait_for(pid);
}

/*
 * Until it is gone, whoever removed it.  On a slow machine there is always
 * somebody who uses it, so that the load has to pause for this; with an error
 * after ten minutes in which nobody begins to.
 */
static int cycle_out(__u32 *busy)
{
	__u64 end = clock_ns(CLOCK_MONOTONIC) + 10 * NS, now;
	int err;

	for (;;) {
		err = module_remove();
		if (!err || err == ENOENT)
			break;
		if (err != EAGAIN && err != EBUSY)
			return fail("rmmod fails, and not because it is in use");
		now = clock_ns(CLOCK_MONOTONIC);
		if (now > end) {
			if (shared->pause)
				return fail("rmmod is refused for ten minutes");
			__atomic_store_n(&shared->pause, true, __ATOMIC_RELAXED);
			end = now + 600 * NS;
		}
		++*busy;
		usleep(1000);
	}
	__atomic_store_n(&shared->pause, false, __ATOMIC_RELAXED);
	errno = 0;
	if (!access("/dev/profil", F_OK) || errno != ENOENT)
		return fail("/dev/profil is there without the module");
	return access("/sys/module/profil", F_OK) ? 0 :
	       fail("/sys/module/profil is there without the module");
}

/* Whether nobody can remove the module now. */
static bool cycle_refuses(void)
{
	int i, err;

	for (i = 0; i < 5; i++) {
		err = module_remove();
		if (err != EAGAIN && err != EBUSY)
			return false;
		usleep(1000);
	}
	return true;
}

/* The one that follows @view, which ends. */
static int cycle_follow(struct view *view)
{
	struct view former = *view;
	struct profil_ioc_session args = session_args();
	int err;

	args.flags = PROFIL_SESSION_F_SYSTEM;
	err = view_open_by(former.fd, view, &args);
	if (!err)
		view_close(&former);
	return err;
}

/* A member that goes on when its session has ended; 0 if there is none. */
static pid_t cycle_member(const struct view *view)
{
	pid_t pid = fork();

	if (!pid) {
		if (session_join(view->fd))
			_exit(1);
		close(view->fd);
		burn_for_ever();
	}
	while (pid > 0 && !view_ticks(view)) {
		if (waitpid(pid, NULL, WNOHANG))
			return 0;
		usleep(1000);
	}
	return pid > 0 ? pid : 0;
}

/*
 * A session of the machine or of a process holds the module as long as its descriptor or its
 * mapping is there, and its member does not.  @pid is what has to be killed afterwards.
 */
static int cycle_hold(bool machine, bool hammer, pid_t *pid)
{
	struct view view;
	int err = session_begin(&view, machine ? PROFIL_SESSION_F_SYSTEM : 0);

	if (err == -ENOSPC && machine)
		return 0;
	if (err)
		return hammer && is_gone(-err) ? 0 : fail("no session");
	if (machine)
		shared->held_machines++;
	else
		shared->held++;
	*pid = machine ? 0 : cycle_member(&view);
	if (machine ? cycle_follow(&view) : !*pid)
		return fail("no session that follows, or no member");
	if (!cycle_refuses())
		return fail("rmmod succeeds while a session is open");
	close(view.fd);
	if (!cycle_refuses())
		return fail("rmmod succeeds while a session is mapped");
	if (!view_ticks(&view) && !machine)
		return fail("a session that is open counts nothing");
	munmap((void *)view.page, view.bytes);
	return 0;
}

static int cycle_in(int file, unsigned int n, bool hammer)
{
	static const char *const params[] = {
		"", "hook=kprobe", "hook=hrtimer", "deliver=deferred",
		"hook=ftrace arm=always", "deliver=deferred task_work=0",
		"hook=kprobe arm=always", "hook=hrtimer arm=always",
	};
	int ret;

	/* Who no longer finds it may yet find its name taken by another's rmmod. */
	do
		ret = syscall(SYS_finit_module, file, params[n % ARRAY_SIZE(params)], 0);
	while (ret && errno == EBUSY && hammer);
	if (ret)
		return fail("insmod after rmmod fails");
	/* Another may remove it at once. */
	if (hammer)
		return 0;
	if (access("/dev/profil", F_OK))
		return fail("/dev/profil is not there with the module");
	/* 3 and the number of parameters have no common divisor: each of these has its turn. */
	return n % 3 || !module_counts() ? 0 : fail("nothing is counted");
}

static int cycle(unsigned int num, const char *path, bool hammer)
{
	__u64 said = clock_ns(CLOCK_MONOTONIC), now;
	int bad = 0, file = open(path, O_RDONLY | O_CLOEXEC);
	unsigned int i, n = 0;
	__u32 busy = 0;
	pid_t member;

	shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (file < 0 || shared == MAP_FAILED)
		return fail(path);
	for (i = 0; i < LOADERS; i++)
		if (!fork()) {
			load(i + 1, hammer);
			_exit(0);
		}
	for (i = 0; hammer && i < 2; i++)
		if (!fork()) {
			removers();
			_exit(0);
		}
	bad = cycle_out(&busy);
	for (; !bad && n < num; n++) {
		bad = cycle_in(file, n, hammer);
		usleep(n * 7919 % 30000);
		member = 0;
		if (!bad && n % 5 == 2)
			bad = cycle_hold(n % 2, hammer, &member);
		if (!bad)
			bad = cycle_out(&busy);
		if (member && (kill(member, SIGKILL) || wait_for(member) != -SIGKILL))
			bad = fail("a member has ended with its session");
		now = clock_ns(CLOCK_MONOTONIC);
		if (now - said > 30 * NS) {
			printf("# %u cycles\n", n);
			fflush(stdout);
			said = now;
		}
	}
	shared->finish = true;
	while (wait(NULL) > 0)
		;
	printf("# %u cycles, %u with an open session, in use %u times, %u profiles, %u sessions\n",
	       n, shared->held + shared->held_machines, busy, shared->profiled, shared->sessions);
	if (shared->bad)
		bad = fail("a process of the load did not get what it must");
	/* Where others remove it as well, it may be gone each time before a session begins. */
	if (!busy || !shared->profiled || shared->removed < n ||
	    (n > 10 && (!shared->sessions || !(hammer || (shared->held && shared->held_machines)))))
		bad = fail("there was no load, or nothing was removed");
	return bad;
}

/* hotplug */

static struct gate gate;

struct runner {
	pthread_t thread;
	pid_t tid;
	bool come;		/* burn on CPU 1 */
	bool stop;
	__u64 began;		/* on it, since */
};

static void *runner_fn(void *arg)
{
	struct runner *runner = arg;

	runner->tid = syscall(SYS_gettid);
	while (!__atomic_load_n(&runner->stop, __ATOMIC_SEQ_CST)) {
		if (!__atomic_load_n(&runner->come, __ATOMIC_SEQ_CST)) {
			__atomic_store_n(&runner->began, 0, __ATOMIC_SEQ_CST);
			usleep(1000);
			continue;
		}
		if (sched_getcpu() != 1 || !runner->began) {
			pin(1);
			__atomic_store_n(&runner->began,
					 clock_ns(CLOCK_MONOTONIC),
					 __ATOMIC_SEQ_CST);
		}
		hot_b(HOT_ROUNDS);
	}
	gate_wait(&gate);
	return NULL;
}

/* Own timers: how many the kernel has, one at most on each CPU. */
static int timers(void)
{
	FILE *list = fopen("/proc/timer_list", "re");
	char line[256];
	int n = 0;

	while (list && fgets(line, sizeof(line), list))
		n += !!strstr(line, "profil_hrtimer_expired");
	if (!list)
		return -1;
	fclose(list);
	return n;
}

/*
 * One that runs right now is in no list; and one that expires while the list is
 * read may be in it twice.  So not always all, and now and then more, but these
 * several times in a row.
 */
static int timers_are(int num)
{
	int i, n = -1, row = 0;

	for (i = 0; i < 200 && row < 3; i++) {
		n = timers();
		row = n == num ? row + 1 : 0;
		usleep(2000);
	}
	if (row == 3)
		return 0;
	printf("# %d own timers, not %d\n", n, num);
	return 1;
}

/*
 * CPU 1 is back: it has to count what runs there.  From a timer that expires
 * at most once in each period follows a bound on what can be counted there: the
 * first may be a late one, and the second its successor in time.
 */
static int hotplug_back(struct runner *runner, const volatile __u32 *counter,
			const struct profil_ioc_query *query)
{
	__u64 cpu, now, elapsed, ticks;
	__u32 was;
	clockid_t clock;

	if (pthread_getcpuclockid(runner->thread, &clock))
		return fail("no clock of the thread");
	__atomic_store_n(&runner->come, true, __ATOMIC_SEQ_CST);
	while (!__atomic_load_n(&runner->began, __ATOMIC_SEQ_CST))
		usleep(1000);
	was = *counter;
	cpu = clock_ns(clock);
	while (*counter - was < 8) {
		/* CPU time goes on while the machine stands still. */
		if (clock_ns(clock) - cpu > 60 * NS)
			return fail("nothing is counted on the CPU that came back");
		usleep(5000);
	}
	ticks = *counter - was;
	now = clock_ns(CLOCK_MONOTONIC);
	elapsed = now - runner->began;
	__atomic_store_n(&runner->come, false, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&runner->began, __ATOMIC_SEQ_CST))
		usleep(1000);
	if (query->out_hook == PROFIL_HOOK_HRTIMER &&
	    ticks > elapsed / query->out_tick_ns + 2) {
		printf("# %llu ticks in %llu ns\n", ticks, elapsed);
		return fail("a CPU has more than one timer");
	}
	return 0;
}

static int cpu_online(const char *online)
{
	int ret = write_file(CPU_FILE, 0, online);

	errno = -ret;
	return ret;
}

static int hotplug(int rounds)
{
	__u32 *counters = page_alloc();
	struct profil_region region[] = {
		page_region(hot_a, counters), page_region(hot_b, counters + 1),
		any_region(counters + 2),
	};
	struct runner runner = { .stop = false };
	struct profil_ioc_stats stats, first;
	struct instance instance;
	struct profil_ioc_query query;
	int i, bad = 0, fd = profil_open();
	__u64 begin, events;
	pid_t tids[2];
	bool own;

	for (i = 0; i < 3; i++) {
		region[i].flags |= PROFIL_REGION_F_U32;
		region[i].bytes = sizeof(*counters);
	}
	if (fd < 0 || profil_start(fd, region, 3) || profil_query(fd, &query) ||
	    event_create())
		return fail("cannot begin");
	own = query.out_hook == PROFIL_HOOK_HRTIMER;
	pthread_create(&runner.thread, NULL, runner_fn, &runner);
	while (!runner.tid)
		usleep(1000);
	tids[0] = getpid();
	tids[1] = runner.tid;
	instance_create(&instance);
	if (instance_watch(&instance, tids, 2, ALL_TICKS))
		return fail("no count of the kernel");
	do {	/* the other thread sleeps nearly always */
		begin = instance_count(&instance);
		profil_stats(fd, &first);
	} while (instance_count(&instance) != begin);
	for (i = 0; i < rounds && !bad; i++) {
		if (cpu_online("0"))
			bad = fail("CPU 1 does not go");
		else if (!burn(fd, hot_a, 4))
			bad = fail("nothing is counted on the other CPU");
		else if (own)
			bad = timers_are(1);
		if (cpu_online("1"))
			bad = fail("CPU 1 does not come back");
		bad = bad || hotplug_back(&runner, counters + 1, &query) ||
		      (own && timers_are(2));
	}
	runner.stop = true;
	gate_wait_asleep(&gate, &runner.tid, 1);
	if (!take_pair(&instance, fd, &events, &stats))
		return fail("STATS fails");
	printf("# %d times: %llu ticks, the kernel's %llu, %u on CPU 1, lost %llu\n",
	       i, stats.out_ticks - first.out_ticks, events - begin,
	       counters[1], stats.out_lost);
	if (!check_identity(&stats) || stats.out_lost)
		bad = fail("not all is accounted for");
	if (!own && stats.out_ticks - first.out_ticks != events - begin)
		bad = fail("these are not the kernel's ticks");
	if (profil_stop(fd) || profil_stats(fd, &stats) ||
	    counters[0] + counters[1] + counters[2] != stats.out_in_range)
		bad = fail("the counters are not the samples in range");
	instance_destroy(&instance);
	event_remove();
	gate_open(&gate);
	pthread_join(runner.thread, NULL);
	return bad;
}

/* off */

static int switch_to(const char *path, const char *value)
{
	char now = 0;
	int file;

	if (write_file(path, 0, value))
		return fail(path);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0 || read(file, &now, 1) != 1 || now != *value)
		return fail("the switch does not keep what it was given");
	close(file);
	return 0;
}

/*
 * How long nothing was counted, which only the CPU knows: the kernel's own event on
 * the tick is switched off as well.
 */
static int blind(int fd)
{
	struct profil_ioc_stats stats;
	long busy = busy_cpu0();

	if (busy < 0 || profil_stats(fd, &stats))
		return fail("STATS or /proc/stat fails");
	if (!burn(fd, hot_a, 1))
		return fail("the profile is over");
	busy = busy_cpu0() - busy;
	printf("# blind for %ld ms of CPU time\n", 10 * busy);
	/* Two looks are two thirds of a second; a slow CPU needs some more to place the timers. */
	return busy <= 100 ? 0 : fail("it takes more than a second to be noticed");
}

static int off(const char *path, bool before)
{
	__u32 *counter = page_alloc();
	struct profil_region region = any_region(counter);
	struct profil_ioc_query was, query;
	struct profil_ioc_stats stats;
	__u64 begin, ticks, ns;
	int fd = profil_open();

	region.flags |= PROFIL_REGION_F_U32;
	region.bytes = sizeof(*counter);
	/* Whose timers wait where it sleeps afterwards. */
	pin(1);
	if (before && switch_to(path, "0"))
		return 1;
	if (fd < 0 || profil_start(fd, &region, 1) || profil_query(fd, &was))
		return fail("cannot begin");
	pin(0);
	if (!before && (!burn(fd, hot_a, 3) || switch_to(path, "0")))
		return 1;
	if (blind(fd))
		return 1;
	/* The first timers count before the last one is there, and then all say so. */
	do {
		if (profil_query(fd, &query))
			return fail("QUERY fails");
	} while (query.out_hook == was.out_hook &&
		 query.out_hooks_lost != was.out_hooks_lost);
	if (query.out_hook == was.out_hook ?
	    query.out_hooks_lost != was.out_hooks_lost :
	    query.out_hook != PROFIL_HOOK_HRTIMER ||
	    query.out_hooks_lost != was.out_hooks_lost + 1) {
		printf("# hook %u, lost %u; it was %u and %u\n", query.out_hook,
		       query.out_hooks_lost, was.out_hook, was.out_hooks_lost);
		return fail("QUERY does not say what happened");
	}
	if (switch_to(path, "1"))
		return 1;
	/* Back on: still one tick a period, and not those of two hooks. */
	begin = clock_ns(CLOCK_MONOTONIC);
	if (profil_stats(fd, &stats))
		return fail("STATS fails");
	ticks = stats.out_ticks;
	if (!burn(fd, hot_a, 40) || profil_stats(fd, &stats))
		return fail("nothing is counted after it is switched on again");
	ns = clock_ns(CLOCK_MONOTONIC) - begin;
	if (stats.out_ticks - ticks > ns / query.out_tick_ns + 2) {
		printf("# %llu ticks in %llu ns\n", stats.out_ticks - ticks, ns);
		return fail("ticks are counted twice");
	}
	if (!settle(fd, &stats) || profil_stop(fd) ||
	    profil_stats(fd, &stats) || !check_identity(&stats) ||
	    stats.out_in_range != *counter)
		return fail("not all is accounted for");
	return 0;
}

/* oom */

struct report {
	bool swapped;		/* the histogram was, before the end */
	struct profil_ioc_stats stats;	/* under pressure */
	__u32 counter;
};

static bool swapped(const void *at)
{
	int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	__u64 word = 0;

	if (file >= 0 && pread(file, &word, sizeof(word),
			       (uintptr_t)at / PAGE * sizeof(word)) < 0)
		word = 0;
	close(file);
	return word & 1ULL << 62;
}

/* In the control group: more memory than it may have, again and again. */
static void *press_fn(void *arg)
{
	struct burner *burner = arg;
	size_t i, size = 14 << 20;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	while (!burner->stop)
		for (i = 0; i < size && !burner->stop; i += PAGE)
			memory[i]++;
	return munmap(memory, size) ? arg : NULL;
}

static void victim(struct report *report)
{
	__u32 *counters = page_alloc();
	struct profil_region region = any_region(counters);
	struct burner burners[2], press = { .stop = false };
	struct profil_ioc_stats stats;
	int i, fd = profil_open();
	char *memory;

	region.flags |= PROFIL_REGION_F_U32;
	region.bytes = sizeof(*counters);
	if (fd < 0 || profil_start(fd, &region, 1) ||
	    pthread_create(&press.thread, NULL, press_fn, &press))
		_exit(1);
	for (i = 0; i < 20; i++) {
		madvise(counters, PAGE, MADV_PAGEOUT);
		if (!burn(fd, hot_a, 2))
			_exit(2);
	}
	press.stop = true;
	pthread_join(press.thread, NULL);
	if (!settle(fd, &stats) || profil_stop(fd) || profil_stats(fd, &stats) ||
	    !check_identity(&stats))
		_exit(3);
	report->stats = stats;
	report->counter = *counters;
	/* And now with the histogram in swap, until it is killed. */
	if (profil_start(fd, &region, 1))
		_exit(4);
	for (i = 0; i < 2; i++)
		burner_start(&burners[i], hot_b);
	/* A page is at hand of the CPU that made it, and goes only there. */
	for (i = 0; !report->swapped && i < 10000; i++) {
		if (i % 16 == 0)
			pin(i / 16 % 2);
		madvise(counters, PAGE, MADV_PAGEOUT);
		report->swapped |= swapped(counters);
	}
	for (;;) {
		memory = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		if (memory == MAP_FAILED)
			_exit(5);
		report->swapped |= swapped(counters);
	}
}

static int oom_once(const char *group, struct report *report, int fd)
{
	char path[256], pid_text[16];
	pid_t pid;
	int status;

	memset(report, 0, sizeof(*report));
	snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	/* Not inherited: this process is the one that goes on. */
	pid = fork();
	if (!pid) {
		snprintf(pid_text, sizeof(pid_text), "%d", getpid());
		if (write_file(path, 0, pid_text))
			_exit(6);
		victim(report);
	}
	while (waitpid(pid, &status, WNOHANG) != pid)
		if (!burn(fd, hot_a, 2))
			return fail("the profile of another is over");
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) {
		printf("# status %x\n", status);
		return fail("it was not killed for its memory");
	}
	/* If the killer came before its time, there was nothing to see. */
	if (report->stats.out_in_range == report->counter &&
	    report->stats.out_lost == report->stats.out_lost_exit)
		return report->swapped ? 0 : -EAGAIN;
	printf("# counter %u, in range %llu, lost %llu: exits %llu, unready %llu, stopped %llu\n",
	       report->counter, report->stats.out_in_range,
	       report->stats.out_lost, report->stats.out_lost_exit,
	       report->stats.out_lost_unready, report->stats.out_lost_stopped);
	return fail("not all is accounted for under pressure");
}

static int oom(int rounds, const char *group)
{
	struct report *report = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	__u16 *counter = page_alloc();
	__u64 begin, events, in_range = 0;
	struct profil_ioc_stats stats, first;
	int i, bad = 0, fd = profil_open();
	struct instance instance;
	__u64 lost = 0;
	pid_t tid = getpid();

	if (fd < 0 || profil_start_page(fd, hot_a, counter) || event_create())
		return fail("cannot begin");
	instance_create(&instance);
	if (instance_watch(&instance, &tid, 1, ALL_TICKS) ||
	    !take_pair(&instance, fd, &begin, &first))
		return fail("no count of the kernel");
	for (i = 0; i < rounds && !bad; i++) {
		do
			bad = oom_once(group, report, fd);
		while (bad == -EAGAIN);
		in_range += report->counter;
		lost += report->stats.out_lost;
	}
	if (!take_pair(&instance, fd, &events, &stats))
		return fail("STATS fails");
	printf("# %d killed: %llu in range under pressure, %llu lost at exits of threads\n",
	       i, in_range, lost);
	printf("# of another: %llu ticks, the kernel's %llu\n",
	       stats.out_ticks - first.out_ticks, events - begin);
	if (!check_identity(&stats) || stats.out_lost ||
	    stats.out_ticks - first.out_ticks != events - begin)
		bad = fail("the ticks of another are not accounted for");
	instance_destroy(&instance);
	event_remove();
	return bad;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 2 && !strcmp(argv[1], "nothing"))
		return 0;
	if (argc >= 4 && !strcmp(argv[1], "cycle"))
		return cycle(atoi(argv[2]), argv[3], argc > 4);
	if (argc == 3 && !strcmp(argv[1], "hotplug"))
		return hotplug(atoi(argv[2]));
	if (argc == 4 && !strcmp(argv[1], "off"))
		return off(argv[2], !strcmp(argv[3], "before"));
	if (argc == 4 && !strcmp(argv[1], "oom"))
		return oom(atoi(argv[2]), argv[3]);
	fprintf(stderr, "lifecycle: unknown command, see the top of its source\n");
	return 2;
}
