// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions of the whole machine: each tick of each CPU in one class, in the row of its
 * control group and name.
 *
 * What is equal is equal to what the kernel itself has counted: /proc/stat, and an event on
 * the tick (ticks.h).  Other programs of the machine may run; nothing looks at wall time.
 */
#include <arpa/inet.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

#include "session.h"
#include "ticks.h"

#define USER		1000
#define SYSTEMS		4	/* sessions of the whole machine */

static struct profil_ioc_session system_args(void)
{
	struct profil_ioc_session args = session_args();

	args.flags = PROFIL_SESSION_F_SYSTEM;
	return args;
}

/* The session that follows that of @former, which stays to be read. */
static int view_follow(const struct view *former, struct view *view)
{
	struct profil_ioc_session args = system_args();

	return view_open_by(former->fd, view, &args);
}

static int name_row(const struct view *view, const char *comm)
{
	__u32 i, used = __atomic_load_n(&view->page->processes_used, __ATOMIC_ACQUIRE);

	for (i = 1; i < used; i++)
		if (!strcmp(view_row(view, i)->comm, comm))
			return i;
	return -1;
}

static void burn_as(const char *comm)
{
	prctl(PR_SET_NAME, comm);
	burn_for_ever();
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Until the row of that name has so many ticks. */
static void wait_name(const struct view *view, const char *comm, __u64 ticks)
{
	while (name_ticks(view, comm, 0) < ticks)
		usleep(5000);
}

FIXTURE(machine) {
	struct view view;
	struct sums sums;
	struct profil_ioc_session args;
	struct profil_ioc_query query;
};

FIXTURE_SETUP(machine)
{
	int fd = profil_open();

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, profil_query(fd, &self->query));
	close(fd);
	self->args = system_args();
	ASSERT_EQ(0, view_open(&self->view, &self->args));
}

FIXTURE_TEARDOWN(machine)
{
	view_close(&self->view);
}

/* ---- classes */

/* What the kernel has of all CPUs, in its ticks. */
struct stat_ticks {
	double user, system, interrupts;
	double unit;		/* ticks in a hundredth of a second, to which each is cut */
};

static struct stat_ticks read_stat(const struct profil_ioc_query *query)
{
	unsigned long long user = 0, nice = 0, system = 0, irq = 0, softirq = 0;
	double hz = (double)query->out_tick_hz / sysconf(_SC_CLK_TCK);
	FILE *file = fopen("/proc/stat", "re");

	if (!file || fscanf(file, "cpu %llu %llu %llu %*u %*u %llu %llu", &user, &nice, &system,
			    &irq, &softirq) != 5)
		user = 0;
	if (file)
		fclose(file);
	return (struct stat_ticks){
		.user = (user + nice) * hz,
		.system = (system + irq + softirq) * hz,
		.interrupts = (irq + softirq) * hz,
		.unit = hz,
	};
}

/*
 * Whether @ours is at least what the kernel counted from @b to @c, and at most from @a to
 * @d, all of which are sums of three at most that are cut to @unit.
 */
static bool is_between(const char *what, __u64 ours, double a, double b, double c, double d,
		       double unit)
{
	double cut = 3 * unit;

	printf("# %s: %llu, of %g to %g\n", what, ours, c - b, d - a);
	return c - b - cut <= ours && ours <= d - a + cut;
}

/* What it sends itself arrives in softirqs, which come upon it. */
static int send_for_ever(void)
{
	struct sockaddr_in self = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	socklen_t len = sizeof(self);
	char buf[1024];

	self.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &lo) ||
	    bind(fd, (struct sockaddr *)&self, sizeof(self)) ||
	    getsockname(fd, (struct sockaddr *)&self, &len) ||
	    connect(fd, (struct sockaddr *)&self, len))
		return 1;
	while (send(fd, buf, sizeof(buf), 0) == sizeof(buf))
		recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
	return 2;
}

