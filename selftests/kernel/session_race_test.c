// SPDX-License-Identifier: GPL-2.0-only
/*
 * The races of sessions, provoked as those of race_test.c are: each test passes on every
 * build, and on a test build hold() keeps a window open that the other side comes to.
 * Documentation/internals.rst has the list of them all.
 */
#include <sys/socket.h>

#include "session.h"
#include "ticks.h"
#include "windows.h"

#define USER	1000
#define TURNS	10	/* that a race is given */
#define FILES	32

FIXTURE(race) {
	struct view view;
	struct sums sums;
	struct profil_ioc_session args;
};

FIXTURE_SETUP(race)
{
	pin(0);
	self->args = session_args();
	ASSERT_EQ(0, view_open(&self->view, &self->args));
}

FIXTURE_TEARDOWN(race)
{
	hold("", 0);
	view_close(&self->view);
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* What @pid started, too: it has a group of its own. */
static void end_group(pid_t pid)
{
	kill(-pid, SIGKILL);
	end_child(pid);
}

/* Until the next tick has been counted in a row: who stays in it has not counted its slot. */
static void await_tick(const struct view *view)
{
	__u64 was = view_ticks(view);

	while (view_ticks(view) == was)
		;
}

/* A member of a new session, on the other CPU.  It does not keep the session. */
static pid_t spin_in(FIXTURE_DATA(race) *self, struct view *view)
{
	pid_t pid;

	if (view_open(view, &self->args))
		return -1;
	pid = fork();
	if (!pid) {
		pin(1);
		if (session_join(view->fd))
			_exit(100);
		view_close(view);
		burn_for_ever();
	}
	return pid;
}

/* ---- ticks, and the end of what they count in */

/* A tick that saw the member has counted all of itself when STOP returns. */
TEST_F(race, stop_against_a_tick)
{
	struct view view;
	pid_t pid;
	int i;

	hold("count", 2000);
	for (i = 0; i < TURNS; i++) {
		pid = spin_in(self, &view);
		ASSERT_LT(0, pid);
		wait_ticks(&view, 2);
		await_tick(&view);
		EXPECT_TRUE(view_finish(&view, &self->sums));
		end_child(pid);
		view_close(&view);
	}
}

/* The tables are there until a tick is over that saw the member. */
TEST_F(race, close_against_a_tick)
{
	struct view view;
	pid_t pid;
	int i;

	hold("count", 3000);
	for (i = 0; i < TURNS; i++) {
		pid = spin_in(self, &view);
		ASSERT_LT(0, pid);
		wait_ticks(&view, 2);
		await_tick(&view);
		view_close(&view);
		usleep(10000);
		end_child(pid);
	}
}

/* A session of the whole machine, whose ticks are held for a while. */
static int open_machine(FIXTURE_DATA(race) *self, struct view *view)
{
	struct profil_ioc_session args = self->args;

	args.flags = PROFIL_SESSION_F_SYSTEM;
	return view_open(view, &args);
}

static pid_t spin_on_the_other(void)
{
	pid_t pid = fork();

	if (!pid) {
		pin(1);
		burn_for_ever();
	}
	return pid;
}

/* What follows it has all that it has not, also of a tick that saw it. */
TEST_F(race, session_that_follows_against_a_tick)
{
	struct profil_ioc_session args;
	pid_t pid = spin_on_the_other();
	struct sums then;
	struct view view;
	int i;

	ASSERT_LT(0, pid);
	hold("count", 2000);
	for (i = 0; i < TURNS; i++) {
		ASSERT_EQ(0, open_machine(self, &view));
		wait_ticks(&view, 2);
		await_tick(&view);
		args = self->args;
		args.flags = PROFIL_SESSION_F_SYSTEM;
		ASSERT_EQ(0, profil_ioctl(view.fd, PROFIL_IOC_SESSION, &args));
		EXPECT_EQ(PROFIL_SESSION_STOPPED, view.page->state);
		view_sum(&view, &then);
		/* Nothing comes after that; this stops the session once more. */
		EXPECT_TRUE(view_finish(&view, &self->sums));
		EXPECT_EQ(then.slots, self->sums.slots);
		close(args.out_fd);
		view_close(&view);
	}
	end_child(pid);
}

/* Each time that it is told to, it runs before whoever is on its CPU, later and later. */
static void push_in(int fd, __u64 *ended_ns)
{
	struct sched_param param = { .sched_priority = 1 };
	char byte = 0;
	__u64 end;
	int i;

	prctl(PR_SET_NAME, "pusher");
	if (sched_setscheduler(0, SCHED_FIFO, &param))
		_exit(100);
	for (i = 0; write(fd, &byte, 1) == 1 && read(fd, &byte, 1) == 1; i++) {
		usleep(i * 250);
		end = clock_now() + 20000000;
		while (clock_now() < end)
			hot_a(HOT_ROUNDS);
		*ended_ns = clock_now();
	}
	_exit(101);
}

/* Who ran, and slept again, before it began has no tick in it. */
TEST_F(race, session_that_follows_against_who_preempts)
{
	__u64 *ended_ns = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			       -1, 0);
	struct profil_ioc_session args = self->args;
	int fds[2], early = 0, late = 0;
	struct view view, next;
	char byte = 0;
	pid_t pid;

	ASSERT_NE(MAP_FAILED, (void *)ended_ns);
	*ended_ns = 0;
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, fds));
	args.flags = PROFIL_SESSION_F_SYSTEM;
	ASSERT_EQ(0, view_open(&view, &args));
	hold("begin", 2000);
	pid = fork();
	if (!pid) {
		close(fds[0]);
		push_in(fds[1], ended_ns);
	}
	ASSERT_LT(0, pid);
	close(fds[1]);
	ASSERT_EQ(1, read(fds[0], &byte, 1));
	/* From what is certainly before to what is certainly after. */
	while (late < 4) {
		ASSERT_EQ(1, write(fds[0], &byte, 1));
		ASSERT_EQ(0, view_open_by(view.fd, &next, &args));
		ASSERT_EQ(1, read(fds[0], &byte, 1));
		if (*ended_ns < next.page->began_ns) {
			EXPECT_EQ(0, name_ticks(&next, "pusher", 0));
			early++;
			late = 0;
		} else {
			late++;
		}
		view_close(&view);
		view = next;
	}
	EXPECT_LT(0, early);
	close(fds[0]);
	end_child(pid);
	view_close(&view);
}

