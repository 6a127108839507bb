// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions: whom they count, and whom they do not; each tick in one place.
 *
 * Nothing looks at wall time: what a target does is waited for in its counts, and what is
 * to be equal is so on a busy machine too.  Only how many ticks a process should have is
 * told by its CPU time, where the machine's time is the count of instructions.
 */
#include <limits.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/utsname.h>

#include "session.h"

#define USER	1000
#define KNOBS	"/sys/module/profil/parameters/"

static const char self_exe[] = "/proc/self/exe";

static void exec_image(const char *path, const char *what, const char *arg)
{
	execl(path, "session_test", what, arg, NULL);
	_exit(127);
}

FIXTURE(session) {
	struct view view;
	struct sums sums;
	struct profil_ioc_session args;
};

TEST(session_is_refused_where_query_tells_of_none)
{
	struct profil_ioc_session args = session_args();
	int fd = profil_open(), ret;

	ASSERT_LE(0, fd);
	ret = profil_ioctl(fd, PROFIL_IOC_SESSION, &args);
	EXPECT_EQ(query_flags() ? 0 : -EOPNOTSUPP, ret);
	if (!ret)
		close(args.out_fd);
	close(fd);
}

FIXTURE_SETUP(session)
{
	self->args = session_args();
	ASSERT_EQ(0, view_open(&self->view, &self->args));
}

FIXTURE_TEARDOWN(session)
{
	view_close(&self->view);
}

/* ---- who is counted, and where */

TEST_F(session, static_program_is_counted_where_it_runs)
{
	const struct profil_process *row;
	struct rusage usage;
	__u64 us, ticks, switches;
	pid_t pid;

	CHILD(self->view, pid)
		exec_image(self_exe, "--burn", "400");
	wait_none(&self->view);
	ASSERT_EQ(pid, wait4(pid, NULL, 0, &usage));
	ASSERT_TRUE(view_finish(&self->view, &self->sums));
	ASSERT_EQ(2, self->view.page->processes_used);
	row = view_row(&self->view, 1);
	EXPECT_EQ(pid, row->pid);
	EXPECT_EQ(0, row->parent);
	EXPECT_EQ(1, row->images);
	EXPECT_EQ(PROFIL_PROCESS_EXITED, row->state);
	EXPECT_STREQ("exe", row->comm);
	EXPECT_LT(0, self->sums.hot);
	EXPECT_EQ(0, self->sums.objects[PROFIL_OBJECT_NONE]);
	if (!getenv("profil_exact"))
		return;
	EXPECT_LT(self->sums.ticks / 2, self->sums.hot);
	us = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000ULL +
	     usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
	ticks = us / (1000000 / 250);
	/*
	 * A tick that comes late is that of who runs then: each switch may give or take one.
	 * What was charged without a tick: before JOIN, at exit, and while interrupts were off.
	 */
	switches = 2 + usage.ru_nvcsw + usage.ru_nivcsw;
	printf("# %llu us, %llu ticks charged, %llu counted, %llu switches\n", us, ticks,
	       self->sums.ticks, switches - 2);
	EXPECT_LE(ticks, self->sums.ticks + switches + ticks / 20);
	EXPECT_LE(self->sums.ticks, ticks + switches);
}

/* What a daemon does to be nobody's. */
TEST_F(session, daemon_is_counted_until_it_is_killed)
{
	pid_t pid;
	int row, fd;

	CHILD(self->view, pid) {
		if (fork())
			_exit(0);
		setsid();
		if (fork())
			_exit(0);
		for (fd = 0; fd < 1024; fd++)
			close(fd);
		exec_image(self_exe, "--spin", NULL);
	}
	EXPECT_EQ(0, wait_for(pid));
	wait_hot(&self->view, TICKS);
	ASSERT_EQ(4, self->view.page->processes_used);
	row = 3;
	EXPECT_EQ(2, view_row(&self->view, row)->parent);
	EXPECT_EQ(1, view_row(&self->view, 2)->parent);
	EXPECT_EQ(PROFIL_PROCESS_MEMBER, view_row(&self->view, row)->state);
	ASSERT_EQ(0, kill(view_row(&self->view, row)->pid, SIGKILL));
	wait_none(&self->view);
	EXPECT_EQ(PROFIL_PROCESS_EXITED, view_row(&self->view, row)->state);
	ASSERT_TRUE(view_finish(&self->view, &self->sums));
	EXPECT_LE(TICKS, self->sums.hot);
}

TEST_F(session, each_of_many_vforked_programs_is_counted)
{
	int i;
	pid_t pid;

	CHILD(self->view, pid) {
		for (i = 0; i < 30; i++) {
			pid = vfork();
			if (!pid)
				exec_image(self_exe, "--burn", "20");
			if (pid < 0 || wait_for(pid))
				_exit(1);
		}
		_exit(0);
	}
	EXPECT_EQ(0, wait_for(pid));
	wait_none(&self->view);
	ASSERT_TRUE(view_finish(&self->view, &self->sums));
	ASSERT_EQ(32, self->view.page->processes_used);
	for (i = 2; i < 32; i++) {
		EXPECT_EQ(1, view_row(&self->view, i)->parent);
		EXPECT_EQ(1, view_row(&self->view, i)->images);
		EXPECT_EQ(PROFIL_PROCESS_EXITED, view_row(&self->view, i)->state);
	}
	EXPECT_EQ(0, self->view.page->forks_missed);
	EXPECT_LT(getenv("profil_exact") ? 15 : 0, self->sums.hot);
}

/* Code that a program makes in memory which only the kernel has a path to. */
static void *shared_copy_of_spin(int fd)
{
	char *code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			  fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED, fd, 0);

	if (code == MAP_FAILED)
		return NULL;
	memcpy(code, (char *)spin, COPY_BYTES);
	__builtin___clear_cache(code, code + COPY_BYTES);
	return code;
}

FIXTURE(code) {
	struct profil_ioc_session args;
	struct view view;
	struct sums sums;
	void (*at)(unsigned long rounds);
};

FIXTURE_VARIANT(code) {
	bool shared, has_fd;
};

FIXTURE_VARIANT_ADD(code, anonymous) { };
FIXTURE_VARIANT_ADD(code, shared) { .shared = true };
FIXTURE_VARIANT_ADD(code, memfd) { .shared = true, .has_fd = true };

FIXTURE_SETUP(code)
{
	int fd = variant->has_fd ? memfd_create("code", MFD_CLOEXEC) : -1;

	ASSERT_TRUE(!variant->has_fd || !ftruncate(fd, PAGE));
	self->at = variant->shared ? shared_copy_of_spin(fd) : copies_of_spin(1);
	ASSERT_NE(NULL, self->at);
	self->args = session_args();
	ASSERT_EQ(0, view_open(&self->view, &self->args));
}

FIXTURE_TEARDOWN(code)
{
	view_close(&self->view);
}

TEST_F(code, code_that_a_program_made_has_its_address)
{
	const struct profil_slot *slot;
	__u64 in_code = 0, others = 0;
	pid_t pid;
	__u32 i;

	CHILD(self->view, pid)
		for (;;)
			self->at(HOT_ROUNDS);
	wait_ticks(&self->view, TICKS);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ASSERT_TRUE(view_finish(&self->view, &self->sums));
	for (i = 0; i < self->view.page->slots; i++) {
		slot = view_slot(&self->view, i);
		if (slot->object != PROFIL_OBJECT_ANONYMOUS)
			continue;
		if (slot->place - UPTR(self->at) < COPY_BYTES && slot->process == 1)
			in_code += slot->user + slot->system;
		else
			others++;
	}
	EXPECT_LT(TICKS * 8 / 10, in_code);
	EXPECT_EQ(0, others);
}

/* On x86-64, and elsewhere, the kernel's own code for programs, of no file. */
TEST_F(session, code_of_the_kernel_for_programs_has_its_offset)
{
	struct timespec ts;
	pid_t pid;
	__u32 i;

	CHILD(self->view, pid)
		for (;;)
			/* No system call, whatever clock the machine has. */
			clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	wait_ticks(&self->view, 3 * TICKS);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ASSERT_TRUE(view_finish(&self->view, &self->sums));
	EXPECT_LT(0, self->sums.objects[PROFIL_OBJECT_VDSO]);
	for (i = 0; i < self->view.page->slots; i++)
		if (view_slot(&self->view, i)->object == PROFIL_OBJECT_VDSO)
			EXPECT_LT(view_slot(&self->view, i)->place, 16 * PAGE);
}