/* Own timers tick apart from the kernel's; CPUs that are left alone have neither. */
static bool ticks_are_the_kernels(const struct profil_ioc_query *query)
{
	return query_hook() != PROFIL_HOOK_HRTIMER &&
	       !(query->out_features & PROFIL_FEATURE_NOHZ_FULL);
}

TEST_F(machine, classes_are_those_of_the_kernel)
{
	struct stat_ticks a, b, c, d;
	struct view view;
	pid_t burner, forker, reader, sender;

	a = read_stat(&self->query);
	ASSERT_EQ(0, view_open(&view, &self->args));
	b = read_stat(&self->query);
	burner = fork();
	if (!burner)
		burn_as("classes_burn");
	forker = fork();
	if (!forker)
		for (;;) {
			if (!fork())
				_exit(0);
			wait(NULL);
		}
	reader = fork();
	if (!reader) {
		static char buf[65536];
		int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

		read_loop(fd, buf, sizeof(buf), ~0UL);
	}
	sender = fork();
	if (!sender)
		_exit(send_for_ever());
	wait_name(&view, "classes_burn", 10 * TICKS);
	/* Where a machine is busy, ticks of its guest come in heaps, and few in user mode. */
	do {
		usleep(5000);
		view_sum(&view, &self->sums);
	} while (self->sums.user <= TICKS || self->sums.system <= TICKS);
	end_child(burner);
	end_child(forker);
	end_child(reader);
	end_child(sender);
	c = read_stat(&self->query);
	ASSERT_TRUE(view_finish(&view, &self->sums));
	d = read_stat(&self->query);
	if (ticks_are_the_kernels(&self->query)) {
		EXPECT_TRUE(is_between("user", self->sums.user, a.user, b.user, c.user, d.user,
				       a.unit));
		EXPECT_TRUE(is_between("system", self->sums.system, a.system, b.system, c.system,
				       d.system, a.unit));
		EXPECT_TRUE(is_between("interrupts", view.page->interrupts, a.interrupts,
				       b.interrupts, c.interrupts, d.interrupts, a.unit));
	}
	view_close(&view);
}

/* Which ends while others do, and has all of theirs. */
TEST_F(machine, programs_that_come_and_go_are_in_their_classes)
{
	struct stat_ticks a, b, c, d;
	struct view view;
	int i;

	a = read_stat(&self->query);
	ASSERT_EQ(0, view_open(&view, &self->args));
	b = read_stat(&self->query);
	for (i = 0; i < 100; i++) {
		if (!fork()) {
			execl("/proc/self/exe", "session_system_test", "--true", NULL);
			_exit(127);
		}
		if (i % 4 == 3)
			while (wait(NULL) > 0)
				;
	}
	c = read_stat(&self->query);
	ASSERT_TRUE(view_finish(&view, &self->sums));
	d = read_stat(&self->query);
	EXPECT_EQ(0, view.page->full);
	if (ticks_are_the_kernels(&self->query)) {
		EXPECT_TRUE(is_between("user", self->sums.user, a.user, b.user, c.user, d.user,
				       a.unit));
		EXPECT_TRUE(is_between("system", self->sums.system, a.system, b.system, c.system,
				       d.system, a.unit));
	}
	view_close(&view);
}

/* All that is in the kernel, but for idle, is where the kernel was. */
TEST_F(machine, ticks_in_the_kernel_are_also_where_it_was)
{
	static char buf[65536];
	struct view view;
	__u64 kernel = 0;
	pid_t pid;
	__u32 i;

	self->args.flags |= PROFIL_SESSION_F_KERNEL;
	ASSERT_EQ(0, view_open(&view, &self->args));
	pid = fork();
	if (!pid) {
		prctl(PR_SET_NAME, "kernel_read");
		read_loop(open("/dev/zero", O_RDONLY | O_CLOEXEC), buf, sizeof(buf), ~0UL);
	}
	wait_name(&view, "kernel_read", TICKS);
	end_child(pid);
	ASSERT_TRUE(view_finish(&view, &self->sums));
	for (i = 0; i < view.page->slots; i++)
		if (view_slot(&view, i)->object == PROFIL_OBJECT_KERNEL) {
			kernel += view_slot(&view, i)->system;
			EXPECT_EQ(0, view_slot(&view, i)->user);
		}
	EXPECT_EQ(self->sums.system, kernel + view.page->full_kernel);
	EXPECT_LT(0, kernel);
	view_close(&view);
}

