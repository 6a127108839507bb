// SPDX-License-Identifier: GPL-2.0-only
/*
 * Beside soak.c: sessions of the whole machine, each of which follows the one before.
 *
 * At every look each tick is in one class.  What a row of sessions counted in user mode is
 * what the kernel charged meanwhile, whatever CPUs and processes came and went.
 */
#include "beside.h"

#define LINKS		6	/* sessions that follow each other, at most */
#define LOOKS		4	/* at each of them, at most */

enum sum { SUM_SESSIONS, SUM_LOOKS, SUM_TICKS, SUM_USER, SUM_CHARGED, SUM_IDLE, SUMS };

static const char *const sum_names[] = {
	"machine_sessions", "machine_looks", "machine_ticks", "machine_user_ticks",
	"machine_user_charged", "machine_idle",
};

enum check { CHECK_CLASSES, CHECK_CHARGED, CHECK_CHAIN, CHECK_CALLS, CHECKS };

static const char *const check_names[] = {
	"every tick of the machine is in one class, at every look and in the end",
	"ticks of the machine in user mode are what the kernel charged",
	"a session of the machine begins when the one before ends",
	"what sessions of the machine call succeeds",
};

static struct profil_ioc_query query;

/* What the kernel charged to all CPUs, those that are off included, in ticks. */
static double user_charged(void)
{
	unsigned long long user = 0, nice = 0;
	FILE *file = fopen("/proc/stat", "re");

	if (!file || fscanf(file, "cpu %llu %llu", &user, &nice) != 2)
		fail(CHECK_CALLS, "/proc/stat cannot be read");
	if (file)
		fclose(file);
	return (double)(user + nice) * query.out_tick_hz / sysconf(_SC_CLK_TCK);
}

static int link_open(const struct view *former, struct view *view)
{
	struct profil_ioc_session args = session_args();

	args.slots = 4096;
	args.flags = PROFIL_SESSION_F_SYSTEM | (choose(2) ? PROFIL_SESSION_F_KERNEL : 0);
	return former ? view_open_by(former->fd, view, &args) : view_open(view, &args);
}

static void link_look(const struct view *view)
{
	unsigned int i;

	for (i = 1 + choose(LOOKS); i; i--) {
		usleep(1000 * (20 + choose(200)));
		view_look(view, CHECK_CLASSES);
		add(SUM_LOOKS, 1);
	}
}

/* What it counted in user mode; nobody has it any more. */
static __u64 link_last(struct view *view)
{
	struct rows rows = view_last(view, CHECK_CLASSES);

	add(SUM_SESSIONS, 1);
	add(SUM_TICKS, rows.all);
	add(SUM_USER, rows.user);
	add(SUM_IDLE, view->page->idle);
	view_close(view);
	return rows.user;
}

static __u64 link_follow(struct view *view)
{
	struct view former = *view;
	int err = link_open(&former, view);

	if (err) {
		fail(CHECK_CALLS, "SESSION of a session: %s", strerror(-err));
		return 0;
	}
	if (former.page->state != PROFIL_SESSION_STOPPED ||
	    former.page->ended_ns != view->page->began_ns)
		fail(CHECK_CHAIN, "state %u, ended at %llu; the next began at %llu",
		     former.page->state, former.page->ended_ns, view->page->began_ns);
	return link_last(&former);
}

/* The kernel's are cut to hundredths of a second, twice each time; and a CPU may be in a tick. */
static void compare(__u64 ours, double least, double most)
{
	double cut = 4.0 * query.out_tick_hz / sysconf(_SC_CLK_TCK) +
		     sysconf(_SC_NPROCESSORS_CONF);

	if (beside_own_timers)
		return;
	add(SUM_CHARGED, (__u64)least);
	if (ours + cut < least || ours > most + cut)
		fail(CHECK_CHARGED, "%llu, and the kernel charged %.0f to %.0f", ours, least, most);
}

static void lap(void)
{
	double a, b, c, d;
	struct view view;
	__u64 ours = 0;
	unsigned int i;
	int err;

	a = user_charged();
	err = link_open(NULL, &view);
	b = user_charged();
	if (err) {
		fail(CHECK_CALLS, "no session of the machine: %s", strerror(-err));
		return;
	}
	for (i = 1 + choose(LINKS); i; i--) {
		link_look(&view);
		if (i > 1)
			ours += link_follow(&view);
	}
	c = user_charged();
	ours += link_last(&view);
	d = user_charged();
	compare(ours, c - b, d - a);
}

int main(int argc, char **argv)
{
	int device = profil_open();

	if (!beside_begin(argc, argv) || device < 0 || profil_query(device, &query))
		return 2;
	close(device);
	do
		lap();
	while (!beside_over());
	if (!beside->sums[SUM_USER])
		fail(CHECK_CALLS, "nothing was counted");
	if (!beside_own_timers && !beside->sums[SUM_CHARGED])
		fail(CHECK_CALLS, "nothing was compared");
	return beside_report(sum_names, SUMS, check_names, CHECKS);
}