static void *map_and_unmap(void *arg)
{
	char *page;

	for (;;) {
		page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (page == MAP_FAILED)
			continue;
		if (arg)
			*page = 1;
		munmap(page, 2 * PAGE);
	}
	return NULL;
}

/* The lock that a look at a mapping needs is often not to be had. */
TEST_F(session, threads_that_map_and_unmap_have_their_places)
{
	pthread_t thread;
	__u64 found;
	pid_t pid;
	int i;

	CHILD(self->view, pid) {
		/* Else there may be no earlier look for as long as one likes. */
		for (i = 0; i < 200000; i++)
			getppid();
		for (i = 0; i < 3; i++)
			pthread_create(&thread, NULL, map_and_unmap, i % 2 ? &thread : NULL);
		map_and_unmap(NULL);
	}
	wait_ticks(&self->view, 10 * TICKS);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ASSERT_TRUE(view_finish(&self->view, &self->sums));
	EXPECT_EQ(0, self->sums.objects[PROFIL_OBJECT_NONE]);
	/* System calls of 32 bits are made in the kernel's code for programs. */
	found = self->sums.files + self->sums.objects[PROFIL_OBJECT_VDSO];
	/* The first ones may find neither the lock nor an earlier look. */
	EXPECT_EQ(self->sums.ticks, found + self->view.page->exec +
		  self->sums.objects[PROFIL_OBJECT_ADDRESS]);
	EXPECT_LT(self->sums.ticks / 2, found);
	EXPECT_LT(0, self->sums.system);
}

TEST_F(session, programs_executed_one_after_the_other_are_one_process)
{
	const struct profil_process *row;
	pid_t pid;

	CHILD(self->view, pid)
		exec_image(self_exe, "--chain", "5");
	wait_none(&self->view);
	EXPECT_EQ(0, wait_for(pid));
	ASSERT_TRUE(view_finish(&self->view, &self->sums));
	ASSERT_EQ(2, self->view.page->processes_used);
	row = view_row(&self->view, 1);
	EXPECT_EQ(6, row->images);
	EXPECT_EQ(0, self->view.page->execs_denied);
	EXPECT_LT(getenv("profil_exact") ? 5 : 0, self->sums.hot);
}

static void *exec_fn(void *arg)
{
	(void)arg;
	exec_image(self_exe, "--spin", NULL);
	return NULL;
}

TEST_F(session, program_executed_by_another_thread_is_counted)
{
	struct burner burner;
	pthread_t thread;
	pid_t pid;

	CHILD(self->view, pid) {
		if (burner_start(&burner, hot_b) || pthread_create(&thread, NULL, exec_fn, NULL))
			_exit(1);
		burn_for_ever();
	}
	while (!*(volatile __u32 *)&view_row(&self->view, 1)->images)
		usleep(1000);
	wait_hot(&self->view, view_hot(&self->view) + TICKS);
	kill(pid, SIGKILL);
	wait_none(&self->view);
	EXPECT_EQ(-SIGKILL, wait_for(pid));
	ASSERT_TRUE(view_finish(&self->view, &self->sums));
	EXPECT_EQ(1, view_row(&self->view, 1)->images);
}

TEST_F(session, process_of_a_member_may_profile_itself)
{
	struct profil_ioc_stats stats;
	__u16 *counter;
	pid_t pid;
	int fd;

	CHILD(self->view, pid) {
		fd = profil_open();
		counter = page_alloc();
		if (profil_start_page(fd, hot_a, counter) || !burn(fd, hot_a, TICKS) ||
		    !profil_finish(fd, &stats) || !*counter)
			_exit(1);
		_exit(0);
	}
	wait_none(&self->view);
	EXPECT_EQ(0, wait_for(pid));
	ASSERT_TRUE(view_finish(&self->view, &self->sums));
	EXPECT_LE(TICKS, self->sums.ticks);
}

TEST_F(session, kernel_mode_counts_where_it_returns_to)
{
	static char buf[1 << 16];
	struct utsname kernel;
	const struct profil_slot *slot;
	__u64 found = 0;
	pid_t pid;
	__u32 i;
	int fd;

	ASSERT_EQ(0, uname(&kernel));
	if (kernel.release[0] < '6')
		SKIP(return, "before 6.1, a tick in the kernel must not look anything up");
	CHILD(self->view, pid) {
		fd = open("/dev/zero", O_RDONLY);
		read_loop(fd, buf, sizeof(buf), ~0UL);
	}
	wait_ticks(&self->view, 2 * TICKS);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ASSERT_TRUE(view_finish(&self->view, &self->sums));
	for (i = 0; i < self->view.page->slots; i++) {
		slot = view_slot(&self->view, i);
		if (slot->object >= PROFIL_OBJECT_FILES &&
		    slot->place - hot_place() == UPTR(read_return) - UPTR(hot_a))
			found += slot->system;
	}
	EXPECT_LT(TICKS / 2, found);
}

/* ---- exec, and who may be followed */

FIXTURE(rights) {
	struct view view;
	struct sums sums;
	char path[32];
	int pipe[2];
};

FIXTURE_SETUP(rights)
{
	if (geteuid())
		SKIP(return, "only root can become others");
	strcpy(self->path, "/tmp/profil_session_XXXXXX");
	ASSERT_EQ(0, make_setuid(self->path));
	ASSERT_EQ(0, pipe(self->pipe));
}

FIXTURE_TEARDOWN(rights)
{
	unlink(self->path);
	close(self->pipe[0]);
	close(self->pipe[1]);
}

/*
 * What @fn does with a session of @uid's own is its exit status.  The harness' own process
 * stays root.
 */
static int as_user(uid_t uid, int (*fn)(FIXTURE_DATA(rights) *self), FIXTURE_DATA(rights) *self)
{
	struct profil_ioc_session args = session_args();
	pid_t pid = fork();

	args.flags = PROFIL_SESSION_F_PER_PROCESS;
	if (pid)
		return wait_for(pid);
	if (uid && become(uid))
		_exit(101);
	if (view_open(&self->view, &args))
		_exit(102);
	pid = fn(self);
	fflush(stdout);
	_exit(pid);
}

static pid_t run_setuid(FIXTURE_DATA(rights) *self, const char *what)
{
	pid_t pid = fork();

	if (!pid) {
		if (session_join(self->view.fd))
			_exit(100);
		exec_image(self->path, what, "200");
	}
	return pid;
}

static int setuid_is_left_out(FIXTURE_DATA(rights) *self)
{
	pid_t pid = run_setuid(self, "--burn");

	wait_none(&self->view);
	if (wait_for(pid) || !view_finish(&self->view, &self->sums))
		return 1;
	if (view_row(&self->view, 1)->images || self->view.page->execs_denied != 1)
		return 2;
	if (view_row(&self->view, 1)->state != PROFIL_PROCESS_DENIED)
		return 3;
	return self->sums.hot ? 4 : 0;
}

TEST_F(rights, set_user_id_program_is_left_out)
{
	EXPECT_EQ(0, as_user(USER, setuid_is_left_out, self));
}

static int setuid_goes_on(FIXTURE_DATA(rights) *self)
{
	pid_t pid = run_setuid(self, "--spin");

	wait_hot(&self->view, TICKS);
	kill(pid, SIGKILL);
	wait_none(&self->view);
	if (wait_for(pid) != -SIGKILL || !view_finish(&self->view, &self->sums))
		return 1;
	return self->view.page->execs_denied || view_row(&self->view, 1)->images != 1 ? 2 : 0;
}

TEST_F(rights, set_user_id_program_goes_on_for_root)
{
	EXPECT_EQ(0, as_user(0, setuid_goes_on, self));
}