/* ---- rows */

/* A control group of our own, or an error. */
struct group {
	char root[32], path[64];
	__u64 id;
};

static int group_make(struct group *group)
{
	struct stat st;

	strcpy(group->root, "/tmp/profil_group_XXXXXX");
	if (!mkdtemp(group->root))
		return -errno;
	if (mount("none", group->root, "cgroup2", 0, NULL))
		return -errno;
	snprintf(group->path, sizeof(group->path), "%s/inner", group->root);
	if (mkdir(group->path, 0700) || stat(group->path, &st))
		return -errno;
	group->id = st.st_ino;
	return 0;
}

static int group_enter(const struct group *group)
{
	char procs[96];

	snprintf(procs, sizeof(procs), "%s/cgroup.procs", group->path);
	return write_file(procs, 0, "0");
}

static void group_end(const struct group *group)
{
	/* Whoever was in it is gone, but perhaps not yet for the group. */
	while (rmdir(group->path) && errno == EBUSY)
		usleep(5000);
	umount(group->root);
	rmdir(group->root);
}

TEST_F(machine, row_is_that_of_a_group_and_a_name)
{
	struct group group;
	pid_t pids[2];
	int row;

	ASSERT_EQ(0, group_make(&group));
	pids[0] = fork();
	if (!pids[0]) {
		if (group_enter(&group))
			_exit(1);
		burn_as("row_burner");
	}
	wait_name(&self->view, "row_burner", TICKS);
	row = name_row(&self->view, "row_burner");
	ASSERT_LT(0, row);
	EXPECT_EQ(group.id, view_row(&self->view, row)->cgroup);
	EXPECT_EQ(pids[0], (pid_t)view_row(&self->view, row)->pid);
	EXPECT_EQ(0, view_row(&self->view, row)->parent);
	EXPECT_EQ(PROFIL_PROCESS_MEMBER, view_row(&self->view, row)->state);
	EXPECT_LT(0, row_hot(&self->view, row));
	/* Another process of that name has the same row, in another group another one. */
	pids[1] = fork();
	if (!pids[1])
		burn_as("row_burner");
	while (name_ticks(&self->view, "row_burner", 0) <
	       name_ticks(&self->view, "row_burner", group.id) + TICKS)
		usleep(5000);
	end_child(pids[0]);
	end_child(pids[1]);
	group_end(&group);
	ASSERT_TRUE(view_finish(&self->view, &self->sums));
}

static void *burn_thread(void *name)
{
	burn_as(name);
	return NULL;
}

TEST_F(machine, threads_have_the_rows_of_their_names)
{
	pthread_t thread;
	pid_t pid = fork();

	if (!pid) {
		pthread_create(&thread, NULL, burn_thread, "thread_two");
		burn_as("thread_one");
	}
	wait_name(&self->view, "thread_one", TICKS);
	wait_name(&self->view, "thread_two", TICKS);
	end_child(pid);
	ASSERT_TRUE(view_finish(&self->view, &self->sums));
}

/* A kernel thread takes the network of a namespace apart, whose last process has ended. */
static bool have_kernel_threads_work(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(unshare(CLONE_NEWNET) != 0);
	return !wait_for(pid);
}

TEST_F(machine, kernel_threads_have_the_name_of_their_kind)
{
	const struct profil_process *row;
	__u32 i;

	if (!have_kernel_threads_work())
		SKIP(return, "this kernel has no namespaces of networks");
	while (self->view.page->kthreads < TICKS)
		have_kernel_threads_work();
	ASSERT_TRUE(view_finish(&self->view, &self->sums));
	for (i = 1; i < self->view.page->processes_used; i++) {
		row = view_row(&self->view, i);
		EXPECT_FALSE(strchr(row->comm, '/') && (!strncmp(row->comm, "kworker", 7) ||
							!strncmp(row->comm, "ksoftirqd", 9)))
			TH_LOG("%s", row->comm);
	}
}