/* The tables are there until a tick is over that saw the session. */
TEST_F(race, close_of_the_machine_against_a_tick)
{
	pid_t pid = spin_on_the_other();
	struct view view;
	int i;

	ASSERT_LT(0, pid);
	hold("count", 3000);
	for (i = 0; i < TURNS; i++) {
		ASSERT_EQ(0, open_machine(self, &view));
		wait_ticks(&view, 2);
		await_tick(&view);
		view_close(&view);
		usleep(10000);
	}
	end_child(pid);
}

/* ---- two CPUs at the same entry of a table */

static void burn_copies(char *code)
{
	unsigned int i;

	/* Nearly each sample is at another place.  No timer keeps step with the order. */
	for (i = 0; ; i = (i * 1664525 + 1013904223) % 8192)
		((void (*)(unsigned long))(code + i * COPY_BYTES))(HOT_ROUNDS / 32);
}

static __u32 slots_used(const struct view *view)
{
	__u32 i, used = 0;

	for (i = 0; i < view->page->slots; i++)
		used += !!view_slot(view, i)->object;
	return used;
}

static __u64 slots_of(const struct view *view, __u32 process)
{
	__u64 sum = 0;
	__u32 i;

	for (i = 0; i < view->page->slots; i++)
		if (view_slot(view, i)->object && view_slot(view, i)->process == process)
			sum += view_slot(view, i)->user + view_slot(view, i)->system;
	return sum;
}

/*
 * A slot that was taken by one process has none of another's ticks.  One that is taken twice
 * counts as two: the table is full before all its slots are used.
 */
