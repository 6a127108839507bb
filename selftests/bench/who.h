/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ways to be profiled, by us and by what is used instead.  Each begins, and
 * then says how many samples there are; what they count is burst().
 */
#ifndef WHO_H
#define WHO_H

#include <signal.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "bench.h"

#define REGIONS_MAX	4096

static volatile uint16_t counter __attribute__((aligned(4)));
static bool in_kernel;
static unsigned long number = 1;
static volatile unsigned long signals;
static unsigned short bins[BURST_PAGE / 2];
static struct perf_event_mmap_page *ring;
static const struct profil_session_page *session;

static inline unsigned long samples_none(void)
{
	return 0;
}

static inline unsigned long samples_counter(void)
{
	return counter;
}

static inline unsigned long samples_signals(void)
{
	return signals;
}

static inline unsigned long samples_bins(void)
{
	unsigned long sum = 0;
	unsigned int i;

	for (i = 0; i < sizeof(bins) / sizeof(bins[0]); i++)
		sum += ((volatile unsigned short *)bins)[i];
	return sum;
}

static inline unsigned long samples_ring(void)
{
	return __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
}

/* Of the first member. */
static inline unsigned long samples_session(void)
{
	const struct profil_process *row = (const void *)((const char *)session +
		session->processes_offset + session->process_len);

	return *(const volatile __u64 *)&row->user + *(const volatile __u64 *)&row->system;
}

#define MACHINE	"machine"	/* who this process is to a session of all of it */

static inline unsigned long samples_machine(void)
{
	const char *rows = (const char *)session + session->processes_offset;
	const struct profil_process *row;
	unsigned int i;

	for (i = 1; i < session->processes_used; i++) {
		row = (const void *)(rows + i * session->process_len);
		if (!strcmp(row->comm, MACHINE))
			return *(const volatile __u64 *)&row->user +
			       *(const volatile __u64 *)&row->system;
	}
	return 0;
}

static inline void begin_nobody(void)
{
}

/* What is in the kernel or elsewhere is to be found in the counter too. */
static inline void begin_profil(void)
{
	static struct profil_region regions[REGIONS_MAX + 1];
	unsigned long i;

	counter = 0;
	for (i = 0; i < number; i++) {
		regions[i] = burst_region(&counter);
		/* Half of the others are below, half above. */
		regions[i].offset += ((long)i - (long)number / 2) * BURST_PAGE;
	}
	if (in_kernel)
		regions[number++] = any_region(&counter);
	start(device(), regions, number, 0);
}

/* As profil() has it. */
static inline void begin_hundred(void)
{
	struct profil_region region = burst_region(&counter);
	struct profil_ioc_start args = {
		.size = sizeof(args),
		.region_num = 1,
		.region_len = sizeof(region),
		.regions_uptr = (uintptr_t)&region,
		.rate = 100,
	};

	counter = 0;
	if (ioctl(device(), PROFIL_IOC_START, &args))
		fail("START");
}

/* With one counter to two bytes of code, whether there is that much or not. */
static inline void begin_text(void)
{
	struct profil_region region = burst_region(&counter);

	region.bytes = number;
	region.scale = 65536;
	region.buf_uptr = (uintptr_t)mmap(NULL, number, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	start(device(), &region, 1, 0);
}

/* So many samples in the time of a tick. */
static inline void start_timer(int fd, const struct profil_region *region,
			       unsigned long times, unsigned int jitter)
{
	struct profil_ioc_start start = {
		.size = sizeof(start),
		.region_num = 1,
		.region_len = sizeof(*region),
		.regions_uptr = (uintptr_t)region,
		.rate = times * 1000000000 / tick_ns(),
		.source = PROFIL_SOURCE_TIMER,
		.jitter = jitter,
	};

	if (ioctl(fd, PROFIL_IOC_START, &start))
		fail("START");
}

static inline void begin_timer(void)
{
	struct profil_region region = burst_region(&counter);

	counter = 0;
	start_timer(device(), &region, number, 0);
}

static void set_floor(const char *name, unsigned long value)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/module/floor/parameters/%s", name);
	file = fopen(path, "we");
	if (!file || fprintf(file, "%lu\n", value) < 0 || fclose(file))
		fail(path);
}