static int setuid_inside_tree(FIXTURE_DATA(rights) *self)
{
	pid_t pid = fork(), child;
	__u32 i, denied = 0;

	if (!pid) {
		if (session_join(self->view.fd))
			_exit(100);
		for (i = 0; i < 3; i++) {
			child = fork();
			if (!child)
				exec_image(i == 1 ? self->path : self_exe, "--burn", "100");
			if (wait_for(child))
				_exit(1);
		}
		_exit(0);
	}
	wait_none(&self->view);
	if (wait_for(pid) || !view_finish(&self->view, &self->sums) ||
	    self->view.page->processes_used != 5)
		return 1;
	for (i = 2; i < 5; i++)
		if (view_row(&self->view, i)->state == PROFIL_PROCESS_DENIED)
			denied = i;
	if (denied != 3 || self->view.page->execs_denied != 1)
		return 2;
	return row_hot(&self->view, 2) && !row_hot(&self->view, 3) && row_hot(&self->view, 4) ?
	       0 : 3;
}

TEST_F(rights, set_user_id_program_inside_a_tree_leaves_the_others)
{
	EXPECT_EQ(0, as_user(USER, setuid_inside_tree, self));
}

/* What may be executed, but not read. */
TEST_F(rights, program_that_cannot_be_read_is_left_out)
{
	ASSERT_EQ(0, chmod(self->path, 0711));
	EXPECT_EQ(0, as_user(USER, setuid_is_left_out, self));
}

static int join_of_another(FIXTURE_DATA(rights) *self)
{
	pid_t pid = fork();

	if (!pid)
		_exit(become(USER + 1) ? 1 : -session_join(self->view.fd));
	return wait_for(pid);
}

TEST_F(rights, join_needs_the_user_of_the_session)
{
	/* Root's own, taken by a user. */
	EXPECT_EQ(EPERM, as_user(0, join_of_another, self));
}

static int join_of_another_group(FIXTURE_DATA(rights) *self)
{
	pid_t pid = fork();

	if (!pid)
		_exit(setresgid(USER, USER, USER) ? 1 : -session_join(self->view.fd));
	return wait_for(pid);
}

TEST_F(rights, join_needs_the_group_of_the_session)
{
	EXPECT_EQ(EPERM, as_user(0, join_of_another_group, self));
}

static int join_with_less(FIXTURE_DATA(rights) *self)
{
	pid_t pid = fork();

	if (!pid)
		_exit(keep_capabilities(0, 0) ? 1 : -session_join(self->view.fd));
	return wait_for(pid);
}

TEST_F(rights, join_needs_the_capabilities_of_the_session)
{
	EXPECT_EQ(EPERM, as_user(0, join_with_less, self));
}

/* ---- ATTACH */

static pid_t spin_child(void)
{
	pid_t pid = fork();

	if (!pid)
		burn_for_ever();
	return pid;
}

static char state_of(pid_t pid, int *tracer)
{
	char path[64], line[256], state = '?';
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	status = fopen(path, "re");
	while (status && fgets(line, sizeof(line), status)) {
		if (!strncmp(line, "State:\t", 7))
			state = line[7];
		if (!strncmp(line, "TracerPid:", 10))
			*tracer = atoi(line + 10);
	}
	if (status)
		fclose(status);
	return state;
}

/* As a helper of the command's does it: seize, attach, gone. */
static int attach_by_helper(int fd, pid_t target)
{
	pid_t pid = fork();

	if (!pid) {
		if (ptrace(PTRACE_SEIZE, target, NULL, NULL))
			_exit(200);
		_exit(-session_attach(fd, target));
	}
	return wait_for(pid);
}

static int attach_untraced(FIXTURE_DATA(rights) *self)
{
	pid_t pid = spin_child();
	int err = session_attach(self->view.fd, pid);

	kill(pid, SIGKILL);
	return -err;
}

TEST_F(rights, attach_needs_a_trace)
{
	EXPECT_EQ(EPERM, as_user(USER, attach_untraced, self));
}

static int attach_root_by_user(FIXTURE_DATA(rights) *self)
{
	int err = attach_by_helper(self->view.fd, getppid());

	return err == 200 && session_attach(self->view.fd, getppid()) == -EPERM ? 0 : 1;
}

TEST_F(rights, attach_of_another_users_process_is_denied)
{
	EXPECT_EQ(0, as_user(USER, attach_root_by_user, self));
}

static int attach_by_seize(FIXTURE_DATA(rights) *self)
{
	pid_t pid = spin_child();
	int tracer = -1, ret = 0;

	if (attach_by_helper(self->view.fd, pid))
		return 1;
	if (state_of(pid, &tracer) != 'R' || tracer)
		ret = 2;
	wait_hot(&self->view, TICKS);
	kill(pid, SIGKILL);
	wait_none(&self->view);
	waitpid(pid, NULL, 0);
	if (!view_finish(&self->view, &self->sums) || view_find(&self->view, pid) != 1)
		return 3;
	return ret;
}

TEST_F(rights, attach_by_who_traces_never_stops_the_process)
{
	EXPECT_EQ(0, as_user(USER, attach_by_seize, self));
}

static int attach_as_root(FIXTURE_DATA(rights) *self)
{
	pid_t pid = fork();
	int ret = 0;

	if (!pid) {
		if (become(USER))
			_exit(1);
		burn_for_ever();
	}
	if (session_attach(self->view.fd, pid))
		ret = 1;
	else
		wait_ticks(&self->view, TICKS);
	kill(pid, SIGKILL);
	return ret;
}

TEST_F(rights, attach_with_cap_perfmon_needs_no_trace)
{
	EXPECT_EQ(0, as_user(0, attach_as_root, self));
}

/* A session with more rights than its caller, whose programs it would follow. */
static int attach_for_root(FIXTURE_DATA(rights) *self)
{
	pid_t pid = fork(), target;
	int err;

	if (pid)
		return wait_for(pid);
	if (become(USER))
		_exit(1);
	target = spin_child();
	err = attach_by_helper(self->view.fd, target);
	kill(target, SIGKILL);
	_exit(err);
}

TEST_F(rights, attach_needs_the_user_of_the_session)
{
	EXPECT_EQ(EPERM, as_user(0, attach_for_root, self));
}

/* A member whose session's right comes by the owner of its namespace of users. */
static int in_a_namespace(FIXTURE_DATA(rights) *self)
{
	pid_t pid = fork();

	if (!pid) {
		if (session_join(self->view.fd) || enter_namespace())
			_exit(100);
		exec_image(self_exe, "--burn", "200");
	}
	wait_none(&self->view);
	if (wait_for(pid) || !view_finish(&self->view, &self->sums))
		return 1;
	return self->view.page->execs_denied || !self->sums.hot ? 2 : 0;
}

TEST_F(rights, namespace_of_the_same_user_is_followed)
{
	EXPECT_EQ(0, as_user(USER, in_a_namespace, self));
}

TEST_F(session, attach_counts_all_threads)
{
	struct burner burners[3];
	pid_t pid = fork();
	size_t i;

	ASSERT_LE(0, pid);
	if (!pid) {
		for (i = 0; i < ARRAY_SIZE(burners); i++)
			burner_start(&burners[i], hot_a);
		for (;;)
			pause();
	}
	ASSERT_EQ(0, attach_by_helper(self->view.fd, pid));
	/* The process' first thread sleeps: all of it is the others'. */
	wait_hot(&self->view, 2 * TICKS);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ASSERT_TRUE(view_finish(&self->view, &self->sums));
}

TEST_F(session, attach_to_what_sleeps_counts_its_children)
{
	int to[2];
	pid_t pid;
	char c;

	ASSERT_EQ(0, pipe(to));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		if (read(to[0], &c, 1) != 1)
			_exit(1);
		pid = fork();
		if (!pid)
			exec_image(self_exe, "--spin", NULL);
		_exit(-wait_for(pid));
	}
	ASSERT_EQ(0, attach_by_helper(self->view.fd, pid));
	ASSERT_EQ(1, write(to[1], "", 1));
	wait_hot(&self->view, TICKS);
	ASSERT_EQ(3, self->view.page->processes_used);
	kill(view_row(&self->view, 2)->pid, SIGKILL);
	wait_none(&self->view);
	EXPECT_EQ(SIGKILL, wait_for(pid));
	ASSERT_TRUE(view_finish(&self->view, &self->sums));
	EXPECT_LT(TICKS / 2, row_ticks(&self->view, 2));
}

