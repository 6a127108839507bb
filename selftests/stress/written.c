// SPDX-License-Identifier: GPL-2.0-only
/*
 * Beside soak.c: a program of gcc -pg runs again and again, with children, and as a member of a
 * session now and then; its files hold each sample that the kernel has put into its histograms,
 * and each call.
 */
#include "beside.h"

#define HELPER		"/tests/gmon_helper"
#define TICKS_EACH	"12"	/* of CPU time, of each process */
#define CHILDREN	2

enum sum { SUM_RUNS, SUM_FILES, SUM_SAMPLES, SUM_CALLS, SUM_MEMBERS, SUMS };

static const char *const sum_names[] = {
	"written_runs", "written_files", "written_samples", "written_calls", "written_members",
};

enum check { CHECK_SAMPLES, CHECK_CLASSES, CHECK_CALLS, CHECKS };

static const char *const check_names[] = {
	"a gmon.out holds the samples of its process, and each call",
	"every tick of programs of gcc -pg is in one class of their session",
	"programs of gcc -pg run and write their files",
};

/* What a process said of itself, and what its file holds. */
struct told {
	int pid;
	unsigned long long samples;
	unsigned long calls;
	long leaf;
};

struct found {
	__u64 samples, calls;
};

struct __attribute__((packed)) histogram {
	__u64 low, high;
	__u32 bins, rate;
	char dimension[16];
};

struct __attribute__((packed)) arc {
	__u64 from, self;
	__u32 count;
};

static bool read_histogram(FILE *in, struct found *found)
{
	struct histogram histogram;
	__u16 bin;

	if (fread(&histogram, sizeof(histogram), 1, in) != 1)
		return false;
	for (; histogram.bins; histogram.bins--) {
		if (fread(&bin, sizeof(bin), 1, in) != 1)
			return false;
		found->samples += bin;
	}
	return true;
}

/* Only arcs to leaf() are as many as it says. */
static bool read_arc(FILE *in, const struct told *told, struct found *found)
{
	struct arc arc;

	if (fread(&arc, sizeof(arc), 1, in) != 1)
		return false;
	if (arc.self > (__u64)told->leaf && arc.self < (__u64)told->leaf + 24)
		found->calls += arc.count;
	return true;
}

static bool read_records(FILE *in, const struct told *told, struct found *found)
{
	char header[20];
	int kind;

	if (fread(header, sizeof(header), 1, in) != 1 || memcmp(header, "gmon\1\0\0\0", 8))
		return false;
	while ((kind = getc(in)) != EOF)
		if (kind ? kind != 1 || !read_arc(in, told, found) : !read_histogram(in, found))
			return false;
	return true;
}

static void check_file(const struct told *told, bool child)
{
	struct found found = { 0, 0 };
	char path[32] = "gmon.out";
	bool whole;
	FILE *in;

	if (child)
		snprintf(path, sizeof(path), "gmon.out.%d", told->pid);
	in = fopen(path, "re");
	whole = in && read_records(in, told, &found);
	if (in)
		fclose(in);
	unlink(path);
	if (!whole)
		fail(CHECK_CALLS, "%s is not there, or no whole file", path);
	else if (found.samples != told->samples || found.calls != told->calls)
		fail(CHECK_SAMPLES, "%s has %llu samples and %llu calls, of %llu and %lu", path,
		     found.samples, found.calls, told->samples, told->calls);
	add(SUM_FILES, 1);
	add(SUM_SAMPLES, found.samples);
	add(SUM_CALLS, found.calls);
}

__attribute__((noreturn))
static void run(const struct view *view, int out, unsigned int children)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", children);
	if ((view && session_join(view->fd)) || dup2(out, STDOUT_FILENO) < 0)
		_exit(100);
	execl(HELPER, "gmon_helper", TICKS_EACH, number, NULL);
	_exit(101);
}

static void lap(const struct view *view)
{
	unsigned int i, children = choose(CHILDREN + 1);
	struct told told;
	int out[2], status;
	pid_t pid;
	FILE *in;

	if (pipe2(out, O_CLOEXEC))
		return;
	pid = fork();
	if (!pid)
		run(view, out[1], children);
	close(out[1]);
	in = fdopen(out[0], "r");
	for (i = 0; in && fscanf(in, "%d %llu %lu %li", &told.pid, &told.samples, &told.calls,
				 &told.leaf) == 4; i++) {
		/* Its file comes after what it says; the first one's is of the last line. */
		if (i == children)
			break;
		while (!kill(told.pid, 0))
			usleep(1000);
		check_file(&told, true);
	}
	status = wait_for(pid);
	if (status || i != children)
		fail(CHECK_CALLS, "gmon_helper ended with status %d after %u of %u children",
		     status, i, children);
	else
		check_file(&told, false);
	if (in)
		fclose(in);
	add(SUM_RUNS, 1);
}

static void lap_in_session(void)
{
	struct profil_ioc_session args = session_args();
	struct view view;
	struct rows rows;
	int err;

	args.flags = choose(2) ? PROFIL_SESSION_F_PER_PROCESS : 0;
	err = view_open(&view, &args);
	if (err) {
		fail(CHECK_CALLS, "no session: %s", strerror(-err));
		return;
	}
	lap(&view);
	rows = view_last(&view, CHECK_CLASSES);
	add(SUM_MEMBERS, view.page->processes_used - 1);
	if (!rows.user || view.page->execs_denied)
		fail(CHECK_CLASSES, "a member of gcc -pg has %llu ticks in user mode", rows.user);
	view_close(&view);
}

int main(int argc, char **argv)
{
	char dir[] = "/tmp/written.XXXXXX";

	if (!beside_begin(argc, argv) || beside_enter() || !mkdtemp(dir) || chdir(dir))
		return 2;
	do {
		if (choose(2))
			lap_in_session();
		else
			lap(NULL);
	} while (!beside_over());
	if (chdir("/") || rmdir(dir))
		fail(CHECK_CALLS, "a file is left over in %s", dir);
	if (!beside->sums[SUM_SAMPLES])
		fail(CHECK_CALLS, "nothing was counted");
	return beside_report(sum_names, SUMS, check_names, CHECKS);
}
