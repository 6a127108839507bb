// SPDX-License-Identifier: GPL-2.0-only
/* Starts processes, and looks after them and the log of the kernel. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <linux/kcov.h>

#include "fuzz.h"

#define DEEDS_CALLS	10000	/* of so many, some do each deed */

struct shared *shared;
struct name *listed;
unsigned int nr_listed;
int kmsg, image;
static unsigned int processes, killed, died;

static void fail(const char *what)
{
	printf("fuzz: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void set(const char *path, const char *value)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);

	if (file < 0 || write(file, value, strlen(value)) < 0)
		fail(path);
	close(file);
}

static void prepare_slot(struct slot *one)
{
	int i, ends[2];

	for (i = 0; i <= THREADS; i++) {
		one->kcov[i] = open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);
		if (one->kcov[i] < 0 || ioctl(one->kcov[i], KCOV_INIT_TRACE, COVER_WORDS))
			fail("/sys/kernel/debug/kcov");
		one->cover[i] = mmap(NULL, COVER_WORDS * sizeof(long), PROT_READ | PROT_WRITE,
				     MAP_SHARED, one->kcov[i], 0);
		if (one->cover[i] == MAP_FAILED)
			fail("mmap of KCOV");
	}
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends))
		fail("socketpair");
	one->server = ends[0];
	if (!fork())
		serve(ends[1]);
	/* Stays open: see first_descriptor. */
}

static void copy_self(int to)
{
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	ssize_t len;

	while ((len = sendfile(to, from, NULL, 1 << 20)) > 0)
		;
	if (len)
		fail("a copy of what is executed");
	close(from);
}

static int nameless_image(void)
{
	int written = memfd_create("image", MFD_CLOEXEC), file;
	char path[32];

	copy_self(written);
	/* What may be written is not executed. */
	sprintf(path, "/proc/self/fd/%d", written);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		fail(path);
	close(written);
	return file;
}

static void prepare_image(const char *path, mode_t mode)
{
	int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);

	copy_self(file);
	if (fchmod(file, mode))
		fail(path);
	close(file);
}

static void prepare(void)
{
	int i;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		fail("mmap");
	/* What fails by our will is no news, and what is news must not scroll by. */
	set("/sys/kernel/debug/failslab/verbose", "0");
	set("/sys/kernel/debug/failslab/ignore-gfp-wait", "N");
	set("/sys/kernel/debug/fail_page_alloc/verbose", "0");
	set("/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait", "N");
	set("/sys/kernel/debug/fail_page_alloc/ignore-gfp-highmem", "N");
	set("/sys/kernel/debug/fail_page_alloc/min-order", "0");
	set("/sys/kernel/debug/fail_usercopy/verbose", "0");
	set("/sys/kernel/debug/fail_futex/verbose", "0");
	set("/proc/sys/kernel/panic_on_warn", "1");
	/* A panic prints what was logged before, with the names of the programs. */
	set("/proc/sys/kernel/panic_print", "32");
	set("/proc/sys/kernel/printk_devkmsg", "on\n");
	kmsg = open("/dev/kmsg", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (kmsg < 0 || lseek(kmsg, 0, SEEK_END) < 0)
		fail("/dev/kmsg");
	image = nameless_image();
	prepare_image(IMAGE_HIDDEN, 0711);
	prepare_image(IMAGE_SETUID, 04755);
	for (i = 0; i < SLOTS; i++)
		prepare_slot(&shared->slot[i]);
}

static void report(const char *how)
{
	printf("fuzz: %lu calls%s, %u programs (%u of them kept) ", shared->calls, how,
	       shared->programs, shared->in_corpus);
	printf("in %u processes (%u killed, %u died), ", processes, killed, died);
	printf("%lu calls with a fault, %u threads blind, %lu places reached\n",
	       shared->faults, shared->blind, shared->pcs);
	fflush(stdout);
}

static void read_list(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text;

	if (!file)
		fail(path);
	while (fscanf(file, "%ms", &text) == 1) {
		listed = realloc(listed, (nr_listed + 1) * sizeof(*listed));
		if (!listed || !parse_name(&listed[nr_listed++], text))
			fail("a program is numbers with dots between them");
		free(text);
	}
	fclose(file);
}

static void print_running(void)
{
	char name[NAME_CHARS];
	int i, j;

	for (i = 0; i < SLOTS; i++) {
		if (!shared->slot[i].pid)
			continue;
		print_name(name, &shared->slot[i].name);
		printf("fuzz: running %s:", name);
		for (j = 0; j < THREADS; j++)
			if (shared->slot[i].last[j])
				printf(" %s;", shared->slot[i].last[j]);
		printf("\n");
	}
	report("");
}

/* What does not make the kernel panic, lockdep's findings above all. */
static void watch_log(void)
{
	/* with a trace: /proc/PID/mem was written to where userfaultfd has the memory */
	static const char told[] = "FAULT_FLAG_ALLOW_RETRY missing", trace[] = "Call Trace:";
	static bool traced;
	static const char *const bad[] = {
		"BUG:", "WARNING:", "INFO:", "KASAN", "UBSAN:", "ODEBUG:", trace,
		"corruption", "refcount_t:",
	};
	char record[8192];
	ssize_t len;
	size_t i;

	while ((len = read(kmsg, record, sizeof(record) - 1)) > 0 || errno == EPIPE) {
		if (len < 0)
			continue;
		record[len] = 0;
		traced |= !!strstr(record, told);
		if (traced && strstr(record, trace)) {
			traced = false;
			continue;
		}
		for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
			if (!strstr(record, bad[i]))
				continue;
			printf("fuzz: the kernel says: %s\n", strchr(record, ';') + 1);
			print_running();
			exit(1);
		}
	}
}