TEST_F(race, two_cpus_at_the_same_free_slot)
{
	char *code = copies_of_spin(8192);
	struct profil_ioc_query query;
	pid_t pid[2];
	__u64 apart;
	__u32 row;
	int fd = profil_open(), turn, i;
	struct view view;

	ASSERT_NE(NULL, code);
	ASSERT_EQ(0, profil_query(fd, &query));
	close(fd);
	self->args.slots = PROFIL_SLOTS_MIN;
	self->args.flags = PROFIL_SESSION_F_PER_PROCESS;
	if (query.out_timer_rate_max) {
		self->args.source = PROFIL_SOURCE_TIMER;
		self->args.rate = query.out_timer_rate_max / 2;
	}
	hold("free", 100);
	/* With ticks alone, each turn takes seconds. */
	for (turn = 0; turn < (query.out_timer_rate_max ? TURNS : 2); turn++) {
		ASSERT_EQ(0, view_open(&view, &self->args));
		for (i = 0; i < 2; i++) {
			CHILD(view, pid[i]) {
				pin(i);
				burn_copies(code);
			}
		}
		/* A place looks at 32 slots: one in 32 places looks at the last that is free. */
		while (slots_used(&view) < PROFIL_SLOTS_MIN &&
		       view.page->full < 16 * PROFIL_SLOTS_MIN)
			usleep(1000);
		end_child(pid[0]);
		end_child(pid[1]);
		ASSERT_TRUE(view_finish(&view, &self->sums));
		EXPECT_EQ(PROFIL_SLOTS_MIN, slots_used(&view));
		apart = view.page->full + view.page->exec;
		for (row = 1; row < 3; row++) {
			EXPECT_LE(slots_of(&view, row), row_ticks(&view, row));
			EXPECT_LE(row_ticks(&view, row), slots_of(&view, row) + apart);
		}
		view_close(&view);
	}
}

/* Who sees that a slot is one of something sees of what. */
TEST_F(race, reader_against_a_new_slot)
{
	char *code = copies_of_spin(8192);
	const struct profil_slot *slot;
	__u32 i, torn = 0;
	__u64 end;
	pid_t pid;

	ASSERT_NE(NULL, code);
	hold("fill", 1000);
	CHILD(self->view, pid) {
		pin(1);
		burn_copies(code);
	}
	end = view_ticks(&self->view) + 5 * TICKS;
	while (view_ticks(&self->view) < end)
		for (i = 0; i < self->view.page->slots; i++) {
			slot = view_slot(&self->view, i);
			torn += __atomic_load_n(&slot->object, __ATOMIC_ACQUIRE) &&
				!*(volatile __u64 *)&slot->place;
		}
	EXPECT_EQ(0, torn);
	end_child(pid);
}

/* ---- files that are mapped, each with its code in another page */

struct file_code {
	void (*run)(unsigned long rounds);
};

/* A page of a new file with that code, at @at unless that is NULL.  Nobody else has the file. */
static void *code_map(const void *code, size_t bytes, int page, void *at)
{
	char path[] = "/tmp/profil_race_XXXXXX";
	int fd = mkstemp(path);
	void *map;

	if (fd < 0 || unlink(path) || pwrite(fd, code, bytes, page * PAGE) != (ssize_t)bytes)
		return MAP_FAILED;
	map = mmap(at, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | (at ? MAP_FIXED : 0), fd,
		   page * PAGE);
	close(fd);
	return map;
}

static int file_map(struct file_code *file, int page)
{
	file->run = code_map((void *)spin, COPY_BYTES, page, NULL);
	return (void *)file->run == MAP_FAILED ? -1 : 0;
}

static int files_map(struct file_code *files)
{
	int i;

	for (i = 0; i < FILES; i++)
		if (file_map(&files[i], i))
			return -1;
	return 0;
}

struct runner {
	struct file_code *files;
	int num, cpu;
	pthread_barrier_t *barrier;	/* at each step, or NULL */
};

static void burn_thread_ms(void (*run)(unsigned long), unsigned int ms)
{
	struct timespec ts;
	__u64 now, end = 0;

	do {
		run(HOT_ROUNDS / 4);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
		now = ts.tv_sec * 1000ULL + ts.tv_nsec / 1000000;
		if (!end)
			end = now + ms;
	} while (now < end);
}

/* From file to file, for ever. */
static void *runner_fn(void *arg)
{
	struct runner *runner = arg;
	int i;

	pin(runner->cpu);
	for (;;)
		for (i = 0; i < runner->num; i++) {
			if (runner->barrier)
				pthread_barrier_wait(runner->barrier);
			burn_thread_ms(runner->files[i].run, 10);
		}
	return NULL;
}

static pid_t run_files(const struct view *view, struct runner *one, struct runner *other)
{
	pid_t pid = fork();
	pthread_t thread;

	if (!pid) {
		if (session_join(view->fd) || pthread_create(&thread, NULL, runner_fn, one))
			_exit(100);
		runner_fn(other);
	}
	return pid;
}

