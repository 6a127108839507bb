// SPDX-License-Identifier: GPL-2.0-only
/*
 * How the price of a session grows.
 *
 *   scale alone WHO SLEEP	a tick of WHO on the last CPU, while the others have nothing to do
 *				and so many other members sleep
 *   scale busy WHO		what is between two functions of a tick, while all CPUs are busy
 *   scale steady WHO		locks that the module takes, and increments in the tables, of
 *				300 ticks at places that have slots
 *   scale new WHO		the same, where each is at a new place
 *   scale slots SLOTS		a table as it fills, by samples of the timer source
 *   scale programs ROWS NUM	so many programs, one after the other, of so many rows
 *   scale session SLOTS ROWS OBJECTS WHO	the memory of a session
 *   scale profile NUM		the memory of one of so many processes that profile themselves
 *   scale user SLOTS ROWS OBJECTS	the same of as many sessions as a user may have
 *
 * WHO is nobody; other: a session has no members; member, or timer: this process by a session, of
 * the timer source; machine: all, by a session.  Prints "NAME VALUE NUMBER": of so many cases.
 */
#include <sched.h>
#include <sys/wait.h>

#include "who.h"

#define TRACE		"/sys/kernel/tracing/"
#define GROUP		"/sys/fs/cgroup/scale/memory.stat"
#define TICKS		300
#define GAPS_MAX	8000
#define PIECE		1024	/* bytes: of code of burst() */
#define PIECES		16384
#define FEW		256	/* pieces more, of code of burst_few() */
#define SAMPLE		100000	/* instructions, of the timer source */
#define TRACED		100	/* programs, for all of which the tracer has room */

static uint64_t gaps[GAPS_MAX];
static unsigned char *code;

static void write_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		fail(path);
	close(fd);
}

static void print(const char *name, long value, unsigned long of)
{
	printf("%s %ld %lu\n", name, value, of);
	fflush(stdout);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("sched_setaffinity");
}

static int open_session(uint32_t slots, uint32_t rows, uint32_t objects, const char *who)
{
	struct profil_ioc_session args = {
		.size = sizeof(args),
		.flags = strcmp(who, "machine") ? 0 : PROFIL_SESSION_F_SYSTEM,
		.slots = slots,
		.processes = rows,
		.objects = objects,
	};

	if (!strcmp(who, "timer")) {
		args.source = PROFIL_SOURCE_TIMER;
		args.rate = 10000;
		args.jitter = 100;
	}
	if (ioctl(device(), PROFIL_IOC_SESSION, &args))
		return -1;
	session = mmap(NULL, args.out_bytes, PROT_READ, MAP_SHARED, args.out_fd, 0);
	if (session == MAP_FAILED)
		fail("mmap");
	return args.out_fd;
}

static void begin(const char *who, uint32_t slots)
{
	int fd;

	if (!strcmp(who, "nobody"))
		return;
	fd = open_session(slots, 4096, 4096, who);
	if (fd < 0)
		fail("SESSION");
	if (strcmp(who, "machine") && strcmp(who, "other"))
		join_session(fd);
}

/* Ticks or samples of the session, by its rows and its idle CPUs. */
static uint64_t ticks(void)
{
	const char *rows = (const char *)session + session->processes_offset;
	uint64_t sum = *(const volatile __u64 *)&session->idle;
	const volatile struct profil_process *row;
	uint32_t i;

	for (i = 0; i < session->processes_used; i++) {
		row = (const volatile void *)(rows + i * session->process_len);
		sum += row->user + row->system;
	}
	return sum;
}

/* All increments in the mapping: each is one of an atomic counter. */
static uint64_t increments(void)
{
	const volatile struct profil_slot *slot =
		(const volatile void *)((const char *)session + session->slots_offset);
	const volatile struct profil_session_page *page = session;
	uint64_t sum = ticks();
	uint32_t i;

	sum += page->not_due + page->exec + page->full + page->full_objects + page->hinted +
	       page->borrowed + page->full_kernel + page->kthreads + page->interrupts;
	for (i = 0; i < page->slots; i++)
		sum += slot[i].user + slot[i].system;
	return sum;
}

static uint32_t slots_used(void)
{
	const volatile struct profil_slot *slot =
		(const volatile void *)((const char *)session + session->slots_offset);
	uint32_t i, used = 0;

	for (i = 0; i < session->slots; i++)
		used += slot[i].object != PROFIL_OBJECT_FREE;
	return used;
}