static void *burn_and_end(void *unused)
{
	burn_ms(8);
	return unused;
}

/* The last threads of a process end when its first one is gone already, as is its name. */
TEST_F(machine, threads_that_outlive_their_first_are_counted)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	pthread_t thread;
	int i, j;

	/* Nobody waits for them: who ends last releases them all. */
	ASSERT_EQ(0, sigaction(SIGCHLD, &ignore, NULL));
	for (i = 0; i < 40; i++) {
		if (fork())
			continue;
		for (j = 0; j < 4; j++)
			pthread_create(&thread, NULL, burn_and_end, NULL);
		pthread_exit(NULL);
	}
	while (wait(NULL) > 0)
		;
	ASSERT_TRUE(view_finish(&self->view, &self->sums));
	EXPECT_LT(TICKS, self->sums.hot);
}

/* One program cannot have all rows: its group has one for what is left over. */
TEST_F(machine, too_many_names_are_counted_by_group)
{
	struct group group;
	struct view view;
	char comm[16];
	pid_t pid;
	int i;

	self->args.processes = PROFIL_PROCESSES_MIN;
	ASSERT_EQ(0, group_make(&group));
	ASSERT_EQ(0, view_open(&view, &self->args));
	pid = fork();
	if (!pid) {
		if (group_enter(&group))
			_exit(1);
		for (i = 0; ; i++) {
			snprintf(comm, sizeof(comm), "name_%d", i);
			prctl(PR_SET_NAME, comm);
			burn_ms(5);
		}
	}
	while (name_ticks(&view, "", group.id) < TICKS)
		usleep(5000);
	end_child(pid);
	group_end(&group);
	ASSERT_TRUE(view_finish(&view, &self->sums));
	/* 12 rows may have names, with row 0; two more groups may be seen besides. */
	EXPECT_LE(12, view.page->processes_used);
	EXPECT_GT(16, view.page->processes_used);
	EXPECT_EQ(0, row_ticks(&view, 0));
	EXPECT_EQ(0, view.page->full);
	view_close(&view);
}

/* ---- places */

/* What finds no slot is somewhere in its object. */
TEST_F(machine, too_many_places_are_counted_by_object)
{
	__u64 others = 0, used = 0;
	struct view view;
	char *code;
	pid_t pid;
	__u32 i;

	self->args.slots = PROFIL_SLOTS_MIN;
	ASSERT_EQ(0, view_open(&view, &self->args));
	code = copies_of_spin(8192);
	ASSERT_NE(NULL, code);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_NAME, "many_places");
		for (i = 0; ; i = (i + 1) % 8192)
			((void (*)(unsigned long))(code + i * COPY_BYTES))(HOT_ROUNDS / 16);
	}
	while (others < TICKS) {
		usleep(20000);
		for (i = 0, others = 0; i < view.page->slots; i++)
			if (view_slot(&view, i)->object == PROFIL_OBJECT_ANONYMOUS &&
			    view_slot(&view, i)->place == PROFIL_PLACE_OTHERS)
				others += view_slot(&view, i)->user;
	}
	end_child(pid);
	ASSERT_TRUE(view_finish(&view, &self->sums));
	/* An object's own slot is looked for so far that it has one. */
	EXPECT_EQ(0, view.page->full);
	for (i = 0; i < view.page->slots; i++)
		used += view_slot(&view, i)->object && view_slot(&view, i)->place !=
			PROFIL_PLACE_OTHERS;
	EXPECT_GE(PROFIL_SLOTS_MIN - PROFIL_SLOTS_MIN / 4, used);
	view_close(&view);
}