/* A file of which two CPUs have the first sample is one object. */
TEST_F(race, two_cpus_at_a_new_object)
{
	struct file_code files[FILES];
	pthread_barrier_t *barrier = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
					  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct runner one = { files, FILES, 1, barrier };
	struct runner other = { files, FILES, 0, barrier };
	const struct view *view = &self->view;
	__u32 i, k, twice = 0;
	pid_t pid;

	ASSERT_EQ(0, files_map(files));
	ASSERT_EQ(0, pthread_barrier_init(barrier, NULL, 2));
	hold("free", 1500);
	pid = run_files(view, &one, &other);
	ASSERT_LT(0, pid);
	while (__atomic_load_n(&view->page->objects_used, __ATOMIC_RELAXED) < FILES)
		usleep(5000);
	end_child(pid);
	for (i = PROFIL_OBJECT_FILES; i < view->page->objects; i++)
		for (k = PROFIL_OBJECT_FILES; k < i; k++)
			twice += view_object(view, i)->kind &&
				 view_object(view, i)->dev == view_object(view, k)->dev &&
				 view_object(view, i)->ino == view_object(view, k)->ino;
	EXPECT_EQ(0, twice);
}

static void exit_well(int signal)
{
	(void)signal;
	_exit(0);
}

/* Calls the kernel for long, from the page at @arg. */
static void *reader_fn(void *arg)
{
	void (*run)(int fd, void *buf, size_t len, unsigned long rounds) = arg;
	static char sink[1 << 20];
	int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);

	pin(1);
	for (;;)
		run(fd, sink, sizeof(sink), 1);
	return NULL;
}

/*
 * When told to, has another file where another thread is to return to, and unmaps it when
 * told once more, which ends both.  No CPU has touched its page: munmap() waits for none.
 */
static void unmap_what_runs(int told)
{
	void *code = code_map((void *)read_loop, PAGE, 0, NULL);
	pthread_t thread;
	char c;

	if (code == MAP_FAILED || pthread_create(&thread, NULL, reader_fn, code) ||
	    read(told, &c, 1) != 1 ||
	    code_map((void *)read_loop, PAGE, 0, code) != code)
		_exit(1);
	signal(SIGSEGV, exit_well);
	if (write(told, "", 1) != 1 || read(told, &c, 1) != 1)
		_exit(2);
	munmap(code, PAGE);
	for (;;)
		pause();
}

/* What a tick finds is mapped until it has taken the file. */
TEST_F(race, munmap_against_a_tick)
{
	int link[2], i;
	pid_t pid;
	char c;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, link));
	hold("look", 10000);
	for (i = 0; i < TURNS; i++) {
		CHILD(self->view, pid)
			unmap_what_runs(link[0]);
		/* By then only the other thread runs, on the other CPU. */
		usleep(20000);
		ASSERT_EQ(1, write(link[1], "", 1));
		ASSERT_EQ(1, read(link[1], &c, 1));
		await_tick(&self->view);
		ASSERT_EQ(1, write(link[1], "", 1));
		EXPECT_EQ(0, wait_for(pid));
	}
	ASSERT_TRUE(view_finish(&self->view, &self->sums));
}

/* ---- who becomes a member while the session ends */

/* Nobody is a member of a session that was stopped. */
static bool none_left(const struct view *view)
{
	__u32 i;

	if (view->page->members)
		return false;
	for (i = 1; i < view->page->processes_used; i++)
		if (view_row(view, i)->state == PROFIL_PROCESS_MEMBER)
			return false;
	return true;
}

/* Children that stay: so many at once, and then one after the other. */
static void have_children(int at_once, int say)
{
	int i;

	setpgid(0, 0);
	pin(1);
	for (i = 0; i < at_once + 100; i++) {
		if (i == at_once && write(say, "", 1) != 1)
			_exit(1);
		if (!fork())
			for (;;)
				pause();
	}
	for (;;)
		pause();
}

/* More members than are taken out at once, and one of them is always about to have another. */
TEST_F(race, stop_against_forks)
{
	struct view view;
	int say[2], i;
	pid_t pid;
	char c;

	ASSERT_EQ(0, pipe(say));
	self->args.processes = 1024;
	for (i = 0; i < TURNS / 2; i++) {
		ASSERT_EQ(0, view_open(&view, &self->args));
		hold("", 0);
		CHILD(view, pid)
			have_children(150, say[1]);
		ASSERT_EQ(1, read(say[0], &c, 1));
		hold("add", 3000);
		usleep(5000 + 1000 * i);
		EXPECT_EQ(0, session_stop(&view));
		EXPECT_TRUE(none_left(&view));
		end_group(pid);
		view_close(&view);
	}
}

/* Children that join, one after the other. */
static void have_joiners(int fd)
{
	int i;

	setpgid(0, 0);
	pin(1);
	for (i = 0; i < 200; i++)
		if (!fork()) {
			if (session_join(fd))
				_exit(0);
			for (;;)
				pause();
		}
	for (;;)
		pause();
}

