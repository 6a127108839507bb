// SPDX-License-Identifier: GPL-2.0-only
/*
 * Beside soak.c: sessions of trees of processes, which fork, execute, exit and are killed.
 *
 * Their first process joins, or is attached by its tracer, who has no rights but those of a
 * user, while it sleeps or while it runs.  At every look each tick is in one class; in the end
 * those in user mode are the kernel's own count of all that descend from that process.
 */
#include <sys/ptrace.h>

#include "beside.h"
#include "tree.h"
#include "../kernel/ticks.h"

#define LAPS		4	/* sessions at a time */
#define USER		1000
#define OUR_EVENT	"profil_sessions"	/* soak.c has another */

enum sum {
	SUM_SESSIONS, SUM_ATTACHED, SUM_LATE, SUM_TIMERS, SUM_LOOKS, SUM_TICKS, SUM_USER,
	SUM_COMPARED, SUM_NOT_DUE, SUM_EXEC, SUM_FULL, SUM_MEMBERS, SUM_IMAGES, SUMS,
};

static const char *const sum_names[] = {
	"sessions", "sessions_attached", "sessions_attached_late", "sessions_timers",
	"sessions_looks", "sessions_ticks", "sessions_user_ticks", "sessions_compared",
	"sessions_not_due", "sessions_exec", "sessions_full", "sessions_members",
	"sessions_images",
};

enum check { CHECK_CLASSES, CHECK_USER, CHECK_MISSED, CHECK_CALLS, CHECKS };

static const char *const check_names[] = {
	"every tick of a session is in one class, at every look and in the end",
	"ticks of a session in user mode are the kernel's, of a whole tree",
	"no child and no image of a member is missed",
	"what sessions and their processes call succeeds",
};

static int event;		/* the number that perf knows it by */

/* Of a process and all that descend from it. */
static int counter_open(pid_t pid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = event,
		.inherit = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd >= 0 && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, "user == 1") ? -1 : fd;
}

/* The first of a tree: member or not, it waits to be told. */
__attribute__((noreturn))
static void first(const struct view *view, uid_t uid, int said, int go)
{
	char c = 0;

	if (uid && (setgid(uid) || setuid(uid) || prctl(PR_SET_DUMPABLE, 1)))
		_exit(1);
	if (view && session_join(view->fd))
		_exit(1);
	if (write(said, &c, 1) != 1 || read(go, &c, 1) != 1)
		_exit(1);
	life(0, IMAGES);
}

struct tree {
	pid_t pid;
	int go;
	int counter;
};

/* A tree whose first process sleeps, and a count of it. */
static bool tree_plant(struct tree *tree, const struct view *view, uid_t uid)
{
	int said[2], go[2];
	char c;

	tree->pid = pipe2(said, O_CLOEXEC) || pipe2(go, O_CLOEXEC) ? -1 : fork();
	if (tree->pid < 0)
		return false;
	if (!tree->pid) {
		close(said[0]);
		close(go[1]);
		first(view, uid, said[1], go[0]);
	}
	close(said[1]);
	close(go[0]);
	tree->go = go[1];
	if (read(said[0], &c, 1) != 1)
		return false;
	wait_asleep(tree->pid, tree->pid);
	tree->counter = counter_open(tree->pid);
	return tree->counter >= 0;
}

static bool tree_go(const struct tree *tree)
{
	char c = 0;

	return write(tree->go, &c, 1) == 1;
}

/* Until there is no member any more; then all that is left of the tree ends, too. */
static void tree_watch(const struct view *view, bool timer)
{
	struct pollfd over = { .fd = view->fd };

	do {
		/* Of a timer, a CPU may be in many samples at once. */
		if (timer)
			continue;
		view_look(view, CHECK_CLASSES);
		add(SUM_LOOKS, 1);
	} while (!poll(&over, 1, 20 + choose(50)));
	while (waitpid(-1, NULL, 0) > 0)
		;
}

static void tree_sum(const struct view *view, const struct tree *tree, bool whole)
{
	const struct profil_session_page *page = view->page;
	struct rows rows = view_last(view, CHECK_CLASSES);
	__u64 events;
	__u32 i;

	if (page->forks_missed || page->execs_denied)
		fail(CHECK_MISSED, "%llu forks missed, %llu execs denied", page->forks_missed,
		     page->execs_denied);
	for (i = 1; i < page->processes_used; i++)
		add(SUM_IMAGES, view_row(view, i)->images);
	add(SUM_SESSIONS, 1);
	add(SUM_TICKS, rows.all);
	add(SUM_USER, rows.user);
	add(SUM_NOT_DUE, page->not_due);
	add(SUM_EXEC, page->exec);
	add(SUM_FULL, page->full);
	add(SUM_MEMBERS, page->processes_used - 1);
	if (!whole || beside_own_timers)
		return;
	if (read(tree->counter, &events, sizeof(events)) != sizeof(events))
		fail(CHECK_CALLS, "no count of the kernel's");
	else if (events != rows.user)
		fail(CHECK_USER, "%llu ticks in user mode, the kernel's %llu", rows.user, events);
	add(SUM_COMPARED, rows.user);
}