static int copy_self(const char *path)
{
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int to = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0700);
	struct stat st;
	off_t done = 0;

	if (from < 0 || to < 0 || fstat(from, &st))
		return -EIO;
	while (done < st.st_size)
		if (sendfile(to, from, &done, st.st_size - done) <= 0)
			return -EIO;
	close(from);
	return close(to);
}

/*
 * Two programs lie at the same addresses, and the memory of the one is that of the other
 * soon afterwards: none has places in the other's file.  Fork and exec have one piece of memory
 * each, in turn, so each program runs twice.
 */
TEST_F(machine, memory_that_is_used_again_is_another_program)
{
	static const char *const paths[] = { "/tmp/profil_again_a", "/tmp/profil_again_b" };
	struct stat stats[2];
	struct view view;
	int rows[2], i;
	__u32 slot;

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, copy_self(paths[i]));
		ASSERT_EQ(0, stat(paths[i], &stats[i]));
	}
	ASSERT_EQ(0, view_open(&view, &self->args));
	pin(0);
	for (i = 0; i < 60; i++) {
		pid_t pid = fork();

		if (!pid) {
			personality(ADDR_NO_RANDOMIZE);
			execl(paths[i / 2 % 2], "session_system_test", "--burn", NULL);
			_exit(127);
		}
		ASSERT_EQ(0, wait_for(pid));
	}
	ASSERT_TRUE(view_finish(&view, &self->sums));
	for (i = 0; i < 2; i++) {
		rows[i] = name_row(&view, strrchr(paths[i], '/') + 1);
		ASSERT_LT(0, rows[i]);
		EXPECT_LT(0, row_hot(&view, rows[i]));
		unlink(paths[i]);
	}
	for (slot = 0; slot < view.page->slots; slot++)
		for (i = 0; i < 2; i++)
			if (view_slot(&view, slot)->object >= PROFIL_OBJECT_FILES &&
			    view_slot(&view, slot)->process == (__u32)rows[i])
				EXPECT_FALSE(view_is_file(&view, view_slot(&view, slot)->object,
							  &stats[!i]));
	view_close(&view);
}

/* ---- one session after the other */

/*
 * Whoever has a tick has it in one session: the event of the kernel's own tracing is on the
 * same function.
 */
TEST_F(machine, sessions_that_follow_lose_no_tick_and_have_none_twice)
{
	struct instance instance;
	struct gate *gate = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
				 -1, 0);
	__u64 ours = 0, theirs, ticks, began, ended, follows, followed;
	struct view view, next;
	pid_t pid;
	int i;

	if (query_hook() == PROFIL_HOOK_HRTIMER)
		SKIP(return, "own timers tick apart from the kernel's");
	if (event_create())
		SKIP(return, "no events on functions");
	ASSERT_NE(MAP_FAILED, (void *)gate);
	ASSERT_EQ(0, instance_create(&instance));
	pin(0);
	began = clock_now();
	ASSERT_EQ(0, view_open(&view, &self->args));
	followed = clock_now();
	EXPECT_LE(began, view.page->began_ns);
	EXPECT_GE(followed, view.page->began_ns);
	pid = fork();
	if (!pid) {
		pin(1);
		prctl(PR_SET_NAME, "followed");
		gate_wait(&gate[0]);
		while (!__atomic_load_n(&gate[2].open, __ATOMIC_SEQ_CST))
			hot_a(HOT_ROUNDS);
		gate_wait(&gate[1]);
		_exit(0);
	}
	while (!__atomic_load_n(&gate[0].waiting, __ATOMIC_SEQ_CST))
		usleep(1000);
	wait_asleep(pid, pid);
	ours -= name_ticks(&view, "followed", 0);
	ASSERT_EQ(0, instance_watch(&instance, &pid, 1, ALL_TICKS));
	gate_open(&gate[0]);
	for (i = 0; i <= 10 || ours <= 40 * TICKS; i++) {
		follows = clock_now();
		ASSERT_EQ(0, view_follow(&view, &next));
		followed = clock_now();
		EXPECT_EQ(PROFIL_SESSION_STOPPED, view.page->state);
		EXPECT_EQ(PROFIL_SESSION_ON, next.page->state);
		EXPECT_EQ(view.page->ended_ns, next.page->began_ns);
		EXPECT_LE(follows, next.page->began_ns);
		EXPECT_GE(followed, next.page->began_ns);
		EXPECT_EQ(0, next.page->ended_ns);
		ticks = name_ticks(&view, "followed", 0);
		ours += ticks;
		/*
		 * It has no more than fit between the calls; one may come late.  Between the
		 * session's own times more may fit: a host may let this CPU run on while the
		 * one that takes the time stands.
		 */
		EXPECT_GE((followed - began) / self->query.out_tick_ns + 2, ticks);
		ASSERT_TRUE(view_finish(&view, &self->sums));
		view_close(&view);
		view = next;
		began = follows;
	}
	gate_open(&gate[2]);
	while (!__atomic_load_n(&gate[1].waiting, __ATOMIC_SEQ_CST))
		usleep(1000);
	wait_asleep(pid, pid);
	ours += name_ticks(&view, "followed", 0);
	theirs = instance_count(&instance);
	printf("# %llu ticks in %d sessions\n", theirs, i + 1);
	EXPECT_EQ(theirs, ours);
	/* The last one ends once. */
	follows = clock_now();
	ASSERT_EQ(0, session_stop(&view));
	followed = clock_now();
	ended = view.page->ended_ns;
	EXPECT_LE(follows, ended);
	EXPECT_GE(followed, ended);
	session_stop(&view);
	EXPECT_EQ(ended, view.page->ended_ns);
	instance_destroy(&instance);
	event_remove();
	end_child(pid);
	view_close(&view);
}