TEST_F(session, attach_and_kill_many_times)
{
	pid_t pid;
	int i;

	for (i = 0; i < 20; i++) {
		pid = spin_child();
		ASSERT_EQ(0, attach_by_helper(self->view.fd, pid));
		ASSERT_EQ(EALREADY, attach_by_helper(self->view.fd, pid));
		kill(pid, SIGKILL);
		ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	}
	wait_none(&self->view);
	EXPECT_EQ(-ESRCH, session_attach(self->view.fd, pid));
	ASSERT_TRUE(view_finish(&self->view, &self->sums));
	EXPECT_EQ(21, self->view.page->processes_used);
}

TEST_F(session, attach_has_one_errno_per_cause)
{
	struct profil_ioc_attach attach = { .size = sizeof(attach), .pid = getpid() };

	EXPECT_EQ(-EINVAL, session_attach(self->view.fd, 0));
	EXPECT_EQ(-EINVAL, session_attach(self->view.fd, -1));
	attach.flags = 1;
	EXPECT_EQ(-EOPNOTSUPP, profil_ioctl(self->view.fd, PROFIL_IOC_ATTACH, &attach));
	attach.flags = 0;
	attach.__reserved = 1;
	EXPECT_EQ(-EINVAL, profil_ioctl(self->view.fd, PROFIL_IOC_ATTACH, &attach));
	/* A thread of the kernel's. */
	if (!geteuid())
		EXPECT_EQ(-ESRCH, session_attach(self->view.fd, 2));
}

/* ---- the life of a session */

TEST_F(session, end_of_the_profiler_leaves_its_targets_alone)
{
	struct profil_ioc_session args = session_args();
	struct view view;
	pid_t pid, target;
	int i, to[2];

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, pipe(to));
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			if (view_open(&view, &args))
				_exit(1);
			target = fork();
			if (!target) {
				if (session_join(view.fd))
					_exit(1);
				view_close(&view);
				close(to[0]);
				/* Forks while its session goes. */
				for (i = 0; i < 64; i++) {
					target = fork();
					if (!target && i % 8)
						_exit(0);
					if (!target)
						exec_image(self_exe, "--burn", "1");
					if (wait_for(target))
						_exit(1);
				}
				_exit(write(to[1], "y", 1) != 1);
			}
			wait_ticks(&view, 1);
			kill(getpid(), SIGKILL);
		}
		close(to[1]);
		EXPECT_EQ(-SIGKILL, wait_for(pid));
		char c = 0;

		EXPECT_EQ(1, read(to[0], &c, 1));
		EXPECT_EQ('y', c);
		close(to[0]);
	}
}

TEST_F(session, poll_says_when_the_last_member_is_gone)
{
	struct pollfd pollfd = { .fd = self->view.fd };
	pid_t pid;
	int to[2];
	char c;

	ASSERT_EQ(0, pipe(to));
	EXPECT_EQ(0, poll(&pollfd, 1, 0));
	CHILD(self->view, pid) {
		close(to[1]);
		if (!fork())
			_exit(read(to[0], &c, 1));
		_exit(0);
	}
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_EQ(0, poll(&pollfd, 1, 0));
	EXPECT_EQ(1, self->view.page->members);
	close(to[1]);
	wait_none(&self->view);
	EXPECT_EQ(0, self->view.page->members);
}

TEST_F(session, stop_is_for_good)
{
	struct profil_ioc_stop stop = { .size = sizeof(stop), .cookie = 1 };
	struct pollfd pollfd = { .fd = self->view.fd };
	__u64 ticks;
	pid_t pid;

	EXPECT_EQ(-EINVAL, profil_ioctl(self->view.fd, PROFIL_IOC_STOP, &stop));
	CHILD(self->view, pid)
		burn_for_ever();
	wait_ticks(&self->view, 5);
	EXPECT_EQ(PROFIL_SESSION_ON, self->view.page->state);
	ASSERT_TRUE(view_finish(&self->view, &self->sums));
	ticks = self->sums.ticks;
	EXPECT_EQ(PROFIL_PROCESS_STOPPED, view_row(&self->view, 1)->state);
	EXPECT_EQ(1, poll(&pollfd, 1, 0));
	EXPECT_EQ(-ESRCH, session_join(self->view.fd));
	burn_ms(60);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	view_sum(&self->view, &self->sums);
	EXPECT_EQ(ticks, self->sums.ticks);
	EXPECT_EQ(0, session_stop(&self->view));
}

TEST_F(session, lives_as_long_as_its_mapping)
{
	pid_t pid;

	CHILD(self->view, pid) {
		view_close(&self->view);
		burn_for_ever();
	}
	close(self->view.fd);
	wait_ticks(&self->view, 5);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	self->view.fd = -1;
}

TEST_F(session, process_sees_nothing_of_it)
{
	pid_t pid;

	CHILD(self->view, pid) {
		/* Neither of the mapping that the profiler has. */
		if (find_anchor(NULL) || mincore((void *)self->view.page, PAGE, (void *)&pid) != -1)
			_exit(1);
		exec_image(self_exe, "--nothing", NULL);
	}
	EXPECT_EQ(0, wait_for(pid));
}

TEST_F(session, four_sessions_count_a_process_and_no_fifth)
{
	struct profil_ioc_session args = session_args();
	struct view views[5];
	struct sums sums;
	pid_t pid;
	int i;

	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, view_open(&views[i], &args));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		for (i = 0; i < 4; i++)
			if (session_join(views[i].fd))
				_exit(1);
		if (session_join(views[0].fd) != -EALREADY)
			_exit(2);
		if (session_join(views[4].fd) != -ENOSPC)
			_exit(3);
		if (wait_for(spin_child() ?: 1) == 0)
			_exit(4);
		_exit(0);
	}
	for (i = 0; i < 4; i++)
		wait_ticks(&views[i], TICKS);
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(3, views[i].page->processes_used);
		kill(view_row(&views[i], 2)->pid, SIGKILL);
	}
	EXPECT_EQ(0, wait_for(pid));
	for (i = 0; i < 4; i++) {
		ASSERT_TRUE(view_finish(&views[i], &sums));
		EXPECT_LE(TICKS, sums.ticks);
	}
	for (i = 0; i < 5; i++)
		view_close(&views[i]);
}

/* ---- flags and rates */

/* A session of these arguments, and a child that spins and has one that does. */
static int run_with(struct profil_ioc_session *args, struct view *view, struct sums *sums,
		    __u64 ticks)
{
	pid_t pid, child;
	int to[2];

	if (view_open(view, args) || pipe(to))
		return -1;
	pid = fork();
	if (!pid) {
		if (session_join(view->fd))
			_exit(100);
		child = spin_child();
		if (write(to[1], &child, sizeof(child)) != sizeof(child))
			_exit(1);
		burn_for_ever();
	}
	if (read(to[0], &child, sizeof(child)) != sizeof(child))
		return -1;
	wait_ticks(view, ticks);
	kill(pid, SIGKILL);
	kill(child, SIGKILL);
	waitpid(pid, NULL, 0);
	close(to[0]);
	close(to[1]);
	return view_finish(view, sums) ? 0 : -1;
}

TEST_F(session, noinherit_leaves_children_out)
{
	struct view view;

	self->args.flags = PROFIL_SESSION_F_NOINHERIT;
	ASSERT_EQ(0, run_with(&self->args, &view, &self->sums, TICKS));
	EXPECT_EQ(2, view.page->processes_used);
	EXPECT_EQ(0, view.page->forks_missed);
	view_close(&view);
}