TEST_F(race, stop_against_join)
{
	struct view view;
	pid_t pid;
	int i;

	self->args.processes = 1024;
	for (i = 0; i < TURNS; i++) {
		hold(i % 2 ? "add" : "stopped", 5000);
		ASSERT_EQ(0, view_open(&view, &self->args));
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid)
			have_joiners(view.fd);
		while (!*(volatile __u32 *)&view.page->members)
			;
		EXPECT_EQ(0, session_stop(&view));
		EXPECT_TRUE(none_left(&view));
		end_group(pid);
		view_close(&view);
	}
}

/* Until it executes another program: the kernel gives it the name, and then loads it. */
static void await_exec(pid_t pid)
{
	char path[64], comm[32] = "session_race_te";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	while (!strncmp(comm, "session_race_te", 15)) {
		file = fopen(path, "r");
		if (!file || !fgets(comm, sizeof(comm), file))
			comm[0] = '\0';
		if (file)
			fclose(file);
	}
}

static int exec_denied_while_stopped(FIXTURE_DATA(race) *self, const char *path,
				     unsigned int later)
{
	struct view view;
	pid_t pid;

	if (become(USER) || view_open(&view, &self->args))
		return 1;
	pid = fork();
	if (!pid) {
		pin(1);
		if (session_join(view.fd))
			_exit(100);
		execl(path, "session_test", NULL);
		_exit(127);
	}
	await_exec(pid);
	usleep(later);
	if (session_stop(&view) || !none_left(&view))
		return 2;
	/* The tables are there as long as they are needed. */
	view_close(&view);
	return wait_for(pid);
}

/* A member that is to be taken out is taken out by one of both. */
TEST_F(race, stop_against_an_exec_that_is_denied)
{
	char path[] = "/tmp/profil_session_XXXXXX";
	pid_t pid;
	int i;

	if (geteuid())
		SKIP(return, "only root can become others");
	ASSERT_EQ(0, make_setuid(path));
	hold("exec", 50000);
	for (i = 0; i < TURNS / 2; i++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid)
			_exit(exec_denied_while_stopped(self, path, i * 2000));
		EXPECT_EQ(0, wait_for(pid));
	}
	unlink(path);
}

static void *join_fn(void *arg)
{
	pin(1);
	return (void *)(long)session_join(*(int *)arg);
}

/* Of two threads, one brings their process in. */
TEST_F(race, join_against_join)
{
	struct view view;
	pthread_t thread;
	void *theirs;
	pid_t pid;
	int i, ours;

	hold("add", 3000);
	for (i = 0; i < TURNS; i++) {
		ASSERT_EQ(0, view_open(&view, &self->args));
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			pthread_create(&thread, NULL, join_fn, &view.fd);
			usleep(1000);
			ours = session_join(view.fd);
			pthread_join(thread, &theirs);
			_exit((!ours && (long)theirs == -EALREADY) ||
			      (ours == -EALREADY && !theirs) ? 0 : 1);
		}
		EXPECT_EQ(0, wait_for(pid));
		wait_none(&view);
		EXPECT_EQ(2, view.page->processes_used);
		view_close(&view);
	}
}

/* ---- ATTACH */

/* What @pid has to do, when told. */
static void do_when_told(int told, bool exec)
{
	char c;

	pin(1);
	if (read(told, &c, 1) != 1)
		_exit(1);
	if (exec)
		execl("/proc/self/exe", "session_test", "--spin", NULL);
	_exit(0);
}

/* Whom another process attaches, and what that one says; @told ends its wait meanwhile. */
static int attach_meanwhile(const struct view *view, pid_t target, int told)
{
	pid_t pid = fork();

	if (!pid)
		_exit(-session_attach(view->fd, target));
	usleep(10000);
	return write(told, "", 1) == 1 ? pid : -1;
}

/* What nobody has asked about counts at no place, so ATTACH does not say that it counts. */
TEST_F(race, attach_against_exec)
{
	int to[2], i, err, again = 0;
	pid_t pid, helper;
	__u64 before;

	if (geteuid())
		SKIP(return, "only root attaches without a trace");
	ASSERT_EQ(0, pipe(to));
	hold("check", 50000);
	/* An exec may take longer than that, where much else runs. */
	for (i = 0; i < TURNS / 2 || (holds() && !again && i < 5 * TURNS); i++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid)
			do_when_told(to[0], true);
		helper = attach_meanwhile(&self->view, pid, to[1]);
		ASSERT_LT(0, helper);
		err = wait_for(helper);
		EXPECT_TRUE(!err || err == EAGAIN) {
			TH_LOG("ATTACH: %d", err);
		}
		again += err == EAGAIN;
		if (!err) {
			before = view_hot(&self->view);
			while (view_hot(&self->view) <= before)
				usleep(5000);
		}
		end_child(pid);
	}
	EXPECT_EQ(0, self->view.page->members);
	if (holds())
		EXPECT_LT(0, again);
}