static void lap_join(void)
{
	struct profil_ioc_session args = tree_args();
	struct tree tree;
	struct view view;

	if (view_open(&view, &args) || !tree_plant(&tree, &view, 0) || !tree_go(&tree)) {
		fail(CHECK_CALLS, "no session that is joined: %s", strerror(errno));
		return;
	}
	tree_watch(&view, args.source);
	tree_sum(&view, &tree, !args.source);
	add(SUM_TIMERS, args.source);
}

struct tracer {
	int session;
	pid_t pid;
	int err;
};

/* Ends at once, and traces no longer. */
static void *tracer_fn(void *arg)
{
	struct tracer *tracer = arg;

	tracer->err = ptrace(PTRACE_SEIZE, tracer->pid, 0, 0) ? -errno :
		      session_attach(tracer->session, tracer->pid);
	return NULL;
}

static int attach_as_tracer(const struct view *view, pid_t pid)
{
	struct tracer tracer = { .session = view->fd, .pid = pid };
	pthread_t thread;

	if (pthread_create(&thread, NULL, tracer_fn, &tracer))
		return -EAGAIN;
	pthread_join(thread, NULL);
	return tracer.err;
}

static void lap_attach(void)
{
	/* The first one is not. */
	bool late = beside->sums[SUM_ATTACHED] && choose(2);
	struct profil_ioc_session args;
	struct tree tree;
	struct view view;
	int err;

	if (!tree_plant(&tree, NULL, USER) || setgid(USER) || setuid(USER)) {
		fail(CHECK_CALLS, "no tree to attach: %s", strerror(errno));
		return;
	}
	args = tree_args();
	err = view_open(&view, &args);
	if (!err && late)
		tree_go(&tree);
	err = err ?: attach_as_tracer(&view, tree.pid);
	/* Who runs may have ended, or execute another program just then. */
	if (err && !(late && (err == -ESRCH || err == -EPERM || err == -EAGAIN))) {
		fail(CHECK_CALLS, "no session that attaches: %s", strerror(-err));
		return;
	}
	if (!late)
		tree_go(&tree);
	if (!err)
		tree_watch(&view, args.source);
	add(late ? SUM_LATE : SUM_ATTACHED, !err);
	tree_sum(&view, &tree, !late && !args.source);
	add(SUM_TIMERS, args.source);
}

__attribute__((noreturn))
static void laps(unsigned int nr)
{
	pid_t pid;
	int status;

	beside_seed += nr * 2;
	do {
		draw();
		pid = fork();
		if (!pid) {
			prctl(PR_SET_CHILD_SUBREAPER, 1);
			if (nr % 2)
				lap_attach();
			else
				lap_join();
			exit(0);
		}
		status = wait_for(pid);
		if (status)
			fail(CHECK_CALLS, "a lap ended with status %d", status);
	} while (!beside_over());
	exit(0);
}

static int event_begin(void)
{
	FILE *file;
	int id = -1;

	write_file(TRACING "/kprobe_events", O_APPEND, "-:" OUR_EVENT "\n");
	if (write_file(TRACING "/kprobe_events", O_APPEND,
		       "p:" OUR_EVENT " update_process_times user=$arg1:s32\n"))
		return -1;
	file = fopen(TRACING "/events/kprobes/" OUR_EVENT "/id", "re");
	if (file && fscanf(file, "%d", &id) != 1)
		id = -1;
	if (file)
		fclose(file);
	return id;
}

int main(int argc, char **argv)
{
	unsigned int i;

	life_again(argc, argv);
	if (!beside_begin(argc, argv))
		return 2;
	event = event_begin();
	if (event < 0 || beside_enter()) {
		fprintf(stderr, "sessions: no event, or no control group: be root\n");
		return 2;
	}
	for (i = 0; i < LAPS; i++)
		if (!fork())
			laps(i);
	while (wait(NULL) > 0)
		;
	write_file(TRACING "/kprobe_events", O_APPEND, "-:" OUR_EVENT "\n");
	if (!beside->sums[SUM_TICKS] || !beside->sums[SUM_ATTACHED])
		fail(CHECK_CALLS, "nothing was counted, or nobody attached");
	if (!beside_own_timers && !beside->sums[SUM_COMPARED])
		fail(CHECK_CALLS, "nothing was compared");
	return beside_report(sum_names, SUMS, check_names, CHECKS);
}