static void start_process(struct slot *one, u64 seed)
{
	pid_t pid;

	fflush(stdout);
	one->polls = 0;
	pid = fork();
	if (!pid) {
		slot = one;
		run_process(scatter(seed + processes));
	}
	if (pid < 0)
		return;
	/* Not set by the child as well: it shares the slot. */
	one->pid = pid;
	processes++;
}

static void end_of_process(struct slot *one, int status)
{
	kill(-one->pid, SIGKILL);
	one->pid = 0;
	if (WIFSIGNALED(status) ? WTERMSIG(status) != SIGKILL : WEXITSTATUS(status))
		died++;
}

static void poll_process(struct slot *one)
{
	int status;

	one->polls++;
	if (one->seen_started != one->started) {
		one->seen_started = one->started;
		one->polls = 0;
	}
	if (waitpid(one->pid, &status, WNOHANG) == one->pid) {
		end_of_process(one, status);
		return;
	}
	if (one->polls == POLLS_KILL) {
		kill(-one->pid, SIGKILL);
		kill(one->pid, SIGKILL);
		killed++;
	}
	if (one->polls == POLLS_STUCK) {
		printf("fuzz: a program cannot be killed\n");
		print_running();
		exit(1);
	}
}

int main(int argc, char **argv)
{
	unsigned int polls = 0;
	bool running = true;
	u64 seed;
	int i;

	/* As what a program executes: it is gone when the profile is, but a member. */
	if (argc == 2)
		op_burn(make_thread(1));
	if (argc < 3)
		return 0;
	prepare();
	shared->limit = strtoul(argv[1], NULL, 0);
	seed = scatter(strtoull(argv[2], NULL, 0));
	if (argc > 3)
		read_list(argv[3]);
	while (running) {
		/* All may have ended at once, long before. */
		running = !enough();
		for (i = 0; i < SLOTS; i++) {
			if (shared->slot[i].pid)
				poll_process(&shared->slot[i]);
			else if (!enough())
				start_process(&shared->slot[i], seed);
			running |= shared->slot[i].pid;
		}
		watch_log();
		if (++polls % POLLS_REPORT == 0)
			report(" so far");
		usleep(POLL_US);
	}
	report(" in the end");
	if (!report_deeds() && !listed && shared->limit >= DEEDS_CALLS) {
		printf("fuzz: something of what it is for never came about\n");
		return 1;
	}
	/* Of what is listed it is known what it does. */
	if (!listed && (!shared->faults || !shared->pcs || shared->blind > processes / 10)) {
		printf("fuzz: the kernel injects no faults, or does not say what it ran\n");
		return 1;
	}
	return 0;
}