/* Who has exited is nobody's member for ever. */
TEST_F(race, attach_against_exit)
{
	int to[2], i, err, gone = 0;
	pid_t pid, helper;
	siginfo_t info;

	if (geteuid())
		SKIP(return, "only root attaches without a trace");
	ASSERT_EQ(0, pipe(to));
	hold("check", 50000);
	for (i = 0; i < TURNS / 2 || (holds() && !gone && i < 5 * TURNS); i++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid)
			do_when_told(to[0], false);
		helper = attach_meanwhile(&self->view, pid, to[1]);
		ASSERT_LT(0, helper);
		/* It is still there, as a zombie. */
		ASSERT_EQ(0, waitid(P_PID, pid, &info, WEXITED | WNOWAIT));
		err = wait_for(helper);
		EXPECT_TRUE(!err || err == ESRCH) {
			TH_LOG("ATTACH: %d", err);
		}
		gone += err == ESRCH;
		EXPECT_EQ(0, self->view.page->members);
		EXPECT_EQ(0, wait_for(pid));
	}
	if (holds())
		EXPECT_LT(0, gone);
}

/* A thread that ends when told; its process goes on, or executes a program. */
struct ender {
	int told;
	pid_t tid;
	bool exec;
};

static void *ender_fn(void *arg)
{
	struct ender *ender = arg;
	char c;

	__atomic_store_n(&ender->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	if (read(ender->told, &c, 1) != 1)
		_exit(1);
	if (ender->exec)
		execl("/proc/self/exe", "session_test", "--spin", NULL);
	return NULL;
}

/* @task: whom to attach, a thread that ends, or one that the other's exec ends. */
static pid_t process_with_ender(int told, bool exec, pid_t *task)
{
	struct ender *ender = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_t thread;
	pid_t pid;

	if (ender == MAP_FAILED)
		return -1;
	*ender = (struct ender) { .told = told, .exec = exec };
	pid = fork();
	if (!pid) {
		pin(1);
		if (pthread_create(&thread, NULL, ender_fn, ender))
			_exit(1);
		while (exec)
			pause();
		burn_for_ever();
	}
	*task = pid;
	while (pid > 0 && !__atomic_load_n(&ender->tid, __ATOMIC_ACQUIRE))
		usleep(1000);
	if (!exec)
		*task = ender->tid;
	munmap(ender, PAGE);
	return pid;
}

/* A thread that has ended has nothing of its process: ATTACH does not say that it counts. */
static void attach_against_end_of_thread(struct __test_metadata *_metadata, struct view *view,
					 bool exec)
{
	int to[2], i, err, again = 0;
	pid_t task, helper, pid;
	__u64 before, uncounted;

	if (geteuid())
		SKIP(return, "only root attaches without a trace");
	ASSERT_EQ(0, pipe(to));
	hold("check", 50000);
	for (i = 0; i < TURNS / 2 || (holds() && !again && i < 5 * TURNS); i++) {
		pid = process_with_ender(to[0], exec, &task);
		ASSERT_LT(0, pid);
		before = view_hot(view);
		uncounted = view->page->exec;
		helper = attach_meanwhile(view, task, to[1]);
		ASSERT_LT(0, helper);
		err = wait_for(helper);
		EXPECT_TRUE(!err || err == EAGAIN || err == ESRCH) {
			TH_LOG("ATTACH: %d", err);
		}
		again += err == EAGAIN;
		while (!err && view_hot(view) <= before && view->page->exec < uncounted + TICKS)
			usleep(5000);
		EXPECT_TRUE(err || view_hot(view) > before);
		end_child(pid);
	}
	EXPECT_EQ(0, view->page->members);
	if (holds())
		EXPECT_LT(0, again);
}

TEST_F(race, attach_against_the_end_of_its_thread)
{
	attach_against_end_of_thread(_metadata, &self->view, false);
}

TEST_F(race, attach_against_exec_of_another_thread)
{
	attach_against_end_of_thread(_metadata, &self->view, true);
}

/* ---- the first and the last of it */

/* Nobody is told that all members are gone before there was one. */
TEST_F(race, poll_against_the_first_member)
{
	struct pollfd pollfd = { .events = POLLIN };
	struct view view;
	pid_t pid;
	int i;

	hold("poll", 3000);
	for (i = 0; i < TURNS; i++) {
		ASSERT_EQ(0, view_open(&view, &self->args));
		pollfd.fd = view.fd;
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			pin(1);
			usleep(5000 + 300 * i);
			session_join(view.fd);
			for (;;)
				pause();
		}
		while (!*(volatile __u32 *)&view.page->members)
			EXPECT_EQ(0, poll(&pollfd, 1, 0));
		EXPECT_EQ(0, poll(&pollfd, 1, 0));
		end_child(pid);
		wait_none(&view);
		view_close(&view);
	}
}