TEST_F(session, per_process_tells_places_of_files_apart)
{
	__u64 ticks[3] = { 0 };
	struct view view;
	__u32 i;

	self->args.flags = PROFIL_SESSION_F_PER_PROCESS;
	ASSERT_EQ(0, run_with(&self->args, &view, &self->sums, 4 * TICKS));
	for (i = 0; i < view.page->slots; i++)
		if (view_slot(&view, i)->object && view_slot(&view, i)->process < 3)
			ticks[view_slot(&view, i)->process] +=
				view_slot(&view, i)->user + view_slot(&view, i)->system;
	EXPECT_EQ(0, ticks[0]);
	EXPECT_EQ(row_ticks(&view, 1) + row_ticks(&view, 2),
		  ticks[1] + ticks[2] + view.page->exec + view.page->full);
	EXPECT_LT(0, ticks[1]);
	EXPECT_LT(0, ticks[2]);
	view_close(&view);
}

TEST_F(session, user_only_has_no_system_time_in_slots)
{
	static char buf[1 << 16];
	struct view view;
	pid_t pid;
	__u32 i;
	int fd;

	self->args.flags = PROFIL_SESSION_F_USER_ONLY;
	ASSERT_EQ(0, view_open(&view, &self->args));
	CHILD(view, pid) {
		fd = open("/dev/zero", O_RDONLY);
		read_loop(fd, buf, sizeof(buf), ~0UL);
	}
	wait_ticks(&view, TICKS);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ASSERT_TRUE(view_finish(&view, &self->sums));
	EXPECT_EQ(self->sums.system, view.page->not_due);
	EXPECT_LT(0, view.page->not_due);
	for (i = 0; i < view.page->slots; i++)
		EXPECT_EQ(0, view_slot(&view, i)->system);
	view_close(&view);
}

TEST_F(session, rate_has_its_share_of_the_ticks)
{
	struct profil_ioc_query query;
	struct view view;
	int fd = profil_open();

	ASSERT_EQ(0, profil_query(fd, &query));
	close(fd);
	self->args.rate = query.out_tick_hz / 5;
	ASSERT_EQ(0, run_with(&self->args, &view, &self->sums, 10 * TICKS));
	/* Of each window of 5 ticks one; the last window may be cut. */
	EXPECT_LE(self->sums.ticks / 5, self->sums.ticks - view.page->not_due);
	EXPECT_LE(self->sums.ticks - view.page->not_due, self->sums.ticks / 5 + 1);
	view_close(&view);
}

/* ---- tables that are full */

TEST_F(session, full_table_of_slots_is_counted)
{
	struct view view;
	char *code;
	pid_t pid;
	int i;

	self->args.slots = PROFIL_SLOTS_MIN;
	ASSERT_EQ(0, view_open(&view, &self->args));
	code = copies_of_spin(8192);
	ASSERT_NE(NULL, code);
	CHILD(view, pid)
		/* A place is new for nearly each tick. */
		for (i = 0; ; i = (i + 1) % 8192)
			((void (*)(unsigned long))(code + i * COPY_BYTES))(HOT_ROUNDS / 16);
	while (!__atomic_load_n(&view.page->full, __ATOMIC_RELAXED))
		usleep(5000);
	wait_ticks(&view, TICKS);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ASSERT_TRUE(view_finish(&view, &self->sums));
	EXPECT_LT(0, view.page->full);
	EXPECT_EQ(0, view.page->full_objects);
	view_close(&view);
}

TEST_F(session, full_table_of_objects_is_counted)
{
	char path[] = "/tmp/profil_object_XXXXXX", *code[16];
	struct view view;
	int i, fd;
	pid_t pid;

	self->args.objects = PROFIL_OBJECTS_MIN;
	ASSERT_EQ(0, view_open(&view, &self->args));
	for (i = 0; i < 16; i++) {
		strcpy(path, "/tmp/profil_object_XXXXXX");
		fd = mkstemp(path);
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, unlink(path));
		ASSERT_EQ(COPY_BYTES, write(fd, (void *)spin, COPY_BYTES));
		code[i] = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		ASSERT_NE(MAP_FAILED, (void *)code[i]);
		close(fd);
	}
	CHILD(view, pid)
		for (i = 0; ; i = (i + 1) % 16)
			((void (*)(unsigned long))code[i])(4 * HOT_ROUNDS);
	while (!__atomic_load_n(&view.page->full_objects, __ATOMIC_RELAXED))
		usleep(5000);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ASSERT_TRUE(view_finish(&view, &self->sums));
	EXPECT_EQ(10, view.page->objects_used);
	EXPECT_EQ(view.page->full, view.page->full_objects);
	view_close(&view);
}

TEST_F(session, processes_without_a_row_are_in_row_0)
{
	struct view view;
	pid_t pid;
	int i;

	self->args.processes = PROFIL_PROCESSES_MIN;
	ASSERT_EQ(0, view_open(&view, &self->args));
	CHILD(view, pid) {
		/* That of the parent is not for children. */
		const volatile struct profil_session_page *page =
			mmap(NULL, PAGE, PROT_READ, MAP_SHARED, view.fd, 0);

		if (page == MAP_FAILED)
			_exit(2);
		for (i = 0; i < 20; i++) {
			pid = fork();
			if (!pid)
				exec_image(self_exe, "--burn", "20");
			if (wait_for(pid))
				_exit(1);
			/* Its place among the members is given back a moment later. */
			while (page->members > 1)
				usleep(1000);
		}
		_exit(0);
	}
	EXPECT_EQ(0, wait_for(pid));
	wait_none(&view);
	ASSERT_TRUE(view_finish(&view, &self->sums));
	EXPECT_EQ(16, view.page->processes_used);
	EXPECT_EQ(0, view.page->forks_missed);
	EXPECT_LT(5, row_ticks(&view, 0));
	EXPECT_EQ(PROFIL_PROCESS_OTHERS, view_row(&view, 0)->state);
	EXPECT_EQ(0, view_row(&view, 0)->images);
	view_close(&view);
}

TEST_F(session, children_beyond_the_members_are_missed)
{
	pid_t pids[20], pid;
	struct view view;
	int i;

	self->args.processes = PROFIL_PROCESSES_MIN;
	ASSERT_EQ(0, view_open(&view, &self->args));
	CHILD(view, pid) {
		for (i = 0; i < 20; i++) {
			pids[i] = fork();
			if (!pids[i])
				for (;;)
					pause();
		}
		for (i = 0; i < 20; i++)
			kill(pids[i], SIGKILL);
		_exit(0);
	}
	EXPECT_EQ(0, wait_for(pid));
	wait_none(&view);
	EXPECT_EQ(5, view.page->forks_missed);
	view_close(&view);
}

/* ---- objects */

static int session_object(int fd, __u32 object, char *path, __u32 len,
			  struct profil_ioc_object *args)
{
	*args = (struct profil_ioc_object){
		.size = sizeof(*args),
		.object = object,
		.path_uptr = UPTR(path),
		.path_len = len,
	};
	return profil_ioctl(fd, PROFIL_IOC_OBJECT, args);
}

/* The one object of a session whose member ran one program. */
static __u32 only_object(const struct view *view)
{
	__u32 i, found = 0;

	for (i = PROFIL_OBJECT_FILES; i < view->page->objects; i++)
		if (view_object(view, i)->kind)
			found = i;
	return found;
}

