// SPDX-License-Identifier: GPL-2.0-only
/*
 * What somebody without rights may try with sessions, and does not get.  The table of
 * threats in Documentation/security.rst names each of these, and those of other programs.
 *
 * The harness' own process is root: it prepares what an enemy finds.
 */
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/xattr.h>
#include <linux/sched.h>

#include "session.h"

#define USER	1000
#define OTHER	1001
#define LIMIT	"/sys/module/profil/parameters/max_sessions_user"

/* What the kernel keeps of a file's capabilities: <linux/capability.h>, VFS_CAP_REVISION_2 */
struct file_caps {
	__u32 revision_and_effective;
	struct {
		__u32 permitted, inheritable;
	} data[2];
};

FIXTURE(threat) {
	struct view view;
	struct sums sums;
	char folder[32];
	char program[64];
};

FIXTURE_SETUP(threat)
{
	if (geteuid())
		SKIP(return, "only root can become others");
	strcpy(self->folder, "/tmp/profil_threat_XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->folder));
	/* Where files may have capabilities, and programs gain by them. */
	ASSERT_EQ(0, mount("none", self->folder, "tmpfs", 0, "mode=755"));
	snprintf(self->program, sizeof(self->program), "%s/program_XXXXXX", self->folder);
	ASSERT_EQ(0, make_setuid(self->program));
	ASSERT_EQ(0, chmod(self->program, 0755));
}

FIXTURE_TEARDOWN(threat)
{
	umount2(self->folder, MNT_DETACH);
	rmdir(self->folder);
}

/* What @fn does as @uid, with a session of its own, is its exit status. */
static int as_user(uid_t uid, int (*fn)(FIXTURE_DATA(threat) *self), FIXTURE_DATA(threat) *self)
{
	struct profil_ioc_session args = session_args();
	pid_t pid = fork();
	int ret;

	if (pid)
		return wait_for(pid);
	if (become(uid))
		_exit(101);
	if (view_open(&self->view, &args))
		_exit(102);
	ret = fn(self);
	fflush(stdout);
	_exit(ret);
}

static int flags_are_denied(__u32 flags)
{
	struct profil_ioc_session args = session_args();
	struct view view;

	args.flags = flags;
	return view_open(&view, &args) == -EPERM;
}

/* Its parent is root's, and none that it could trace. */
static int ask_as_root_of_a_namespace(FIXTURE_DATA(threat) *self)
{
	struct profil_ioc_session args = session_args();
	pid_t victim = getppid();

	(void)self;
	if (enter_namespace())
		return 1;
	if (!flags_are_denied(PROFIL_SESSION_F_SYSTEM))
		return 2;
	if (!flags_are_denied(PROFIL_SESSION_F_KERNEL))
		return 3;
	if (view_open(&self->view, &args))
		return 4;
	return session_attach(self->view.fd, victim) == -EPERM ? 0 : 5;
}

TEST_F(threat, root_of_a_namespace_has_no_rights_over_the_machine)
{
	EXPECT_EQ(0, as_user(USER, ask_as_root_of_a_namespace, self));
}

/* Whether what a member executes is left out, and leaves nothing in the tables. */
static int program_is_left_out(FIXTURE_DATA(threat) *self)
{
	pid_t pid = fork();

	if (!pid) {
		if (session_join(self->view.fd))
			_exit(100);
		execl(self->program, "threat_test", "--burn", NULL);
		_exit(127);
	}
	wait_none(&self->view);
	if (wait_for(pid) || !view_finish(&self->view, &self->sums))
		return 1;
	if (self->view.page->execs_denied != 1 ||
	    view_row(&self->view, 1)->state != PROFIL_PROCESS_DENIED)
		return 2;
	return self->sums.hot ? 3 : 0;
}

/* Else the tests below would be of a program that is never counted. */
static int program_is_counted(FIXTURE_DATA(threat) *self)
{
	int ret = program_is_left_out(self);

	return ret == 2 && self->sums.hot && !self->view.page->execs_denied ? 0 : 1;
}

TEST_F(threat, set_group_id_program_is_left_out)
{
	ASSERT_EQ(0, as_user(USER, program_is_counted, self));
	ASSERT_EQ(0, chmod(self->program, 02755));
	EXPECT_EQ(0, as_user(USER, program_is_left_out, self));
}

TEST_F(threat, program_with_capabilities_of_its_file_is_left_out)
{
	struct file_caps caps = {
		.revision_and_effective = 0x02000000 | 1,
		.data[0].permitted = 1 << 10,	/* CAP_NET_BIND_SERVICE */
	};

	ASSERT_EQ(0, as_user(USER, program_is_counted, self));
	ASSERT_EQ(0, setxattr(self->program, "security.capability", &caps, sizeof(caps), 0));
	EXPECT_EQ(0, as_user(USER, program_is_left_out, self));
}

/*
 * Who traced a process, and is somebody else since then, still traces it.  It has no fewer
 * capabilities.
 */
TEST_F(threat, tracer_that_gave_up_its_rights_attaches_nobody)
{
	struct profil_ioc_session args = session_args();
	pid_t pid = fork(), victim;

	if (!pid) {
		if (keep_capabilities(LOW_SETUID, 0))
			_exit(100);
		victim = fork();
		if (!victim)
			burn_for_ever();
		if (ptrace(PTRACE_SEIZE, victim, NULL, PTRACE_O_EXITKILL))
			_exit(101);
		if (prctl(PR_SET_KEEPCAPS, 1) || setresuid(USER, USER, USER) ||
		    view_open(&self->view, &args))
			_exit(102);
		_exit(-session_attach(self->view.fd, victim));
	}
	EXPECT_EQ(EPERM, wait_for(pid));
}

/* The same user, with none of the capabilities by which it may have come to trace. */
TEST_F(threat, tracer_that_gave_up_its_capabilities_attaches_nobody)
{
	struct profil_ioc_session args = session_args();
	pid_t victim = fork(), pid;

	if (!victim)
		burn_for_ever();
	pid = fork();
	if (!pid) {
		if (ptrace(PTRACE_SEIZE, victim, NULL, NULL))
			_exit(100);
		if (keep_capabilities(0, 0) || view_open(&self->view, &args))
			_exit(101);
		_exit(-session_attach(self->view.fd, victim));
	}
	EXPECT_EQ(EPERM, wait_for(pid));
	EXPECT_EQ(0, kill(victim, SIGKILL));
	EXPECT_EQ(-SIGKILL, wait_for(victim));
}

static int open_by_name(FIXTURE_DATA(threat) *self)
{
	char name[64];

	snprintf(name, sizeof(name), "/proc/%d/fd/%d", getpid(), self->view.fd);
	if (open(name, O_RDONLY) >= 0 || errno != (getuid() ? EACCES : ENXIO))
		return 1;
	/* Nor is the mapping, which nobody may copy from outside but who may trace. */
	return mremap((void *)self->view.page, 0, PAGE, MREMAP_MAYMOVE) == MAP_FAILED ? 0 : 2;
}

TEST_F(threat, session_cannot_be_opened_by_its_name)
{
	EXPECT_EQ(0, as_user(USER, open_by_name, self));
	EXPECT_EQ(0, as_user(0, open_by_name, self));
}

/* The pid of a process that has ended is given to the next one. */
static pid_t fork_as(pid_t pid)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = UPTR(&pid),
		.set_tid_size = 1,
	};
	pid_t child;

	/* Until the kernel has let go of who had it. */
	do
		child = syscall(SYS_clone3, &args, sizeof(args));
	while (child < 0 && errno == EEXIST);
	if (!child) {
		burn_ms(1000);
		_exit(0);
	}
	return child;
}