/* A program that takes long to leave its memory: the new one is loaded, and nobody was asked. */
TEST_F(race, exec_against_ticks)
{
	const size_t bytes = 64UL << 20;
	char *memory;
	pid_t pid;
	int i;

	for (i = 0; i < TURNS / 2; i++) {
		CHILD(self->view, pid) {
			memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			if (memory == MAP_FAILED)
				_exit(1);
			madvise(memory, bytes, MADV_NOHUGEPAGE);
			memset(memory, 1, bytes);
			execl("/proc/self/exe", "session_test", "--nothing", NULL);
		}
		EXPECT_EQ(0, wait_for(pid));
	}
	ASSERT_TRUE(view_finish(&self->view, &self->sums));
	EXPECT_LT(0, self->view.page->exec);
	EXPECT_EQ(0, self->sums.objects[PROFIL_OBJECT_NONE]);
}

/* ---- looks that come late: only on a kernel for real time, and with race_late=Y */

/* What STOP tells the reader is whole. */
TEST_F(race, stop_against_a_late_look)
{
	struct view view;
	pid_t pid;
	int i;

	hold("late", 20000);
	for (i = 0; i < TURNS; i++) {
		pid = spin_in(self, &view);
		ASSERT_LT(0, pid);
		await_tick(&view);
		EXPECT_TRUE(view_finish(&view, &self->sums));
		end_child(pid);
		view_close(&view);
	}
}

/* The tables are there until it is over, and so is what it has found: a file that is new. */
TEST_F(race, close_against_a_late_look)
{
	struct view view;
	pid_t pid;
	int i;

	hold("late", 200000);
	for (i = 0; i < TURNS; i++) {
		pid = spin_in(self, &view);
		ASSERT_LT(0, pid);
		await_tick(&view);
		view_close(&view);
		usleep(300000);
		end_child(pid);
	}
}

/* Nobody looks at mappings that are being taken down. */
TEST_F(race, exit_against_a_late_look)
{
	struct view view;
	pid_t pid;
	int i;

	hold("late", 50000);
	for (i = 0; i < TURNS; i++) {
		pid = spin_in(self, &view);
		ASSERT_LT(0, pid);
		await_tick(&view);
		end_child(pid);
		/* Its CPU has nothing of it any more, either. */
		pin(1);
		pin(0);
		EXPECT_TRUE(view_finish(&view, &self->sums));
		EXPECT_EQ(0, self->sums.objects[PROFIL_OBJECT_NONE]);
		view_close(&view);
	}
}

/* ---- timers of members */

/* How many of our timers the kernel has. */
static int timers(void)
{
	FILE *list = fopen("/proc/timer_list", "re");
	char line[512];
	int num = 0;

	while (list && fgets(line, sizeof(line), list))
		num += !!strstr(line, "profil_timer_expired");
	if (list)
		fclose(list);
	return num;
}

/* Without timers of a session there is nothing to see. */
static int open_timed(FIXTURE_DATA(race) *self, struct view *view, __u32 rate)
{
	self->args.source = PROFIL_SOURCE_TIMER;
	self->args.rate = rate;
	return view_open(view, &self->args);
}