TEST_F(session, object_gives_the_file_and_its_path)
{
	char path[] = "/tmp/profil_session_XXXXXX", name[PATH_MAX], gone[64];
	struct profil_ioc_object args;
	struct stat was, is;
	__u32 object;
	pid_t pid;

	ASSERT_EQ(0, make_setuid(path));
	ASSERT_EQ(0, chmod(path, 0755));
	ASSERT_EQ(0, stat(path, &was));
	snprintf(gone, sizeof(gone), "%s (deleted)", path);
	CHILD(self->view, pid)
		exec_image(path, "--spin", NULL);
	while (!only_object(&self->view) || view_row(&self->view, 1)->images != 1)
		usleep(5000);
	wait_ticks(&self->view, TICKS);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	for (object = PROFIL_OBJECT_FILES; object < self->view.page->objects; object++)
		if (view_is_file(&self->view, object, &was))
			break;
	ASSERT_LT(object, self->view.page->objects);
	ASSERT_EQ(PROFIL_ENTRY_FILE, view_object(&self->view, object)->kind);

	ASSERT_EQ(0, session_object(self->view.fd, object, name, sizeof(name), &args));
	EXPECT_STREQ(path, name);
	EXPECT_EQ(sizeof(path), args.out_path_len);
	ASSERT_LE(0, args.out_fd);
	EXPECT_EQ(FD_CLOEXEC, fcntl(args.out_fd, F_GETFD));
	EXPECT_EQ(O_RDONLY, fcntl(args.out_fd, F_GETFL) & O_ACCMODE);
	close(args.out_fd);

	/* Whatever its name is now. */
	ASSERT_EQ(0, unlink(path));
	ASSERT_EQ(0, session_object(self->view.fd, object, name, sizeof(name), &args));
	EXPECT_STREQ(gone, name);
	ASSERT_EQ(0, fstat(args.out_fd, &is));
	EXPECT_EQ(was.st_ino, is.st_ino);
	EXPECT_EQ(was.st_dev, is.st_dev);
	EXPECT_EQ(was.st_size, is.st_size);
	close(args.out_fd);

	strcpy(name, "x");
	ASSERT_EQ(0, session_object(self->view.fd, object, name, 5, &args));
	EXPECT_STREQ("x", name);
	EXPECT_EQ(strlen(gone) + 1, args.out_path_len);
	close(args.out_fd);
	EXPECT_EQ(-EFAULT, session_object(self->view.fd, object, (char *)1, PATH_MAX, &args));
	EXPECT_EQ(-ENOENT, session_object(self->view.fd, 0, NULL, 0, &args));
	EXPECT_EQ(-ENOENT, session_object(self->view.fd, PROFIL_OBJECT_VDSO, NULL, 0, &args));
	EXPECT_EQ(-ENOENT, session_object(self->view.fd, 64, NULL, 0, &args));
	EXPECT_EQ(-ENOENT, session_object(self->view.fd, ~0U, NULL, 0, &args));
}

/* The object of the program of that name; 0 if there is none. */
static __u32 object_of(FIXTURE_DATA(rights) *self, const char *path)
{
	struct stat is;
	__u32 object;

	if (stat(path, &is))
		return 0;
	for (object = self->view.page->objects - 1; object; object--)
		if (view_is_file(&self->view, object, &is))
			break;
	return object;
}

/* What OBJECT says of it: an error, or 0 if it opens it. */
static int object_error(FIXTURE_DATA(rights) *self, __u32 object)
{
	struct profil_ioc_object args;

	if (session_object(self->view.fd, object, NULL, 0, &args))
		return 110;
	return args.out_fd < 0 ? -args.out_fd : close(args.out_fd);
}

/* The descriptor of a session does not open what its holder may not read. */
static int object_that_became_secret(FIXTURE_DATA(rights) *self)
{
	pid_t pid = run_setuid(self, "--burn");
	__u32 object;

	if (wait_for(pid))
		return 1;
	object = object_of(self, self->path);
	if (object_error(self, object) || chmod(self->path, 0))
		return 2;
	return object_error(self, object);
}

TEST_F(rights, object_opens_only_what_the_caller_may_read)
{
	ASSERT_EQ(0, chown(self->path, USER, USER));
	ASSERT_EQ(0, chmod(self->path, 0700));
	EXPECT_EQ(EACCES, as_user(USER, object_that_became_secret, self));
}

/* What root's members run may be in a folder that its holder cannot come to. */
static int object_of_root(FIXTURE_DATA(rights) *self)
{
	pid_t pid = run_setuid(self, "--burn");
	__u32 object;

	if (wait_for(pid))
		return 1;
	object = object_of(self, self->path);
	if (object_error(self, object))
		return 2;
	pid = fork();
	if (pid)
		return wait_for(pid);
	_exit(become(USER) ? 3 : object_error(self, object));
}

TEST_F(rights, files_are_opened_for_the_user_of_the_session)
{
	ASSERT_EQ(0, chmod(self->path, 0755));
	EXPECT_EQ(EACCES, as_user(0, object_of_root, self));
}

/* CAP_PERFMON alone lets one count everybody, and read nobody's files. */
static int object_of_another(FIXTURE_DATA(rights) *self)
{
	struct profil_ioc_session args = session_args();
	int err, begun[2];
	pid_t pid;
	char byte;

	if (pipe2(begun, O_CLOEXEC))
		return 1;
	pid = fork();
	if (!pid) {
		if (become(USER))
			_exit(1);
		exec_image(self->path, "--spin", "200");
	}
	close(begun[1]);
	if (read(begun[0], &byte, 1))
		return 1;
	/* The child ends with its parent, which has to have the right to send that signal. */
	if (keep_capabilities(LOW_KILL, HIGH_PERFMON))
		return 2;
	view_close(&self->view);
	if (view_open(&self->view, &args))
		return 3;
	while ((err = session_attach(self->view.fd, pid)) == -EAGAIN)
		;
	if (err)
		return 4;
	wait_hot(&self->view, TICKS);
	return object_error(self, object_of(self, self->path));
}

TEST_F(rights, files_of_who_is_not_traced_need_cap_dac_read_search)
{
	ASSERT_EQ(0, chmod(self->path, 0755));
	EXPECT_EQ(EACCES, as_user(0, object_of_another, self));
}

static void *open_with_no_capabilities(void *data)
{
	FIXTURE_DATA(rights) *self = data;
	struct profil_ioc_session args = session_args();

	/* Of this thread alone. */
	return keep_capabilities(0, 0) || view_open(&self->view, &args) ? data : NULL;
}

/*
 * What OBJECT says to the maker of a session, who has no capabilities, of the program of a
 * process that has @low ones of the first 32, and was brought in by itself, or by its @tracer.
 */
static int object_of_member(FIXTURE_DATA(rights) *self, __u32 low, bool tracer)
{
	pthread_t thread;
	void *failed;
	pid_t pid;

	view_close(&self->view);
	if (pthread_create(&thread, NULL, open_with_no_capabilities, self) ||
	    pthread_join(thread, &failed) || failed)
		return 1;
	pid = fork();
	if (!pid) {
		if (keep_capabilities(low, 0) || (!tracer && session_join(self->view.fd)))
			_exit(1);
		burn_for_ever();
	}
	if (tracer && (ptrace(PTRACE_SEIZE, pid, NULL, NULL) ||
		       session_attach(self->view.fd, pid)))
		return 2;
	wait_hot(&self->view, TICKS);
	kill(pid, SIGKILL);
	if (keep_capabilities(0, 0))
		return 3;
	return object_error(self, object_of(self, self_exe));
}

static int object_of_who_joins_with_no_more(FIXTURE_DATA(rights) *self)
{
	return object_of_member(self, 0, false);
}

static int object_of_who_joins_with_more(FIXTURE_DATA(rights) *self)
{
	return object_of_member(self, LOW_KILL, false);
}

static int object_of_whom_a_tracer_with_more_attaches(FIXTURE_DATA(rights) *self)
{
	return object_of_member(self, 0, true);
}

/* Who joins, or lends his trace, has the rights that he has, whosever the session is. */
TEST_F(rights, files_of_who_has_more_rights_than_the_maker_need_cap_dac_read_search)
{
	EXPECT_EQ(0, as_user(0, object_of_who_joins_with_no_more, self));
	EXPECT_EQ(EACCES, as_user(0, object_of_who_joins_with_more, self));
	EXPECT_EQ(EACCES, as_user(0, object_of_whom_a_tracer_with_more_attaches, self));
}

/* ---- bad input */