/* Code of no file, as that of a compiler that runs with the program. */
static void make_code(void)
{
	long i;

	code = mmap(NULL, (PIECES + FEW) * PIECE, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		fail("mmap");
	for (i = 0; i < PIECES; i++)
		memcpy(code + i * PIECE, (const void *)burst, BURST);
	for (i = PIECES * PIECE; i < (PIECES + FEW) * PIECE; i += 16)
		memcpy(code + i, (const void *)burst_few, 16);
}

static unsigned long at;

/* Nearly each sample is at a new place. */
static void roam(void)
{
	((void (*)(void))(code + at++ % PIECES * PIECE))();
}

/* These places soon have their slots. */
static unsigned int group;

static void stay(void)
{
	((void (*)(void))(code + (PIECES + at++ % FEW) * PIECE + group * 16))();
}

static void spend(void (*work)(void), uint64_t length)
{
	uint64_t begin = instructions();
	int i;

	while (instructions() - begin < length)
		for (i = 0; i < 1000; i++)
			work();
}

/*
 * What is taken from @work, whose length is @base, at once.  Where other CPUs had their turn
 * meanwhile it is much longer, and left out.
 */
static unsigned int measure(void (*work)(void), uint64_t end, unsigned int most)
{
	uint64_t base = base_of(work), last, now, length;
	unsigned int num = 0;

	end += last = instructions();
	while (last < end && num < most) {
		work();
		now = instructions();
		length = now - last - base;
		last = now;
		if ((int64_t)length < 300 || (int64_t)length > 30000)
			continue;
		gaps[num++] = length;
		last = instructions();
	}
	qsort(gaps, num, sizeof(*gaps), compare);
	return num;
}

/* No more than 4096 are members of one session. */
static void tick_alone(const char *who, unsigned int sleepers)
{
	unsigned int i, num;

	for (i = 0; i < sleepers; i++) {
		if (i % 4000 == 0)
			joined = open_session(1024, 4001, 16, who);
		if (joined < 0)
			fail("SESSION");
		child(join);
	}
	begin(who, 65536);
	pin(sysconf(_SC_NPROCESSORS_ONLN) - 1);
	spend(burst_few, TICKS * tick_ns());
	num = measure(burst_few, TICKS * tick_ns(), GAPS_MAX);
	print("alone", num ? gaps[num / 4] : 0, num);
}

static void trace_begin(void)
{
	write_to(TRACE "current_tracer", "function");
	write_to(TRACE "trace", "\n");
	write_to(TRACE "tracing_on", "1");
}

static void trace_end(void)
{
	write_to(TRACE "tracing_on", "0");
}

/* So many locks the module has taken. */
static unsigned long trace_locks(void)
{
	unsigned long locks = 0;
	char line[256];
	FILE *file;

	file = fopen(TRACE "trace", "re");
	if (!file)
		fail("trace");
	while (fgets(line, sizeof(line), file))
		locks += !!strstr(line, "<-profil_");
	fclose(file);
	write_to(TRACE "current_tracer", "nop");
	return locks;
}

/*
 * From the entry of the function that is hooked to that of one that it calls, on all CPUs.  The
 * others have no turn there, but have in the rest of a tick.
 */
static uint64_t trace_between(const char *first, const char *then, unsigned int *num)
{
	static unsigned long begun[1024];
	char line[256], function[64];
	unsigned long now;
	unsigned int cpu;
	FILE *file = fopen(TRACE "trace", "re");

	for (*num = 0; file && *num < GAPS_MAX && fgets(line, sizeof(line), file);) {
		if (sscanf(line, "%*s [%u] %*s %lu: %63s", &cpu, &now, function) != 3)
			continue;
		if (!strcmp(function, first))
			begun[cpu] = now;
		else if (!strcmp(function, then) && begun[cpu])
			gaps[(*num)++] = now - begun[cpu];
	}
	return median(gaps, *num);
}

static void tick_busy(const char *who)
{
	int cpu, cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned int num;
	uint64_t taken;

	begin(who, 65536);
	for (cpu = 0; cpu < cpus - 1; cpu++) {
		if (fork())
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pin(cpu);
		spend(burst_few, ~0ULL);
	}
	pin(cpu);
	spend(burst_few, TICKS * tick_ns());
	trace_begin();
	spend(burst_few, TICKS / 3 * tick_ns());
	trace_end();
	taken = trace_between("update_process_times", "account_process_tick", &num);
	print("busy", taken, num);
}

/* Of a thousand ticks or samples, in so much time. */
static void traced(const char *suffix, void (*work)(void), uint64_t length)
{
	uint64_t sum = increments(), count = ticks();
	unsigned long locks;
	char name[32];

	trace_begin();
	spend(work, length);
	trace_end();
	count = ticks() - count;
	sum = increments() - sum;
	locks = trace_locks();
	snprintf(name, sizeof(name), "locks%s", suffix);
	print(name, 1000 * locks / count, count);
	snprintf(name, sizeof(name), "adds%s", suffix);
	print(name, 1000 * sum / count, count);
}

static void tick_locks(const char *who, bool new)
{
	make_code();
	begin(who, 65536);
	if (!new)
		spend(burst_few, 500 * tick_ns());
	traced("", new ? roam : burst_few, TICKS * tick_ns());
}

static uint64_t mean(unsigned int num)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = num / 20; i < num - num / 20; i++)
		sum += gaps[i];
	return sum / (num - num / 20 * 2);
}