TEST_F(machine, session_that_follows_has_one_errno_per_cause)
{
	struct profil_ioc_session args = system_args();
	struct view members, view;

	/* Of a session of members, none follows; nor one of members of another. */
	args.flags = 0;
	ASSERT_EQ(0, view_open(&members, &args));
	EXPECT_EQ(-EINVAL, profil_ioctl(self->view.fd, PROFIL_IOC_SESSION, &args));
	EXPECT_EQ(-EINVAL, profil_ioctl(members.fd, PROFIL_IOC_SESSION, &args));
	args.flags = PROFIL_SESSION_F_SYSTEM;
	EXPECT_EQ(-EINVAL, profil_ioctl(members.fd, PROFIL_IOC_SESSION, &args));
	args.slots = 1;
	EXPECT_EQ(-EINVAL, profil_ioctl(self->view.fd, PROFIL_IOC_SESSION, &args));
	EXPECT_EQ(PROFIL_SESSION_ON, self->view.page->state);
	ASSERT_EQ(0, view_follow(&self->view, &view));
	EXPECT_EQ(-ESRCH, view_follow(&self->view, &view));
	EXPECT_EQ(PROFIL_SESSION_ON, view.page->state);
	ASSERT_EQ(0, session_stop(&view));
	EXPECT_EQ(-ESRCH, view_follow(&view, &view));
	view_close(&view);
	view_close(&members);
}

/* ---- rights, limits, errors */

TEST_F(machine, arguments_have_one_errno_per_cause)
{
	struct {
		__u32 flags, rate, source;
		int err;
	} bad[] = {
		{ PROFIL_SESSION_F_NOINHERIT, 0, 0, -EINVAL },
		{ PROFIL_SESSION_F_PER_PROCESS, 0, 0, -EINVAL },
		{ PROFIL_SESSION_F_USER_ONLY, 0, 0, -EINVAL },
		{ 1 << 5, 0, 0, -EOPNOTSUPP },
		{ 0, 1, 0, -EOPNOTSUPP },
		{ 0, 100, PROFIL_SOURCE_TIMER, -EOPNOTSUPP },
	};
	struct profil_ioc_session args;
	int fd = profil_open();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		args = system_args();
		args.flags |= bad[i].flags;
		args.rate = bad[i].rate;
		args.source = bad[i].source;
		EXPECT_EQ(bad[i].err, profil_ioctl(fd, PROFIL_IOC_SESSION, &args))
			TH_LOG("case %zu", i);
	}
	close(fd);
	EXPECT_EQ(-EINVAL, session_join(self->view.fd));
	EXPECT_EQ(-EINVAL, session_attach(self->view.fd, getpid()));
	EXPECT_EQ(0, self->view.page->members);
	EXPECT_TRUE(self->query.out_session_flags & PROFIL_SESSION_F_SYSTEM);
}