TEST_F(session, mapping_is_for_reading_alone)
{
	void *map;

	EXPECT_EQ(-1, mprotect((void *)self->view.page, PAGE, PROT_READ | PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(-1, mprotect((void *)self->view.page, PAGE, PROT_READ | PROT_EXEC));
	EXPECT_EQ(EACCES, errno);
	map = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, self->view.fd, 0);
	EXPECT_EQ(MAP_FAILED, map);
	EXPECT_EQ(EACCES, errno);
	map = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, self->view.fd, 0);
	EXPECT_EQ(MAP_FAILED, map);
	EXPECT_EQ(EACCES, errno);
	map = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, self->view.fd, PAGE);
	EXPECT_EQ(MAP_FAILED, map);
	EXPECT_EQ(EINVAL, errno);
	map = mmap(NULL, self->view.bytes + PAGE, PROT_READ, MAP_SHARED, self->view.fd, 0);
	EXPECT_EQ(MAP_FAILED, map);
	EXPECT_EQ(EINVAL, errno);
	/* Its first page alone serves who wants no more. */
	map = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, self->view.fd, 0);
	ASSERT_NE(MAP_FAILED, map);
	EXPECT_EQ(sizeof(struct profil_session_page), *(__u32 *)map);
	EXPECT_EQ(-1, mprotect(map, PAGE, PROT_READ | PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
	munmap(map, PAGE);
}

TEST_F(session, page_says_where_the_tables_are)
{
	const struct profil_session_page *page = self->view.page;

	EXPECT_EQ(PROFIL_ABI, page->abi);
	EXPECT_EQ(8192, page->slots);
	EXPECT_EQ(256, page->processes);
	EXPECT_EQ(64, page->objects);
	EXPECT_EQ(sizeof(struct profil_slot), page->slot_len);
	EXPECT_EQ(sizeof(struct profil_process), page->process_len);
	EXPECT_EQ(sizeof(struct profil_object_entry), page->object_len);
	EXPECT_LE(page->size, page->slots_offset);
	EXPECT_LE(page->slots_offset + page->slots * page->slot_len, page->processes_offset);
	EXPECT_LE(page->processes_offset + page->processes * page->process_len,
		  page->objects_offset);
	EXPECT_LE(page->objects_offset + page->objects * page->object_len, self->view.bytes);
	EXPECT_EQ(PROFIL_SESSION_ON, page->state);
	EXPECT_EQ(1, page->processes_used);
	EXPECT_EQ(0, page->members);
}

TEST_F(session, arguments_have_one_errno_per_cause)
{
	struct profil_ioc_session args;
	int fd = profil_open();
	size_t i;
	struct {
		size_t at;
		__u32 value;
		int err;
	} bad[] = {
#define WORD(_word) offsetof(struct profil_ioc_session, _word)
		{ WORD(slots), 0, -EINVAL },
		{ WORD(slots), PROFIL_SLOTS_MIN / 2, -EINVAL },
		{ WORD(slots), PROFIL_SLOTS_MIN + 1, -EINVAL },
		{ WORD(slots), PROFIL_SLOTS_MAX * 2, -EINVAL },
		{ WORD(processes), PROFIL_PROCESSES_MIN - 1, -EINVAL },
		{ WORD(processes), PROFIL_PROCESSES_MAX + 1, -EINVAL },
		{ WORD(objects), PROFIL_OBJECTS_MIN / 2, -EINVAL },
		{ WORD(objects), 48, -EINVAL },
		{ WORD(objects), PROFIL_OBJECTS_MAX * 2, -EINVAL },
		{ WORD(jitter), 1, -EINVAL },
		{ WORD(__reserved), 1, -EINVAL },
		{ WORD(flags), PROFIL_SESSION_F_KERNEL | PROFIL_SESSION_F_USER_ONLY, -EINVAL },
		{ WORD(flags), 1 << 5, -EOPNOTSUPP },
		{ WORD(flags), 1U << 31, -EOPNOTSUPP },
		{ WORD(source), PROFIL_SOURCE_TIMER, -EINVAL },
		{ WORD(source), PROFIL_SOURCE_TIMER + 1, -EOPNOTSUPP },
		{ WORD(rate), 100000, -EOPNOTSUPP },
		{ WORD(size), sizeof(args) - 1, -EINVAL },
		{ WORD(size), 0, -EINVAL },
		{ WORD(size), PAGE + 1, -E2BIG },
	};

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		args = session_args();
		*(__u32 *)((char *)&args + bad[i].at) = bad[i].value;
		EXPECT_EQ(bad[i].err, profil_ioctl(fd, PROFIL_IOC_SESSION, &args))
			TH_LOG("byte %zu: %u", bad[i].at, bad[i].value);
	}
	EXPECT_EQ(-EFAULT, profil_ioctl(fd, PROFIL_IOC_SESSION, NULL));
	close(fd);
}

TEST_F(session, smallest_and_largest_tables_are_had)
{
	struct view view;

	self->args.slots = PROFIL_SLOTS_MIN;
	self->args.processes = PROFIL_PROCESSES_MIN;
	self->args.objects = PROFIL_OBJECTS_MIN;
	ASSERT_EQ(0, view_open(&view, &self->args));
	view_close(&view);
	self->args.slots = PROFIL_SLOTS_MAX;
	self->args.processes = PROFIL_PROCESSES_MAX;
	self->args.objects = PROFIL_OBJECTS_MAX;
	ASSERT_EQ(0, view_open(&view, &self->args));
	view_close(&view);
}

TEST_F(session, commands_are_those_of_their_descriptor)
{
	struct profil_ioc_query query = { .size = sizeof(query) };
	struct profil_ioc_join join = { .size = sizeof(join), .flags = 1 };
	int fd = profil_open(), cmd;

	EXPECT_EQ(-EOPNOTSUPP, profil_ioctl(self->view.fd, PROFIL_IOC_JOIN, &join));
	join.flags = 0;
	join.size = 4;
	EXPECT_EQ(-EINVAL, profil_ioctl(self->view.fd, PROFIL_IOC_JOIN, &join));
	EXPECT_EQ(-ENOTTY, profil_ioctl(self->view.fd, PROFIL_IOC_QUERY, &query));
	EXPECT_EQ(-ENOTTY, profil_ioctl(self->view.fd, _IO(PROFIL_IOC_MAGIC, 8), &query));
	for (cmd = 5; cmd < 9; cmd++)
		EXPECT_EQ(-ENOTTY, profil_ioctl(fd, _IO(PROFIL_IOC_MAGIC, cmd), &query));
	close(fd);
}

/* As uapi_test has it for the other commands. */
TEST_F(session, commands_take_the_sizes_that_they_know)
{
	static const struct {
		unsigned int cmd;
		__u32 size;
		int err;	/* of a structure of zeros */
	} commands[] = {
		{ PROFIL_IOC_SESSION, sizeof(struct profil_ioc_session), -EINVAL },
		{ PROFIL_IOC_STOP, sizeof(struct profil_ioc_stop), 0 },
		{ PROFIL_IOC_JOIN, sizeof(struct profil_ioc_join), -ESRCH },
		{ PROFIL_IOC_ATTACH, sizeof(struct profil_ioc_attach), -EINVAL },
		{ PROFIL_IOC_OBJECT, sizeof(struct profil_ioc_object), -ENOENT },
	};
	char *pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *at;
	int device = profil_open(), fd;
	__u32 size;
	size_t i;

	ASSERT_NE(MAP_FAILED, (void *)pages);
	ASSERT_EQ(0, munmap(pages + 2 * PAGE, PAGE));
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		fd = commands[i].cmd == PROFIL_IOC_SESSION ? device : self->view.fd;
		for (size = 0; size < 2 * PAGE; size += size < commands[i].size + 4 ? 1 : 509) {
			/* To the last byte that is there. */
			at = pages + 2 * PAGE - size;
			if (size < sizeof(size))
				at = pages;
			memset(at, 0, size);
			*(__u32 *)at = size;
			EXPECT_EQ(size < commands[i].size ? -EINVAL :
				  size > PAGE ? -E2BIG : commands[i].err,
				  profil_ioctl(fd, commands[i].cmd, at))
				TH_LOG("command %u of %u bytes", commands[i].cmd, size);
			if (size <= commands[i].size || size > PAGE)
				continue;
			at[size - 1] = 1;
			EXPECT_EQ(-E2BIG, profil_ioctl(fd, commands[i].cmd, at))
				TH_LOG("command %u of %u bytes", commands[i].cmd, size);
		}
		EXPECT_EQ(-EFAULT, profil_ioctl(fd, commands[i].cmd, pages + 2 * PAGE));
	}
	close(device);
}