/* The timer of a member that leaves its CPU would wake nobody but an idle one. */
TEST_F(race, switch_against_the_timer_of_a_member)
{
	volatile int *spins = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct view view;
	siginfo_t info;
	pid_t pid;
	int err, i;

	/* Its period is a second, and it would go on for that long. */
	err = open_timed(self, &view, 1);
	if (err == -EOPNOTSUPP)
		SKIP(return, "timers are no finer than the tick");
	ASSERT_EQ(0, err);
	for (i = 0; i < TURNS / 2; i++) {
		*spins = 1;
		CHILD(view, pid) {
			pin(1);
			while (*spins)
				hot_a(HOT_ROUNDS / 100);
			if (i % 2)
				_exit(0);
			for (;;)
				pause();
		}
		while (!timers())
			usleep(1000);
		*spins = 0;
		if (i % 2)
			waitid(P_PID, pid, &info, WEXITED | WNOWAIT);
		else
			wait_asleep(pid, pid);
		/* Its CPU has nothing of it any more, either. */
		pin(1);
		pin(0);
		EXPECT_EQ(0, timers());
		end_child(pid);
	}
	view_close(&view);
}

/* The process goes on, its session does not. */
TEST_F(race, stop_against_the_timer_of_a_member)
{
	struct view view;
	pid_t pid;
	int err, i;

	for (i = 0; i < TURNS; i++) {
		err = open_timed(self, &view, 1000);
		if (err == -EOPNOTSUPP)
			SKIP(return, "timers are no finer than the tick");
		ASSERT_EQ(0, err);
		CHILD(view, pid) {
			pin(1);
			burn_for_ever();
		}
		wait_ticks(&view, 3);
		EXPECT_EQ(0, session_stop(&view));
		usleep(5000);
		EXPECT_EQ(0, timers());
		end_child(pid);
		view_close(&view);
	}
}

/* How many points of race.h were passed by anybody; 0 in a build that is no test. */
static unsigned long points(void)
{
	char text[64];

	return read_file(PARAMETERS "race_hash", text, sizeof(text)) ? 0 : strtoul(text, NULL, 10);
}

/* Many of these places have the first slot of another.  A slot that is new passes two points. */
TEST_F(race, known_place_is_not_looked_up)
{
	const int num = PROFIL_SLOTS_MIN / 2;
	char *code = copies_of_spin(num);
	long passed;
	long long ticks;
	unsigned int seed = 1;
	struct view view;
	pid_t pid;
	int err;

	ASSERT_NE(NULL, code);
	self->args.slots = PROFIL_SLOTS_MIN;
	err = open_timed(self, &view, 2000);
	if (err == -EOPNOTSUPP)
		SKIP(return, "timers are no finer than the tick");
	ASSERT_EQ(0, err);
	CHILD(view, pid) {
		pin(1);
		/* In no order, with which samples could be in step. */
		for (;;)
			((void (*)(unsigned long))(code + rand_r(&seed) % num * COPY_BYTES))
				(HOT_ROUNDS / 32);
	}
	/* By then most of them have a slot, but none is sure to get one. */
	wait_ticks(&view, 4 * num);
	passed = points() - 2 * slots_used(&view);
	ticks = view_ticks(&view);
	wait_ticks(&view, 50 * TICKS);
	passed = points() - 2 * slots_used(&view) - passed;
	ticks = view_ticks(&view) - ticks;
	EXPECT_GT(ticks / 40, passed) {
		TH_LOG("%ld points in %lld samples", passed, ticks);
	}
	end_child(pid);
	view_close(&view);
}

/* Three quarters of a tick's time no timer comes, and the next sample counts all that is over. */
TEST_F(race, samples_that_are_late)
{
	struct rusage usage;
	struct view view;
	__u64 periods;
	pid_t pid;
	int err;

	err = open_timed(self, &view, 2000);
	if (err == -EOPNOTSUPP)
		SKIP(return, "timers are no finer than the tick");
	ASSERT_EQ(0, err);
	/* In the ticks of the other session. */
	hold("count", 3000);
	CHILD(view, pid) {
		if (session_join(self->view.fd))
			_exit(100);
		burn_ms(500);
		_exit(0);
	}
	ASSERT_EQ(pid, wait4(pid, &err, 0, &usage));
	EXPECT_EQ(0, err);
	hold("", 0);
	ASSERT_TRUE(view_finish(&view, &self->sums));
	periods = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 2000 +
		  (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 500;
	EXPECT_LE(3 * periods, 4 * self->sums.ticks) {
		TH_LOG("%llu samples in %llu periods", self->sums.ticks, periods);
	}
	view_close(&view);
}

/* This program, as a target. */
int main(int argc, char **argv)
{
	if (strcmp(argv[0], "session_test"))
		return test_harness_run(argc, argv);
	if (argc == 2 && !strcmp(argv[1], "--spin"))
		burn_for_ever();
	return 0;
}