TEST_F(machine, needs_cap_perfmon)
{
	struct view view;
	pid_t pid = fork();

	if (!pid) {
		if (become(USER))
			_exit(100);
		/* Neither anew, nor after one of who has the right. */
		if (view_open(&view, &self->args) != -EPERM)
			_exit(101);
		_exit(view_follow(&self->view, &view) != -EPERM);
	}
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_EQ(PROFIL_SESSION_ON, self->view.page->state);
}

/* Opens a file of any place: 0, or an error. */
static int open_any(const struct view *view)
{
	char path[PAGE];
	struct profil_ioc_object object = {
		.size = sizeof(object),
		.path_uptr = UPTR(path),
		.path_len = sizeof(path),
	};
	__u32 i;

	do {
		burn_ms(10);
		for (i = 0; i < view->page->slots && !object.object; i++)
			if (view_slot(view, i)->object >= PROFIL_OBJECT_FILES)
				object.object = view_slot(view, i)->object;
	} while (!object.object);
	if (profil_ioctl(view->fd, PROFIL_IOC_OBJECT, &object) ||
	    object.out_path_len < 2)
		return 100;
	return object.out_fd < 0 ? -object.out_fd : close(object.out_fd);
}

/* Who may see all programs may not read all files. */
TEST_F(machine, files_need_cap_dac_read_search)
{
	struct view view;
	pid_t pid = fork();

	if (!pid) {
		if (keep_capabilities(0, HIGH_PERFMON) || view_open(&view, &self->args))
			_exit(101);
		_exit(open_any(&view));
	}
	EXPECT_EQ(EACCES, wait_for(pid));
	EXPECT_EQ(0, open_any(&self->view));
}

TEST_F(machine, four_sessions_and_no_fifth)
{
	struct view view[SYSTEMS], more;
	int i;

	for (i = 1; i < SYSTEMS; i++)
		ASSERT_EQ(0, view_open(&view[i], &self->args));
	EXPECT_EQ(-ENOSPC, view_open(&more, &self->args));
	/* One that follows takes the place of the other. */
	ASSERT_EQ(0, view_follow(&view[1], &more));
	for (i = 1; i < SYSTEMS; i++) {
		ASSERT_TRUE(view_finish(&view[i], &self->sums));
		view_close(&view[i]);
	}
	view_close(&more);
	ASSERT_EQ(0, view_open(&more, &self->args));
	view_close(&more);
}

TEST_F(machine, session_that_cannot_be_told_is_none)
{
	struct profil_ioc_session *args = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
					       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct view view[SYSTEMS];
	int fd = profil_open(), i;

	ASSERT_NE(MAP_FAILED, (void *)args);
	*args = system_args();
	ASSERT_EQ(0, mprotect(args, PAGE, PROT_READ));
	for (i = 0; i < 2 * SYSTEMS; i++)
		EXPECT_EQ(-EFAULT, profil_ioctl(fd, PROFIL_IOC_SESSION, args));
	close(fd);
	for (i = 1; i < SYSTEMS; i++)
		ASSERT_EQ(0, view_open(&view[i], &self->args));
	for (i = 1; i < SYSTEMS; i++)
		view_close(&view[i]);
}

/* The images that tests execute. */
int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--true"))
		return 0;
	if (argc == 2 && !strcmp(argv[1], "--burn")) {
		burn_ms(20);
		return 0;
	}
	return test_harness_run(argc, argv);
}