/* Who cannot be told of the descriptor has none. */
TEST_F(session, session_that_cannot_be_told_is_none)
{
	struct profil_ioc_session *args = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = profil_open(), next = dup(fd), i;

	ASSERT_NE(MAP_FAILED, (void *)args);
	close(next);
	*args = session_args();
	ASSERT_EQ(0, mprotect(args, PAGE, PROT_READ));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(-EFAULT, profil_ioctl(fd, PROFIL_IOC_SESSION, args));
	EXPECT_EQ(next, dup(fd));
	close(next);
	close(fd);
}

TEST_F(session, query_tells_what_there_is)
{
	struct profil_ioc_query query;
	int fd = profil_open();

	ASSERT_EQ(0, profil_query(fd, &query));
	EXPECT_EQ(PROFIL_SESSION_F_NOINHERIT | PROFIL_SESSION_F_PER_PROCESS |
		  PROFIL_SESSION_F_USER_ONLY | PROFIL_SESSION_F_KERNEL | PROFIL_SESSION_F_SYSTEM,
		  query.out_session_flags);
	EXPECT_EQ(query.out_sources, query.out_session_sources);
	close(fd);
}

/* ---- limits */

static const char *const knobs[] = {
	"max_sessions_user", "max_slots_user", "max_members_user", "max_objects_user",
	"max_profiles_user",
};

#define SIZES	4	/* of these are what a session takes at its beginning */

FIXTURE(quota) {
	char was[ARRAY_SIZE(knobs)][32];
	struct view view;
	struct profil_ioc_session args;
};

static int set_knob(size_t knob, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), KNOBS "%s", knobs[knob]);
	return write_file(path, 0, value);
}

FIXTURE_SETUP(quota)
{
	char path[128];
	size_t i;

	if (geteuid())
		SKIP(return, "only root can set limits");
	for (i = 0; i < ARRAY_SIZE(knobs); i++) {
		snprintf(path, sizeof(path), KNOBS "%s", knobs[i]);
		ASSERT_EQ(0, read_file(path, self->was[i], sizeof(self->was[i])));
	}
	self->args = session_args();
}

FIXTURE_TEARDOWN(quota)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(knobs); i++)
		EXPECT_EQ(0, set_knob(i, self->was[i]));
}

/* What former sessions had is given back by a worker. */
static int open_patiently(struct view *view, struct profil_ioc_session *args)
{
	int err;

	while ((err = view_open(view, args)) == -ENOSPC)
		usleep(5000);
	return err;
}

TEST_F(quota, sessions_of_a_user_are_limited)
{
	struct view views[3];
	int i;

	ASSERT_EQ(0, set_knob(0, "3"));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, open_patiently(&views[i], &self->args));
	EXPECT_EQ(-ENOSPC, view_open(&self->view, &self->args));
	view_close(&views[0]);
	EXPECT_EQ(0, open_patiently(&views[0], &self->args));
	for (i = 0; i < 3; i++)
		view_close(&views[i]);
}

#define MANY	10	/* users, each with all slots that one may have */

/* A session of another user, until @pipe is closed: 0, or an error. */
static int open_as(FIXTURE_DATA(quota) *self, uid_t uid, int pipe[2], bool patient)
{
	int err, told[2];
	pid_t pid;
	char byte;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, told))
		return errno;
	pid = fork();
	if (!pid) {
		close(pipe[1]);
		err = become(uid);
		if (!err)
			err = patient ? open_patiently(&self->view, &self->args) :
					view_open(&self->view, &self->args);
		byte = -err;
		if (write(told[1], &byte, 1) == 1 && !err)
			read(pipe[0], &byte, 1);
		_exit(0);
	}
	err = read(told[0], &byte, 1) == 1 ? byte : EIO;
	close(told[0]);
	close(told[1]);
	return err;
}

/* Who has many users has no more than the memory of his control group, or of eight. */
TEST_F(quota, tables_of_many_users_are_charged_or_limited)
{
	struct utsname kernel;
	int i, pipe_of[2];

	ASSERT_EQ(0, uname(&kernel));
	ASSERT_EQ(0, pipe(pipe_of));
	ASSERT_EQ(0, set_knob(1, "8192"));
	for (i = 0; i < 8; i++)
		ASSERT_EQ(0, open_as(self, USER + i, pipe_of, true));
	for (; i < MANY; i++)
		EXPECT_EQ(!strncmp(kernel.release, "5.10.", 5) ? ENOSPC : 0,
			  open_as(self, USER + i, pipe_of, false));
	close(pipe_of[0]);
	close(pipe_of[1]);
	for (i = 0; i < MANY; i++)
		EXPECT_LT(0, wait(NULL));
}

TEST_F(quota, slots_members_and_objects_of_a_user_are_limited)
{
	static const char *const enough[] = { "", "8192", "256", "64" };
	static const char *const less[] = { "", "8191", "255", "63" };
	size_t i;

	for (i = 1; i < SIZES; i++) {
		ASSERT_EQ(0, set_knob(i, less[i]));
		EXPECT_EQ(-ENOSPC, view_open(&self->view, &self->args));
		ASSERT_EQ(0, set_knob(i, enough[i]));
		ASSERT_EQ(0, open_patiently(&self->view, &self->args));
		/* All of it is in use. */
		EXPECT_EQ(-ENOSPC, view_open(&(struct view){ 0 }, &self->args));
		view_close(&self->view);
		ASSERT_EQ(0, set_knob(i, self->was[i]));
	}
}

TEST_F(quota, members_of_a_user_are_limited_as_profiles_are)
{
	pid_t pid, child;
	int i, to[2];
	char c = 0;

	ASSERT_EQ(0, pipe(to));
	ASSERT_EQ(0, view_open(&self->view, &self->args));
	ASSERT_EQ(0, set_knob(4, "2"));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		/* Those of former tests are freed a grace period later. */
		while (session_join(self->view.fd) == -ENOSPC)
			usleep(5000);
		for (i = 0; i < 2; i++) {
			child = fork();
			if (!child)
				_exit(read(to[0], &c, 1) != 1);
		}
		while (wait(NULL) >= 0)
			;
		for (;;) {
			child = fork();
			if (!child)
				_exit(0);
			waitpid(child, NULL, 0);
			usleep(5000);
		}
	}
	while (!self->view.page->forks_missed)
		usleep(5000);
	EXPECT_EQ(2, self->view.page->members);
	EXPECT_EQ(1, self->view.page->forks_missed);
	EXPECT_EQ(2, write(to[1], "yy", 2));
	/* There is room again. */
	while (self->view.page->processes_used < 4)
		usleep(5000);
	EXPECT_EQ(0, kill(pid, SIGKILL));
	EXPECT_EQ(-SIGKILL, wait_for(pid));
	close(to[0]);
	close(to[1]);
	view_close(&self->view);
}

TEST_F(quota, none_turns_sessions_off)
{
	struct profil_ioc_query query;
	int fd = profil_open();

	ASSERT_EQ(0, set_knob(0, "0"));
	EXPECT_EQ(-ENOSPC, view_open(&self->view, &self->args));
	ASSERT_EQ(0, profil_query(fd, &query));
	EXPECT_EQ(0, query.out_session_flags);
	EXPECT_EQ(0, query.out_session_sources);
	close(fd);
}

/* ---- this program, as a target */

static int image(const char *what, const char *arg)
{
	char left[16];
	int fd;

	if (!strcmp(what, "--burn")) {
		burn_ms(atoi(arg));
	} else if (!strcmp(what, "--spin")) {
		burn_for_ever();
	} else if (!strcmp(what, "--nothing")) {
		/* No descriptor came along, but those that the test had. */
		for (fd = 3; fd < 64; fd++)
			if (fcntl(fd, F_GETFD) != -1 && fcntl(fd, F_GETFL) == O_RDONLY)
				return 1;
	} else if (!strcmp(what, "--chain")) {
		burn_ms(40);
		snprintf(left, sizeof(left), "%d", atoi(arg) - 1);
		if (atoi(arg))
			exec_image(self_exe, what, left);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc >= 2 && !strncmp(argv[1], "--", 2) && !strcmp(argv[0], "session_test"))
		return image(argv[1], argc > 2 ? argv[2] : "0");
	return test_harness_run(argc, argv);
}