static inline void begin_floor(void)
{
	set_floor("addr", (unsigned long)&counter);
	set_floor("pid", getpid());
}

/* A process that is there until we are gone, and has done that. */
static inline void child(void (*begins)(void))
{
	int ready[2];
	char byte;

	if (pipe(ready))
		fail("pipe");
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		begins();
		if (write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	if (read(ready[0], &byte, 1) != 1)
		fail("read");
	close(ready[0]);
	close(ready[1]);
}

static inline void begin_other(void)
{
	unsigned long i, others = number;

	number = 1;
	for (i = 0; i < others; i++)
		child(begin_profil);
}

static inline int begin_session(__u32 flags)
{
	struct profil_ioc_session args = {
		.size = sizeof(args),
		.flags = flags,
		.slots = 65536,
		.processes = 2048,
		.objects = 1024,
	};

	if (ioctl(device(), PROFIL_IOC_SESSION, &args))
		fail("SESSION");
	session = mmap(NULL, args.out_bytes, PROT_READ, MAP_SHARED, args.out_fd, 0);
	if (session == MAP_FAILED)
		fail("mmap");
	return args.out_fd;
}

static inline void join_session(int fd)
{
	struct profil_ioc_join join = { .size = sizeof(join) };

	if (ioctl(fd, PROFIL_IOC_JOIN, &join))
		fail("JOIN");
}

static inline void begin_member(void)
{
	join_session(begin_session(0));
}

static inline void begin_machine(void)
{
	prctl(PR_SET_NAME, MACHINE);
	begin_session(PROFIL_SESSION_F_SYSTEM);
}

/* What children join. */
static int joined;

static inline void join(void)
{
	join_session(joined);
}

/* Others are members: so many processes that sleep. */
static inline void begin_members(void)
{
	unsigned long i;

	joined = begin_session(0);
	for (i = 0; i < number; i++)
		child(join);
}

static void handler(int sig __attribute__((unused)))
{
	signals++;
}

static inline void begin_sigprof(void)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	struct itimerval timer = { };

	timer.it_interval.tv_usec = tick_ns() / 1000;
	timer.it_value = timer.it_interval;
	if (sigaction(SIGPROF, &action, NULL) ||
	    setitimer(ITIMER_PROF, &timer, NULL))
		fail("setitimer");
}

static inline void begin_glibc(void)
{
	if (profil(bins, sizeof(bins), (uintptr_t)burst, 65536))
		fail("profil");
}

static inline void begin_perf(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = tick_ns() / number,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	if (fd < 0)
		fail("perf_event_open");
	ring = mmap(NULL, 129 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED)
		fail("mmap");
}

struct who {
	const char *name;
	void (*begin)(void);
	unsigned long (*samples)(void);
	bool every;	/* tick is a sample */
};

static const struct who whos[] = {
	{ "nobody", begin_nobody, samples_none, false },
	{ "other", begin_other, samples_none, false },
	{ "profil", begin_profil, samples_counter, true },
	{ "hundred", begin_hundred, samples_counter, false },
	{ "text", begin_text, samples_none, false },
	{ "timer", begin_timer, samples_counter, true },
	{ "sigprof", begin_sigprof, samples_signals, false },
	{ "glibc", begin_glibc, samples_bins, false },
	{ "perf", begin_perf, samples_ring, false },
	{ "member", begin_member, samples_session, true },
	{ "members", begin_members, samples_none, false },
	{ "machine", begin_machine, samples_machine, true },
	{ "floor", begin_floor, samples_counter, false },
};

static inline const struct who *find_who(const char *name)
{
	unsigned int i;

	for (i = 0; i < sizeof(whos) / sizeof(whos[0]); i++)
		if (!strcmp(name, whos[i].name))
			return &whos[i];
	errno = EINVAL;
	fail(name);
	return NULL;
}

#endif /* WHO_H */