static void fill(uint32_t slots)
{
	static const unsigned int percent[] = { 0, 25, 50, 75, 90 };
	uint64_t full, count;
	char name[32];
	unsigned int num;

	make_code();
	begin("timer", slots);
	for (group = 0; group < sizeof(percent) / sizeof(percent[0]); group++) {
		while (slots_used() < (uint64_t)slots * percent[group] / 100)
			spend(roam, 1000 * SAMPLE);
		full = session->full;
		count = ticks();
		num = measure(roam, 2000 * SAMPLE, GAPS_MAX);
		full = session->full - full;
		count = ticks() - count;
		snprintf(name, sizeof(name), ".%u", percent[group]);
		printf("full");
		print(name, 1000 * full / count, count);
		printf("new");
		print(name, mean(num), num);
		spend(stay, 4000 * SAMPLE);
		num = measure(stay, 2000 * SAMPLE, GAPS_MAX);
		printf("known");
		print(name, mean(num), num);
		traced(name, stay, 1000 * SAMPLE);
	}
}

static long of_group(void)
{
	char line[128];
	long bytes = -1;
	FILE *file;

	sleep(5);	/* it is counted in batches */
	file = fopen(GROUP, "re");
	while (file && bytes < 0 && fgets(line, sizeof(line), file))
		if (sscanf(line, "kernel %ld", &bytes) != 1)
			bytes = -1;
	if (!file || bytes < 0)
		fail(GROUP);
	fclose(file);
	return bytes;
}

static long of_machine(const char *key)
{
	char line[128], name[64];
	long kilobytes;
	FILE *file = fopen("/proc/meminfo", "re");

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%63[^:]: %ld", name, &kilobytes) == 2 && !strcmp(name, key)) {
			fclose(file);
			return kilobytes * 1024;
		}
	fail("/proc/meminfo");
	return 0;
}

static void memory_of_session(uint32_t slots, uint32_t rows, uint32_t objects, const char *who)
{
	long group = of_group();

	if (open_session(slots, rows, objects, who) < 0)
		fail("SESSION");
	print("memory", of_group() - group, 1);
}

static void memory_of_profiles(unsigned int num)
{
	long before, after[2];
	unsigned int i, of;

	child(begin_profil);	/* the first one hooks the tick */
	for (of = 0; of < 2; of++) {
		before = of_group();
		for (i = 0; i < num; i++)
			child(of ? begin_profil : begin_nobody);
		after[of] = of_group() - before;
	}
	print("profile", (after[1] - after[0]) / num, num);
}

static void memory_of_user(uint32_t slots, uint32_t rows, uint32_t objects)
{
	long group = of_group();
	unsigned int num = 0;

	while (open_session(slots, rows, objects, "member") >= 0)
		num++;
	print("sessions", num, 1);
	print("memory", of_group() - group, num);
	print("machine", of_machine("MemTotal"), 1);
}

static void programs(char *self, uint32_t rows, unsigned int num)
{
	int i, status, fd = open_session(65536, rows, 1024, "member");
	uint64_t taken;

	if (fd < 0)
		fail("SESSION");
	join_session(fd);
	if (num <= TRACED)
		trace_begin();
	taken = instructions();
	for (i = 0; i < (int)num; i++) {
		pid_t pid = fork();

		if (!pid)
			execl(self, self, "nothing", NULL);
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			fail("fork");
	}
	taken = instructions() - taken;
	sleep(1);	/* all are free again */
	trace_end();
	if (num <= TRACED)
		print("locks", 10 * trace_locks() / num, num);
	print("taken", taken / num, num);
	print("rows", session->processes_used, num);
	print("missed", session->forks_missed, num);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	const char *who = argc > 2 ? argv[2] : "";
	unsigned int first = atoi(who), second = argc > 3 ? atoi(argv[3]) : 0;
	unsigned int third = argc > 4 ? atoi(argv[4]) : 0;

	if (!strcmp(what, "alone"))
		tick_alone(who, second);
	else if (!strcmp(what, "busy"))
		tick_busy(who);
	else if (!strcmp(what, "steady") || !strcmp(what, "new"))
		tick_locks(who, !strcmp(what, "new"));
	else if (!strcmp(what, "slots"))
		fill(first);
	else if (!strcmp(what, "programs"))
		programs(argv[0], first, second);
	else if (!strcmp(what, "session"))
		memory_of_session(first, second, third, argc > 5 ? argv[5] : "member");
	else if (!strcmp(what, "profile"))
		memory_of_profiles(first);
	else if (!strcmp(what, "user"))
		memory_of_user(first, second, third);
	return 0;
}