static int use_a_pid_again(FIXTURE_DATA(threat) *self)
{
	pid_t pid = fork();

	if (!pid)
		_exit(session_join(self->view.fd) ? 1 : 0);
	if (wait_for(pid) || fork_as(pid) != pid || wait_for(pid))
		return 1;
	if (!view_finish(&self->view, &self->sums) || self->view.page->processes_used != 2)
		return 2;
	/* The first one hardly ran, the second one for some 250 ticks. */
	return self->sums.ticks > 3 * TICKS ? 3 : 0;
}

TEST_F(threat, pid_that_is_used_again_is_another_process)
{
	EXPECT_EQ(0, as_user(0, use_a_pid_again, self));
}

/* The one session that he may have is open. */
static int ask_for_one_more(FIXTURE_DATA(threat) *self)
{
	struct profil_ioc_session args = session_args();
	struct view view;

	(void)self;
	if (view_open(&view, &args) != -ENOSPC)
		return 1;
	return enter_namespace() || view_open(&view, &args) != -ENOSPC ? 2 : 0;
}

TEST_F(threat, sessions_are_those_of_the_user_in_any_namespace)
{
	char was[16];

	ASSERT_EQ(0, read_file(LIMIT, was, sizeof(was)));
	ASSERT_EQ(0, write_file(LIMIT, 0, "1"));
	EXPECT_EQ(0, as_user(OTHER, ask_for_one_more, self));
	EXPECT_EQ(0, write_file(LIMIT, 0, was));
}

/* Neither device nor process is in use: the session alone holds the module. */
TEST_F(threat, module_stays_while_a_user_has_a_session)
{
	struct profil_ioc_session args = session_args();
	int go[2];
	pid_t pid;
	char c;

	ASSERT_EQ(0, pipe(go));
	pid = fork();
	if (!pid) {
		if (become(USER) || view_open(&self->view, &args) || write(go[1], "y", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	ASSERT_EQ(1, read(go[0], &c, 1));
	EXPECT_EQ(-1, syscall(SYS_delete_module, "profil", O_NONBLOCK));
	EXPECT_EQ(EWOULDBLOCK, errno);
	EXPECT_EQ(0, kill(pid, SIGKILL));
	EXPECT_EQ(-SIGKILL, wait_for(pid));
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--burn")) {
		burn_ms(200);
		return 0;
	}
	return test_harness_run(argc, argv);
}
