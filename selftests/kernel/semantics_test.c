// SPDX-License-Identifier: GPL-2.0-only
/*
 * What profil() and sprofil() mean, rule by rule: each test has the name of the
 * rule that it checks.
 *
 * Compiled with -DGLIBC, the same tests ask the C library's own profil() and
 * sprofil(); see differences.sh.  What only ours has is left out then, and where
 * ours is compared with the kernel's count of ticks, some is enough.
 */
#include <sched.h>
#include <sys/profil.h>
#include <sys/stat.h>

/* The commands' names are those of the library's functions, which are meant. */
#define profil_query(...)	raw_query(__VA_ARGS__)
#define profil_stats(...)	raw_stats(__VA_ARGS__)
#define profil_start(...)	raw_start(__VA_ARGS__)
#define profil_stop(...)	raw_stop(__VA_ARGS__)
#include "ticks.h"
#undef profil_query
#undef profil_stats
#undef profil_start
#undef profil_stop

#ifndef GLIBC
#include <profil.h>
#endif

#define THREADS		4
#define PERIOD_US	10000	/* as the manual page of profil() promises */
#define UNTOUCHED	0x5a

/* The longest region of code that one counter of these tests stands for. */
#define FAR		(256UL << 10)

/* A copy of spin() that is alone in a wide range of addresses. */
struct code {
	void (*run)(unsigned long rounds);
	unsigned long begin, end;	/* where its program counter is */
};

FIXTURE(semantics) {
	int fd;
	bool several;			/* on by sprofil(), not by profil() */
	struct code code;
	struct profil_ioc_stats before;	/* as the profile was turned on */
	struct profil_ioc_stats stats;	/* after it was turned off */
	struct instance all, user;
	bool traced;
};

static __u64 cpu_us(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000ULL + ts.tv_nsec / 1000;
}

/* For CPU time that is not to be counted. */
static void burn_us(void (*run)(unsigned long), __u64 us)
{
	__u64 end = cpu_us(CLOCK_THREAD_CPUTIME_ID) + us;

	while (cpu_us(CLOCK_THREAD_CPUTIME_ID) < end)
		run(HOT_ROUNDS);
}

static int profil_off(void)
{
	/* The header forbids NULL, and the manual page says what for. */
	unsigned short *volatile none = NULL;

	return profil(none, 0, 0, 0);
}

/* An end after which the counts go on with the next profile. */
static int off_with_counts(void)
{
#ifdef GLIBC
	return profil_off();
#else
	struct profil_ioc_start none = { .size = sizeof(none) };

	return profil_start(&none);
#endif
}

static int off(FIXTURE_DATA(semantics) *self)
{
	int ret = self->several ? sprofil(NULL, 0, NULL, 0) : profil_off();

	self->several = false;
	return ret;
}

#ifdef GLIBC

/*
 * There is no count to wait for, and none to compare with; and of short times,
 * the timer may miss all.
 */
static void before_on(FIXTURE_DATA(semantics) *self)
{
	self->several = false;
}

static bool burn_samples(FIXTURE_DATA(semantics) *self,
			 void (*run)(unsigned long), __u64 samples)
{
	burn_us(run, (4 * samples + 4) * PERIOD_US);
	return self->fd < 0;
}

static bool burn_counted(FIXTURE_DATA(semantics) *self,
			 void (*run)(unsigned long), __u64 samples)
{
	return burn_samples(self, run, samples);
}

static int finish(FIXTURE_DATA(semantics) *self)
{
	return off(self);
}

#else

static void before_on(FIXTURE_DATA(semantics) *self)
{
	if (raw_stats(self->fd, &self->before))
		memset(&self->before, 0, sizeof(self->before));
}

static bool burn_until(FIXTURE_DATA(semantics) *self,
		       void (*run)(unsigned long), __u64 due, __u64 counted)
{
	struct profil_ioc_stats stats, first = {};

	for (;;) {
		if (raw_stats(self->fd, &stats) ||
		    stats.out_state != PROFIL_STATE_ON)
			return false;
		if (!first.size)
			first = stats;
		if (stats.out_ticks - stats.out_not_due - first.out_ticks +
		    first.out_not_due >= due ||
		    stats.out_in_range + stats.out_saturated -
		    first.out_in_range - first.out_saturated >= counted)
			return true;
		run(4 * HOT_ROUNDS);
	}
}

/* Runs @run until @samples more ticks were due. */
static bool burn_samples(FIXTURE_DATA(semantics) *self,
			 void (*run)(unsigned long), __u64 samples)
{
	return burn_until(self, run, samples, ~0ULL);
}

/* Until so many were counted; some come elsewhere, but not most. */
static bool burn_counted(FIXTURE_DATA(semantics) *self,
			 void (*run)(unsigned long), __u64 samples)
{
	return burn_until(self, run, 20 * samples + 100, samples);
}

/* Ends the profile; self->stats is then what was counted since before_on(). */
static int finish(FIXTURE_DATA(semantics) *self)
{
	const struct profil_ioc_stats *before = &self->before;
	struct profil_ioc_stats *stats = &self->stats;

	/* Off leaves no counts: they are read before it. */
	if (!settle(self->fd, stats) || raw_stop(self->fd) ||
	    raw_stats(self->fd, stats) || off(self))
		return -1;
	if (!check_identity(stats))
		return -2;
	stats->out_ticks -= before->out_ticks;
	stats->out_not_due -= before->out_not_due;
	stats->out_system -= before->out_system;
	stats->out_in_range -= before->out_in_range;
	stats->out_outside -= before->out_outside;
	stats->out_saturated -= before->out_saturated;
	stats->out_lost -= before->out_lost - before->out_lost_stopped;
	/* A tick may find the process in the very call that ends it. */
	stats->out_lost -= stats->out_lost_stopped;
	return 0;
}

#endif

/* Copies spin() to the address @at, at least FAR from all other code. */
static bool code_copy(struct code *code, unsigned int at)
{
	static char *pages;

	if (!pages)
		pages = mmap(NULL, 2 * FAR, PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			     0);
	if (pages == MAP_FAILED ||
	    mprotect(pages + FAR, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC))
		return false;
	memcpy(pages + FAR + at, (void *)spin, spin_end + 4 - (char *)spin);
	__builtin___clear_cache(pages + FAR, pages + FAR + PAGE);
	code->run = (void (*)(unsigned long))(pages + FAR + at);
	code->begin = UPTR(pages + FAR + at) + (spin_begin - (char *)spin);
	code->end = code->begin + (spin_end - spin_begin);
	/*
	 * An emulator translates it now, which takes long, and a tick meanwhile
	 * would find the instruction before the loop or behind it.
	 */
	code->run(1);
	return true;
}

FIXTURE_SETUP(semantics)
{
	self->fd = profil_open();
#ifndef GLIBC
	ASSERT_LE(0, self->fd);
#endif
	ASSERT_TRUE(code_copy(&self->code, 64));
}

FIXTURE_TEARDOWN(semantics)
{
#ifndef GLIBC
	profil_stop();
#endif
	if (self->traced) {
		instance_destroy(&self->all);
		instance_destroy(&self->user);
		event_remove();
	}
	close(self->fd);
}

static void *map(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

static __u64 counter_get(const volatile void *buf, __u64 index,
			 unsigned int width)
{
	const volatile char *at = (const volatile char *)buf + index * width;
	__u64 value = 0;

	/* No counter of these tests is wider than the machine's order. */
	memcpy(&value, (const void *)at, width);
	return value;
}

static __u64 counter_sum(const volatile void *buf, size_t num,
			 unsigned int width)
{
	__u64 sum = 0;
	size_t i;

	for (i = 0; i < num; i++)
		sum += counter_get(buf, i, width);
	return sum;
}

/*
 * The formula, with numbers wide enough for all of it at once: where the
 * program counter of @pc is counted.
 */
#ifdef __SIZEOF_INT128__
#define WIDE	unsigned __int128
#else
#define WIDE	__u64
#endif

struct form {
	enum {
		BY_PROFIL,
		BY_SPROFIL,
		BY_START,
	} by;
	unsigned int flags;	/* of the call, or of its region */
	unsigned int unit;	/* bytes of code that are one, rounded down */
	unsigned int divisor;
	unsigned int width;	/* of a counter */
};

static const struct form form_profil = { BY_PROFIL, 0, 2, 1 << 16, 2 };
static const struct form form_ushort = { BY_SPROFIL, PROF_USHORT, 2, 1 << 16, 2 };
static const struct form form_uint = { BY_SPROFIL, PROF_UINT, 4, 1 << 16, 4 };

#ifndef GLIBC

static const struct form form_u32 = { BY_START, PROFIL_REGION_F_U32, 2, 1 << 16, 4 };

static int start_on(const struct profil_region *regions, unsigned int num)
{
	struct profil_ioc_start start = {
		.size = sizeof(start),
		.region_num = num,
		.region_len = sizeof(*regions),
		.regions_uptr = UPTR(regions),
	};

	return profil_start(&start);
}

static int region_on(void *buf, size_t bytes, size_t offset,
		     unsigned int scale, unsigned int flags)
{
	struct profil_region region = {
		.buf_uptr = UPTR(buf),
		.bytes = bytes,
		.offset = offset,
		.scale = scale,
		.flags = flags,
	};

	return start_on(&region, 1);
}

#endif

static struct prof prof_of(void *counter, size_t bytes, size_t offset,
			   unsigned long scale)
{
	return (struct prof){
		.pr_base = counter,
		.pr_size = bytes,
		.pr_off = offset,
		.pr_scale = scale,
	};
}

static int form_on(FIXTURE_DATA(semantics) *self, const struct form *form,
		   void *buf, size_t bytes, size_t offset, unsigned int scale)
{
	struct prof prof = prof_of(buf, bytes, offset, scale);

	self->several = form->by == BY_SPROFIL;
	if (self->several)
		return sprofil(&prof, 1, NULL, form->flags);
#ifndef GLIBC
	if (form->by == BY_START)
		return region_on(buf, bytes, offset, scale, form->flags);
#endif
	return profil(buf, bytes, offset, scale);
}

static __u64 form_index(const struct form *form, __u64 distance,
			unsigned int scale)
{
	return (WIDE)(distance / form->unit) * scale / form->divisor;
}

struct form_case {
	unsigned int scale;
	__u64 distance;		/* of the code from the offset */
};

/* All samples of self->code are where the formula says, and nowhere else. */
static void check_case(struct __test_metadata *_metadata,
		       FIXTURE_DATA(semantics) *self, const struct form *form,
		       const struct form_case *c)
{
	/* The last of the loop's instructions is of 4 bytes if there are two. */
	__u64 length = (self->code.end - self->code.begin - 1) & ~3ULL;
	__u64 first = form_index(form, c->distance, c->scale);
	__u64 last = form_index(form, c->distance + length, c->scale);
	/* Those before and behind it run too, once for each call. */
	__u64 before = self->code.begin - UPTR(self->code.run);
	__u64 low = form_index(form, c->distance < before ? 0 :
			       c->distance - before, c->scale);
	__u64 high = form_index(form, c->distance + self->code.end -
				self->code.begin, c->scale);
	/* Beside them, as far as there is no other code. */
	unsigned int spare = c->scale < 256 ? 1 : 8;
	__u64 bytes = (high + 1 + spare) * form->width;
	__u64 sum = 0, i;
	void *buf;

	if (c->distance > self->code.begin || bytes != (size_t)bytes)
		return;		/* needs an address space of 64 bits */
	buf = map(bytes);
	ASSERT_NE(NULL, buf) TH_LOG("%llu bytes", bytes);
	before_on(self);
	ASSERT_EQ(0, form_on(self, form, buf, bytes,
			     self->code.begin - c->distance, c->scale));
	ASSERT_TRUE(burn_counted(self, self->code.run, 5));
	ASSERT_EQ(0, finish(self));
	for (i = low > spare ? low - spare : 0; i <= high + spare; i++) {
		if (i >= low && i <= high)
			continue;
		EXPECT_EQ(0, counter_get(buf, i, form->width))
			TH_LOG("scale %u distance %llu: counter %llu", c->scale,
			       c->distance, i);
	}
	for (i = first; i <= last; i++)
		sum += counter_get(buf, i, form->width);
	/* Most are there, but a tick that was late may come at the entry. */
	EXPECT_LE(1, sum)
		TH_LOG("scale %u distance %llu: counter %llu", c->scale,
		       c->distance, first);
#ifndef GLIBC
	for (i = low; i <= high; i++)
		if (i < first || i > last)
			sum += counter_get(buf, i, form->width);
	EXPECT_EQ(self->stats.out_in_range, sum)
		TH_LOG("scale %u distance %llu", c->scale, c->distance);
#endif
	munmap(buf, bytes);
}

static void check_cases(struct __test_metadata *_metadata,
			FIXTURE_DATA(semantics) *self, const struct form *form,
			const struct form_case *cases, size_t num)
{
	size_t i;
	pid_t pid;

	for (i = 0; i < num; i++) {
		/* glibc's sprofil() works once in a process, if at all. */
		pid = form->by == BY_SPROFIL ? fork() : 0;
		ASSERT_LE(0, pid);
		if (!pid)
			check_case(_metadata, self, form, &cases[i]);
		if (!pid && form->by == BY_SPROFIL)
			_exit(0);
		if (pid)
			EXPECT_EQ(0, wait_for(pid));
	}
}

/* Powers of two and not; odd distances; what does not fit 32 bits. */
static const struct form_case form_cases[] = {
	{ 65536, 0 }, { 65536, 1 }, { 65536, 2 }, { 65536, 4099 },
	{ 65535, 1 }, { 65535, 131070 }, { 65535, 131073 }, { 32768, 2 },
	{ 32768, 3 }, { 32824, 1165 }, { 32824, 65537 }, { 49152, 7 },
	{ 3, 131071 }, { 1000, 12345 }, { 256, (1ULL << 31) - 1 },
	{ 65536, (1ULL << 32) - 1 }, { 65536, (1ULL << 33) + 7 },
	{ 12345, (1ULL << 34) + 77 }, { 3, (1ULL << 40) + 1 },
	/* 1 is a scale as any other. */
	{ 1, 0 }, { 1, 131071 }, { 1, 131072 }, { 1, 131073 }, { 1, 7 << 17 },
	{ 1, (8 << 17) - 1 }, { 1, 1ULL << 40 },
	/* And so is each that is above 65536. */
	{ 131072, 0 }, { 131072, 1 }, { 131072, 4098 }, { 65537, 3 },
	{ 100000, 131073 }, { 0x12345678, 7 }, { ~0U, 0 }, { ~0U, 3 },
};

TEST_F(semantics, formula)
{
	check_cases(_metadata, self, &form_profil, form_cases,
		    ARRAY_SIZE(form_cases));
}

/* Wherever the index is computed in 32 bits, these are inside. */
TEST_F(semantics, formula_does_not_wrap)
{
	static const struct form_case cases[] = {
		{ 65536, 1ULL << 32 }, { 65536, 1ULL << 33 },
		{ 131072, 1ULL << 31 }, { 131072, 1ULL << 32 },
		{ ~0U, 0x20004 }, { ~0U, 1ULL << 33 }, { 32768, 1ULL << 34 },
	};
	unsigned short *counters = map(PAGE);
	size_t i;

	ASSERT_NE(NULL, counters);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		if (cases[i].distance > self->code.begin)
			continue;
		before_on(self);
		ASSERT_EQ(0, profil(counters, PAGE,
				    self->code.begin - cases[i].distance,
				    cases[i].scale));
		ASSERT_TRUE(burn_samples(self, self->code.run, 3));
		ASSERT_EQ(0, finish(self));
		EXPECT_EQ(0, counter_sum(counters, PAGE / 2, 2))
			TH_LOG("scale %u distance %llu", cases[i].scale,
			       cases[i].distance);
	}
}

TEST_F(semantics, formula_leaves_out_what_is_below_the_offset)
{
	static const struct {
		size_t above;
		unsigned int scale;
		size_t num;	/* so many that there is no other code */
	} cases[] = {
		{ 1, 65536, 2048 }, { 2, 65536, 2048 }, { 3, 131072, 2048 },
		{ 64, 65536, 2048 }, { 1, 1, 1 }, { 2, 1, 1 }, { 1, 2, 2 },
		{ 65536, 2, 1 }, { 1, ~0U, 2048 }, { 64, ~0U, 2048 },
	};
	unsigned short *counters = map(PAGE);
	size_t i;

	ASSERT_NE(NULL, counters);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		before_on(self);
		ASSERT_EQ(0, profil(counters, cases[i].num * 2,
				    self->code.end - 1 + cases[i].above,
				    cases[i].scale));
		ASSERT_TRUE(burn_samples(self, self->code.run, 2));
		ASSERT_EQ(0, finish(self));
		/* The return is behind the loop, once for each call: hardly twice. */
		EXPECT_GE(cases[i].above == 1, counter_sum(counters, PAGE / 2, 2))
			TH_LOG("scale %u, %zu below", cases[i].scale,
			       cases[i].above);
		counters[0] = 0;
	}
}

/* The unit of code is as long as a counter. */
TEST_F(semantics, formula_sprofil_per_counter)
{
	static const struct form_case cases[] = {
		{ 65536, 1 }, { 65536, 3 }, { 65536, 4 }, { 65536, 7 },
		{ 65535, 4099 }, { 32768, 9 }, { 32824, 65537 }, { 2, 131073 },
		{ 65536, (1ULL << 34) + 7 }, { 131072, 6 },
	};

	check_cases(_metadata, self, &form_ushort, cases, ARRAY_SIZE(cases));
	check_cases(_metadata, self, &form_uint, cases, ARRAY_SIZE(cases));
}

#ifndef GLIBC

/* As the kernels of BSD and illumos compute it: odd addresses count. */
TEST_F(semantics, formula_bsd_rounding)
{
	static const struct form forms[] = {
		{ BY_START, PROFIL_REGION_F_BSD_ROUNDING, 1, 1 << 17, 2 },
		{ BY_START, PROFIL_REGION_F_BSD_ROUNDING | PROFIL_REGION_F_U32, 1, 1 << 17, 4 },
	};
	static const struct form_case cases[] = {
		{ 131072, 0 }, { 131072, 1 }, { 131072, 4097 },
		{ 65535, 131073 },
	};

	check_cases(_metadata, self, &forms[0], form_cases,
		    ARRAY_SIZE(form_cases));
	check_cases(_metadata, self, &forms[0], cases, ARRAY_SIZE(cases));
	check_cases(_metadata, self, &forms[1], cases, ARRAY_SIZE(cases));
}

/* Wider counters alone change nothing. */
TEST_F(semantics, formula_of_wider_counters)
{
	static const struct form_case cases[] = {
		{ 65536, 7 }, { 65536, 8 }, { 65535, 4099 }, { 32824, 65537 },
		{ 65536, (1ULL << 32) + 9 }, { 131072, 15 },
	};

	check_cases(_metadata, self, &form_u32, cases, ARRAY_SIZE(cases));
}

#endif /* GLIBC */

/* Whatever turned it off, nothing is counted any more. */
static void expect_off(struct __test_metadata *_metadata,
		       FIXTURE_DATA(semantics) *self,
		       const volatile unsigned short *counters)
{
	__u64 sum = counter_sum(counters, PAGE / 2, 2);

	burn_us(self->code.run, 8 * PERIOD_US);
	EXPECT_EQ(sum, counter_sum(counters, PAGE / 2, 2));
#ifndef GLIBC
	self->stats = (struct profil_ioc_stats){ .size = sizeof(self->stats) };
	EXPECT_TRUE(profil_stats(&self->stats) ?
		    errno == ENOENT :
		    self->stats.out_state == PROFIL_STATE_OFF);
#endif
}

TEST_F(semantics, scale_0_or_buf_null)
{
	unsigned short *counters = map(PAGE);
	const struct {
		unsigned short *buf;
		size_t bytes;
		unsigned int scale;
	} cases[] = {
		{ counters, PAGE, 0 }, { NULL, PAGE, 65536 }, { NULL, 0, 0 },
		{ counters, 0, 0 },
	};
	size_t offset = self->code.begin, i;

	ASSERT_NE(NULL, counters);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		/* Turning off what is off succeeds, twice. */
		EXPECT_EQ(0, profil(cases[i].buf, cases[i].bytes, offset,
				    cases[i].scale));
		EXPECT_EQ(0, profil(cases[i].buf, cases[i].bytes, offset,
				    cases[i].scale));
		expect_off(_metadata, self, counters);
		before_on(self);
		ASSERT_EQ(0, profil(counters, PAGE, offset, 65536));
		ASSERT_TRUE(burn_counted(self, self->code.run, 2));
		EXPECT_EQ(0, profil(cases[i].buf, cases[i].bytes, offset,
				    cases[i].scale));
		EXPECT_LE(1, counter_sum(counters, PAGE / 2, 2));
		expect_off(_metadata, self, counters);
	}
}

TEST_F(semantics, scale_2)
{
	static const struct form_case cases[] = {
		{ 2, 0 }, { 2, 65535 }, { 2, 65536 }, { 2, 7 << 16 },
		{ 2, (8 << 16) - 1 },
	};
	unsigned short *counter = map(PAGE);

	ASSERT_NE(NULL, counter);
	check_cases(_metadata, self, &form_profil, cases, ARRAY_SIZE(cases));
	/* With offset 0 too, where sprofil() has its overflow counter. */
	before_on(self);
	ASSERT_EQ(0, profil(counter, sizeof(*counter), 0, 2));
	ASSERT_TRUE(burn_samples(self, self->code.run, 5));
	ASSERT_EQ(0, finish(self));
	EXPECT_EQ(0, *counter);
}

/* Not one byte beyond the end, for any size. */
TEST_F(semantics, nbins)
{
	const unsigned short untouched = UNTOUCHED << 8 | UNTOUCHED;
	unsigned char *page = map(2 * PAGE);
	size_t offset = self->code.begin;
	unsigned short counted;
	size_t bytes, i;
	__u64 sum;

	ASSERT_NE(NULL, page);
	ASSERT_EQ(0, mprotect(page + PAGE, PAGE, PROT_NONE));
	/*
	 * The code is that of the counter 2, at the byte 4; its entry and its
	 * return, once for each call, may be those of 0 and 3.
	 */
	for (bytes = 0; bytes < 9; bytes++) {
		unsigned char *buf = page + PAGE - bytes - bytes % 2;

		memset(page, UNTOUCHED, PAGE);
		before_on(self);
		ASSERT_EQ(0, profil((void *)buf, bytes, offset - 4, 65536));
		ASSERT_TRUE(bytes < 6 ?
			    burn_samples(self, self->code.run, 4) :
			    burn_counted(self, self->code.run, 4));
		ASSERT_EQ(0, finish(self));
		for (i = 0; i < PAGE; i++)
			if (page + i < buf || page + i >= buf + bytes - bytes % 2)
				EXPECT_EQ(UNTOUCHED, page[i]);
		for (i = 0, sum = 0; i < bytes / 2; i++) {
			counted = counter_get(buf, i, 2) - untouched;
			sum += counted;
			if (i == 1)
				EXPECT_EQ(0, counted);
			if (i == 2)
				EXPECT_LE(2, counted);
		}
#ifdef GLIBC
		EXPECT_LE(bytes < 6 ? 0 : 2, sum);
#else
		EXPECT_EQ(self->stats.out_in_range, sum);
#endif
	}
}

#ifndef GLIBC

/* It is refused, and what was on goes on. */
TEST_F(semantics, odd_buf)
{
	unsigned short *counters = map(PAGE);
	struct prof prof = prof_of((char *)counters + 2, 4, self->code.begin, 65536);

	ASSERT_NE(NULL, counters);
	before_on(self);
	ASSERT_EQ(0, profil(counters, PAGE, self->code.begin, 65536));
	errno = 0;
	EXPECT_EQ(-1, profil((void *)((char *)counters + 1), 4, self->code.begin, 65536));
	EXPECT_EQ(EINVAL, errno);
	errno = 0;
	EXPECT_EQ(-1, sprofil(&prof, 1, NULL, PROF_UINT));
	EXPECT_EQ(EINVAL, errno);
	ASSERT_TRUE(burn_counted(self, self->code.run, 4));
	ASSERT_EQ(0, finish(self));
	EXPECT_LE(4, counter_sum(counters, PAGE / 2, 2));
	EXPECT_EQ(self->stats.out_in_range, counter_sum(counters, PAGE / 2, 2));
	/* Counters of 16 bits may be where those of 32 may not. */
	EXPECT_EQ(0, sprofil(&prof, 1, NULL, PROF_USHORT));
}

#endif

/* The counter begins at @full, and goes on beyond; nothing else changes. */
static void check_width(struct __test_metadata *_metadata,
			FIXTURE_DATA(semantics) *self, const struct form *form,
			__u64 full)
{
	char *buf = map(PAGE);
	int i;

	ASSERT_NE(NULL, buf);
	memset(buf, UNTOUCHED, PAGE);
	memcpy(buf + 16, &full, form->width);
	before_on(self);
	ASSERT_EQ(0, form_on(self, form, buf + 16, form->width,
			     self->code.begin, 65536));
	ASSERT_TRUE(burn_counted(self, self->code.run, 10));
	ASSERT_EQ(0, finish(self));
	EXPECT_LE(full + 5, counter_get(buf + 16, 0, form->width));
#ifndef GLIBC
	EXPECT_EQ(full + self->stats.out_in_range,
		  counter_get(buf + 16, 0, form->width));
#endif
	for (i = 0; i < 48; i++)
		if (i < 16 || i >= 16 + (int)form->width)
			EXPECT_EQ(UNTOUCHED, buf[i]);
	munmap(buf, PAGE);
}

TEST_F(semantics, width)
{
	check_width(_metadata, self, &form_profil, 0xfe);
	check_width(_metadata, self, &form_ushort, 0xfe);
}

TEST_F(semantics, width_u32)
{
	check_width(_metadata, self, &form_uint, 0xfffe);
#ifndef GLIBC
	check_width(_metadata, self, &form_u32, 0xfffe);
#endif
}

/* All ones is where a counter stays. */
TEST_F(semantics, overflow)
{
	unsigned short *counter = map(PAGE);
	unsigned int *wide = map(PAGE);

	ASSERT_NE(NULL, counter);
	ASSERT_NE(NULL, wide);
	*counter = 0xfffd;
	before_on(self);
	ASSERT_EQ(0, profil(counter, 2, self->code.begin, 65536));
	ASSERT_TRUE(burn_counted(self, self->code.run, 8));
	ASSERT_EQ(0, finish(self));
	EXPECT_EQ(0xffff, *counter);
	EXPECT_EQ(0, counter[1]);
#ifndef GLIBC
	EXPECT_EQ(2, self->stats.out_in_range);
	EXPECT_LE(4, self->stats.out_saturated);
#endif

	*wide = ~0U - 2;
	before_on(self);
	ASSERT_EQ(0, form_on(self, &form_uint, wide, 4, self->code.begin, 65536));
	ASSERT_TRUE(burn_counted(self, self->code.run, 8));
	ASSERT_EQ(0, finish(self));
	EXPECT_EQ(~0U, *wide);
	EXPECT_EQ(0, wide[1]);
#ifndef GLIBC
	EXPECT_EQ(2, self->stats.out_in_range);
#endif
}

#ifndef GLIBC

/* The kernel's count of ticks and ours, of one moment. */
struct moment {
	__u64 ticks, user;
	struct profil_ioc_stats stats;
};

static bool watch_threads(FIXTURE_DATA(semantics) *self, const pid_t *tids,
			  int num)
{
	return !instance_create(&self->all) && !instance_create(&self->user) &&
	       !instance_watch(&self->user, tids, num, USER_TICKS) &&
	       !instance_watch(&self->all, tids, num, ALL_TICKS);
}

/* From here on, the ticks of this thread. */
static bool watch(FIXTURE_DATA(semantics) *self)
{
	pid_t tid = syscall(SYS_gettid);

	self->traced = !event_create();
	return self->traced && watch_threads(self, &tid, 1);
}

/* As take_pair(), which see: no tick of the watched came between. */
static bool take(FIXTURE_DATA(semantics) *self, struct moment *moment)
{
	__u64 before;

	moment->ticks = instance_count(&self->all);
	do {
		before = moment->ticks;
		if (raw_stats(self->fd, &moment->stats))
			return false;
		moment->user = instance_count(&self->user);
		moment->ticks = instance_count(&self->all);
	} while (moment->ticks != before);
	return check_identity(&moment->stats) && moment->ticks != ~0ULL;
}

/* The kernel's count between two moments, and how we accounted for it. */
#define EXPECT_ALL_TICKS(first, last)					\
	EXPECT_EQ((last)->ticks - (first)->ticks,			\
		  (last)->stats.out_ticks - (first)->stats.out_ticks)

#endif

struct reading {
	int zero;
	char *sink;
	size_t len;
};

static bool reading_begin(struct reading *reading)
{
	reading->zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	reading->len = 1 << 18;
	reading->sink = map(reading->len);
	if (!reading->sink || reading->zero < 0)
		return false;
	memset(reading->sink, UNTOUCHED, reading->len);
	return true;
}

/* A bin for each 2 bytes of read_loop(); mostly it is in the kernel. */
#define READ_BINS	64
#define RETURN_BIN	((read_return - (char *)read_loop) / 2)

static bool read_samples(FIXTURE_DATA(semantics) *self, struct reading *reading,
			 __u64 samples)
{
#ifdef GLIBC
	__u64 end = cpu_us(CLOCK_THREAD_CPUTIME_ID) + samples * PERIOD_US;

	while (cpu_us(CLOCK_THREAD_CPUTIME_ID) < end)
		read_loop(reading->zero, reading->sink, reading->len, 4);
	return self->fd < 0;
#else
	struct profil_ioc_stats stats;
	__u64 end;

	if (raw_stats(self->fd, &stats))
		return false;
	end = stats.out_ticks - stats.out_not_due + samples;
	do {
		read_loop(reading->zero, reading->sink, reading->len, 4);
		if (raw_stats(self->fd, &stats))
			return false;
	} while (stats.out_ticks - stats.out_not_due < end);
	return true;
#endif
}

/* In user mode where it is, in the kernel where it would return to. */
TEST_F(semantics, sampled_time)
{
	unsigned short *counters = map(PAGE);
	struct reading reading;
	__u64 sum;

	ASSERT_NE(NULL, counters);
	ASSERT_TRUE(reading_begin(&reading));
	before_on(self);
	ASSERT_EQ(0, profil(counters, READ_BINS * 2, UPTR(read_loop), 65536));
	ASSERT_TRUE(read_samples(self, &reading, 60));
	ASSERT_EQ(0, finish(self));
	sum = counter_sum(counters, READ_BINS, 2);
	EXPECT_LT(40, sum);
	EXPECT_LT(sum * 8 / 10, counters[RETURN_BIN]);
#ifndef GLIBC
	EXPECT_EQ(self->stats.out_in_range, sum);
#endif
	before_on(self);
	ASSERT_EQ(0, profil(counters, 2, self->code.begin, 65536));
	counters[0] = 0;
	ASSERT_TRUE(burn_counted(self, self->code.run, 20));
	ASSERT_EQ(0, finish(self));
	EXPECT_LT(10, counters[0]);
}

#ifndef GLIBC

/* Two regions: the code of user mode, and that of the calls, bin by bin. */
static void time_regions(FIXTURE_DATA(semantics) *self,
			 struct profil_region *regions, unsigned int *counters)
{
	regions[0] = page_region(self->code.run, counters);
	regions[0].bytes = sizeof(*counters);
	regions[0].flags = PROFIL_REGION_F_U32;
	regions[1] = page_region(read_loop, counters + 1);
	regions[1].bytes = READ_BINS * sizeof(*counters);
	regions[1].scale = 65536;
	regions[1].flags = PROFIL_REGION_F_U32;
}

TEST_F(semantics, sampled_time_equals_the_kernels_own_count)
{
	unsigned int *counters = map(PAGE);
	struct profil_region regions[2];
	struct moment first, middle, last;
	struct reading reading;
	__u64 system, at_return;

	ASSERT_NE(NULL, counters);
	ASSERT_TRUE(reading_begin(&reading));
	ASSERT_TRUE(watch(self));
	before_on(self);
	time_regions(self, regions, counters);
	ASSERT_EQ(0, start_on(regions, 2));
	ASSERT_TRUE(take(self, &first));
	ASSERT_TRUE(burn(self->fd, self->code.run, 100));
	ASSERT_TRUE(take(self, &middle));
	ASSERT_TRUE(read_samples(self, &reading, 100));
	ASSERT_TRUE(take(self, &last));
	ASSERT_EQ(0, finish(self));

	EXPECT_ALL_TICKS(&first, &middle);
	EXPECT_ALL_TICKS(&middle, &last);
	EXPECT_EQ(self->stats.out_in_range,
		  counter_sum(counters, 1 + READ_BINS, 4));
	/* Before, there are many of interrupts, on a slow kernel. */
	system = last.ticks - middle.ticks - (last.user - middle.user);
	at_return = counters[1 + RETURN_BIN];
	/* At a call's return, but for those of interrupts. */
	EXPECT_LE(system * 8 / 10, at_return + self->stats.out_outside);
	EXPECT_LE(30, counters[0]);
	EXPECT_LE(30, at_return);
	EXPECT_LE(30, system);
}

/* What a rate makes of ticks: of each @window ticks, exactly @take are due. */
struct share {
	__u64 window, take;
};

static __u64 gcd(__u64 a, __u64 b)
{
	return b ? gcd(b, a % b) : a;
}

static struct share share_of(__u32 rate, __u32 hz)
{
	__u64 divisor = gcd(hz, rate);

	return (struct share){ hz / divisor, rate / divisor };
}

static void expect_share(struct __test_metadata *_metadata,
			 const struct share *share,
			 const struct profil_ioc_stats *stats)
{
	__u64 due = stats->out_ticks - stats->out_not_due;
	__u64 rest = stats->out_ticks % share->window;
	__u64 most = stats->out_ticks / share->window * share->take;
	__u64 least = most;

	if (rest + share->take > share->window)
		least += rest + share->take - share->window;
	most += rest < share->take ? rest : share->take;
	EXPECT_LE(least, due);
	EXPECT_GE(most, due);
}

/* For the first profile of a process: its windows begin with its counts. */
static void check_share(struct __test_metadata *_metadata,
			FIXTURE_DATA(semantics) *self, __u32 rate)
{
	struct moment first, now = {};
	struct profil_ioc_query query;
	struct share share;
	int i;

	ASSERT_EQ(0, raw_query(self->fd, &query));
	share = share_of(rate, query.out_tick_hz);
	ASSERT_TRUE(take(self, &first));
	EXPECT_EQ(rate, first.stats.out_rate);
	for (i = 0; i < 60; i++) {
		ASSERT_TRUE(burn(self->fd, self->code.run, 3));
		ASSERT_TRUE(take(self, &now));
		EXPECT_ALL_TICKS(&first, &now);
		expect_share(_metadata, &share, &now.stats);
	}
	ASSERT_EQ(0, finish(self));
}

#endif /* GLIBC */

#ifdef GLIBC

/* A comparison with CPU time, which the tick can only estimate. */
static void expect_period(struct __test_metadata *_metadata, __u64 samples,
			  __u64 us, __u64 period)
{
	EXPECT_LE(us / period / 2, samples);
	EXPECT_GE(us / period * 2, samples);
}

#endif

static __u64 period_us(const struct timeval *tv)
{
	return tv->tv_sec * 1000000ULL + tv->tv_usec;
}

/* What sprofil() says of the period is what it then is. */
TEST_F(semantics, rate_period)
{
	unsigned int *counter = map(PAGE);
	struct prof prof = prof_of(counter, sizeof(*counter), self->code.begin, 65536);
	struct timeval tv = {};

	ASSERT_NE(NULL, counter);
#ifdef GLIBC
	self->several = true;
	ASSERT_EQ(0, sprofil(&prof, 1, &tv, PROF_UINT));
	burn_us(self->code.run, 200 * PERIOD_US);
	ASSERT_EQ(0, finish(self));
	expect_period(_metadata, *counter, 200 * PERIOD_US, period_us(&tv));
#else
	ASSERT_TRUE(watch(self));
	self->several = true;
	ASSERT_EQ(0, sprofil(&prof, 1, &tv, PROF_UINT));
	ASSERT_EQ(PERIOD_US, period_us(&tv));
	check_share(_metadata, self, 1000000 / PERIOD_US);
	EXPECT_EQ(self->stats.out_in_range, *counter);
#endif
}

#ifndef GLIBC

/* Every tick, and its period. */
TEST_F(semantics, rate_fast)
{
	unsigned int *counter = map(PAGE);
	struct prof prof = prof_of(counter, sizeof(*counter), self->code.begin, 65536);
	struct moment first, last;
	struct profil_ioc_query query;
	struct timeval tv = {};

	ASSERT_NE(NULL, counter);
	ASSERT_TRUE(watch(self));
	ASSERT_EQ(0, raw_query(self->fd, &query));
	self->several = true;
	ASSERT_EQ(0, sprofil(&prof, 1, &tv, PROF_UINT | PROF_FAST));
	EXPECT_EQ((query.out_tick_ns + 500) / 1000, period_us(&tv));
	ASSERT_TRUE(take(self, &first));
	ASSERT_TRUE(burn(self->fd, self->code.run, 200));
	ASSERT_TRUE(take(self, &last));
	ASSERT_EQ(0, finish(self));
	EXPECT_ALL_TICKS(&first, &last);
	EXPECT_EQ(0, self->stats.out_not_due);
	EXPECT_EQ(self->stats.out_in_range, *counter);
	EXPECT_EQ(self->stats.out_ticks - self->stats.out_lost_stopped,
		  *counter + self->stats.out_outside);
}

TEST_F(semantics, rate_of_a_part)
{
	struct profil_ioc_start start = { .size = sizeof(start) };
	unsigned int *counter = map(PAGE);
	struct profil_region region;
	struct profil_ioc_query query;

	ASSERT_NE(NULL, counter);
	ASSERT_TRUE(watch(self));
	ASSERT_EQ(0, raw_query(self->fd, &query));
	region = page_region(self->code.run, counter);
	region.bytes = sizeof(*counter);
	region.flags = PROFIL_REGION_F_U32;
	start.region_num = 1;
	start.region_len = sizeof(region);
	start.regions_uptr = UPTR(&region);
	start.rate = query.out_tick_hz * 7 / 25;
	ASSERT_EQ(0, profil_start(&start));
	check_share(_metadata, self, start.rate);
	EXPECT_EQ(self->stats.out_in_range, *counter);
}

#endif

/* Threads that run hot_a, hot_b, hot_c and spin, between gates. */
struct worker {
	struct team *team;
	void (*run)(unsigned long rounds);
	pthread_t thread;
	int cpu;		/* or -1 */
};

struct team {
	struct gate begin, end, leave;
	struct worker workers[THREADS];
	pid_t tids[THREADS + 1];	/* the last is who made them */
	volatile bool stop;
};

static void *worker_fn(void *arg)
{
	struct worker *worker = arg;
	struct team *team = worker->team;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(worker->cpu, &cpus);
	if (worker->cpu >= 0)
		sched_setaffinity(0, sizeof(cpus), &cpus);
	team->tids[worker - team->workers] = syscall(SYS_gettid);
	gate_wait(&team->begin);
	while (!team->stop)
		worker->run(HOT_ROUNDS);
	gate_wait(&team->end);
	gate_wait(&team->leave);
	return NULL;
}

/* The workers from @from up to @to; they then sleep. */
static bool team_hire(struct team *team, int from, int to, int cpus)
{
	static void (*const runs[THREADS])(unsigned long) = {
		hot_a, hot_b, hot_c, spin,
	};
	int i;

	team->tids[THREADS] = syscall(SYS_gettid);
	for (i = from; i < to; i++) {
		team->workers[i] = (struct worker){
			.team = team,
			.run = runs[i],
			.cpu = cpus ? i % cpus : -1,
		};
		if (pthread_create(&team->workers[i].thread, NULL, worker_fn,
				   &team->workers[i]))
			return false;
	}
	gate_wait_asleep(&team->begin, team->tids, to);
	return true;
}

/* Ends their work; in the second sleep, all that was pending is delivered. */
static void team_stop(struct team *team)
{
	team->stop = true;
	gate_wait_asleep(&team->end, team->tids, THREADS);
}

static void team_settle(struct team *team)
{
	gate_open(&team->end);
	gate_wait_asleep(&team->leave, team->tids, THREADS);
}

static void team_leave(struct team *team)
{
	int i;

	gate_open(&team->leave);
	for (i = 0; i < THREADS; i++)
		pthread_join(team->workers[i].thread, NULL);
}

/* CPU time may go by while the machine stands still, and others did not run yet. */
static bool team_has(const volatile unsigned short *counters, int least)
{
#ifndef GLIBC
	int i;

	for (i = 0; i < THREADS; i++)
		if (counters[i] < least)
			return false;
#else
	(void)counters;
	(void)least;
#endif
	return true;
}

/* All threads, those that there were and those that came later. */
TEST_F(semantics, threads)
{
	unsigned short *counters = map(PAGE);
	struct team *team = map(sizeof(*team));
	__u64 end;
	int i;

	ASSERT_NE(NULL, counters);
	ASSERT_NE(NULL, team);
	ASSERT_TRUE(team_hire(team, 0, 2, 0));
	before_on(self);
	ASSERT_EQ(0, profil(counters, 2 * THREADS, UPTR(hot_a), PAGE_SCALE));
	ASSERT_TRUE(team_hire(team, 2, THREADS, 0));
	end = cpu_us(CLOCK_PROCESS_CPUTIME_ID) + 100 * PERIOD_US;
	gate_open(&team->begin);
	while (cpu_us(CLOCK_PROCESS_CPUTIME_ID) < end || !team_has(counters, 2))
		usleep(PERIOD_US);
	team_stop(team);
	team_settle(team);
	ASSERT_EQ(0, finish(self));
	team_leave(team);
	for (i = 0; i < THREADS; i++)
		EXPECT_LE(2, counters[i]);
#ifndef GLIBC
	EXPECT_EQ(self->stats.out_in_range, counter_sum(counters, THREADS, 2));
	EXPECT_TRUE(none_lost(&self->stats));
#endif
}

#ifndef GLIBC

static struct profil_region team_region(void *counters)
{
	struct profil_region region = page_region(hot_a, counters);

	region.bytes = THREADS * sizeof(__u32);
	region.flags = PROFIL_REGION_F_U32;
	return region;
}

/* Of the ticks in its window, each is as likely to be due as any other. */
TEST_F(semantics, rate_favours_no_thread)
{
	unsigned int *counters = map(PAGE);
	struct profil_region region = team_region(counters);
	struct profil_ioc_start start = {
		.size = sizeof(start),
		.region_num = 1,
		.region_len = sizeof(region),
		.regions_uptr = UPTR(&region),
	};
	struct team *team = map(sizeof(*team));
	struct instance instances[THREADS];
	double share, expected, away;
	struct profil_ioc_query query;
	struct profil_ioc_stats stats;
	__u64 ticks[THREADS], least;
	int i;

	ASSERT_NE(NULL, counters);
	ASSERT_NE(NULL, team);
	ASSERT_EQ(0, raw_query(self->fd, &query));
	/* One of two: CPUs that tick in turn would share them badly. */
	start.rate = query.out_tick_hz / 2;
	share = (double)start.rate / query.out_tick_hz;
	ASSERT_TRUE(team_hire(team, 0, THREADS, sysconf(_SC_NPROCESSORS_ONLN)));
	ASSERT_EQ(0, event_create());
	for (i = 0; i < THREADS; i++) {
		ASSERT_EQ(0, instance_create(&instances[i]));
		ASSERT_EQ(0, instance_watch(&instances[i], &team->tids[i], 1,
					    ALL_TICKS));
	}
	before_on(self);
	ASSERT_EQ(0, profil_start(&start));
	gate_open(&team->begin);
	do {
		usleep(2 * PERIOD_US);
		ASSERT_EQ(0, raw_stats(self->fd, &stats));
		for (i = 0, least = ~0ULL; i < THREADS; i++) {
			ticks[i] = instance_count(&instances[i]);
			least = ticks[i] < least ? ticks[i] : least;
		}
	} while (stats.out_ticks < 1600 || least < 100);
	team_stop(team);
	team_settle(team);
	ASSERT_EQ(0, finish(self));
	for (i = 0; i < THREADS; i++) {
		ticks[i] = instance_count(&instances[i]);
		instance_destroy(&instances[i]);
	}
	event_remove();
	team_leave(team);
	for (i = 0; i < THREADS; i++) {
		/*
		 * Selection without replacement varies no more than with, so
		 * this is the binomial's: six times its standard deviation,
		 * and the ticks that came elsewhere than in the function.
		 */
		expected = share * ticks[i];
		away = counters[i] > expected ? counters[i] - expected :
						expected - counters[i];
		away -= 1 + self->stats.out_outside;
		EXPECT_LE(100, ticks[i]);
		EXPECT_FALSE(away > 0 && away * away >
			     36 * share * (1 - share) * ticks[i])
			TH_LOG("thread %d: %u of %llu", i, counters[i],
			       ticks[i]);
	}
}

#endif

/* In us; in ticks where they can be seen, for the machine may stand still. */
static __u64 took_until_now(FIXTURE_DATA(semantics) *self)
{
#ifdef GLIBC
	return self->fd < 0 ? cpu_us(CLOCK_THREAD_CPUTIME_ID) : 0;
#else
	return instance_count(&self->all);
#endif
}

#ifdef GLIBC
#define TOOK_ENOUGH	(12 * PERIOD_US)
#else
#define TOOK_ENOUGH	30
#endif

/* One call that takes many ticks has them all, where it returns to. */
TEST_F(semantics, missed_ticks)
{
	const size_t piece = 2 << 20, most = 512UL << 20;
	int file = memfd_create("profil", MFD_CLOEXEC);
	unsigned short *counters = map(PAGE);
	__u64 before, took = 0;
#ifndef GLIBC
	struct profil_ioc_stats *was, *is;
	struct moment first, last;
#endif
	size_t at, len;
	char *sink;

	ASSERT_NE(NULL, counters);
	ASSERT_LE(0, file);
	/* Much to read, and much to write to, in little memory. */
	ASSERT_EQ(0, ftruncate(file, most));
	sink = mmap(NULL, most, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	ASSERT_NE(MAP_FAILED, sink);
	for (at = 0; at < most; at += piece)
		ASSERT_NE(MAP_FAILED,
			  mmap(sink + at, piece, PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_FIXED, file, 0));
#ifndef GLIBC
	ASSERT_TRUE(watch(self));
#endif
	before_on(self);
	ASSERT_EQ(0, profil(counters, READ_BINS * 2, UPTR(read_loop), 65536));
	/* Only the last, and longest, is compared. */
	for (len = 2 * piece; len <= most && took < TOOK_ENOUGH; len *= 2) {
#ifndef GLIBC
		ASSERT_TRUE(settle(self->fd, &self->stats));
		ASSERT_TRUE(take(self, &first));
#endif
		before = counters[RETURN_BIN];
		took = took_until_now(self);
		ASSERT_EQ(piece, lseek(file, piece, SEEK_SET));
		read_loop(file, sink, len - piece, 1);
		took = took_until_now(self) - took;
	}
#ifdef GLIBC
	ASSERT_EQ(0, finish(self));
	EXPECT_LE(took / PERIOD_US * 8 / 10, counters[RETURN_BIN] - before);
#else
	ASSERT_TRUE(settle(self->fd, &self->stats));
	ASSERT_TRUE(take(self, &last));
	ASSERT_EQ(0, finish(self));
	EXPECT_LE(3, counters[RETURN_BIN] - before);
	EXPECT_ALL_TICKS(&first, &last);
	was = &first.stats;
	is = &last.stats;
	EXPECT_EQ(last.ticks - first.ticks,
		  is->out_in_range + is->out_outside + is->out_not_due +
		  is->out_pending - was->out_in_range - was->out_outside -
		  was->out_not_due - was->out_pending);
	EXPECT_EQ(self->stats.out_in_range,
		  counter_sum(counters, READ_BINS, 2));
#endif
}

/* A buffer that cannot be written is refused; glibc's handler would crash. */
TEST_F(semantics, bad_pointer)
{
	unsigned char *page = map(4 * PAGE);
	unsigned short *good = map(PAGE);
	size_t i;

	ASSERT_NE(NULL, page);
	ASSERT_NE(NULL, good);
	ASSERT_EQ(0, munmap(page, PAGE));
	ASSERT_EQ(0, mprotect(page + 2 * PAGE, PAGE, PROT_READ));
	ASSERT_EQ(0, munmap(page + 3 * PAGE, PAGE));

	const struct {
		void *buf;
		size_t bytes;
	} cases[] = {
		{ page, PAGE },				/* not mapped */
		{ page + PAGE / 2, PAGE },		/* at its begin */
		{ page + PAGE, PAGE + 1 },		/* at its end */
		{ page + 2 * PAGE, PAGE },		/* not writable */
		{ (void *)~0xfffUL, PAGE },		/* the kernel's */
		{ page + PAGE, ~0UL },
	};

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		ASSERT_EQ(0, profil(good, PAGE, self->code.begin, 65536));
		errno = 0;
		EXPECT_EQ(-1, profil(cases[i].buf, cases[i].bytes,
				     self->code.begin, 65536))
			TH_LOG("case %zu", i);
		EXPECT_EQ(EFAULT, errno);
		/* As on BSD, what was on before is off then. */
		expect_off(_metadata, self, good);
	}
}

/* The old buffer is the program's again when the call has returned. */
TEST_F(semantics, re_arm)
{
	struct burner burners[THREADS];
	unsigned short *buf = map(PAGE), *old;
	__u64 sum, all = 0;
	int i;

	ASSERT_NE(NULL, buf);
	before_on(self);
	ASSERT_EQ(0, profil(buf, 4, UPTR(hot_a), PAGE_SCALE));
	for (i = 0; i < THREADS; i++)
		ASSERT_EQ(0, burner_start(&burners[i], i % 2 ? hot_a : hot_b));
	for (i = 0; i < 60; i++) {
		usleep(PERIOD_US / 2);
		old = buf;
		buf = map(PAGE);
		ASSERT_NE(NULL, buf);
		if (i % 3 == 2)
			ASSERT_EQ(0, off_with_counts());
		ASSERT_EQ(0, profil(buf, 4, UPTR(hot_a), PAGE_SCALE));
		sum = counter_sum(old, PAGE / 2, 2);
		all += sum;
		if (i % 2) {
			usleep(2 * PERIOD_US);
			EXPECT_EQ(sum, counter_sum(old, PAGE / 2, 2));
		}
		/* A write to it now would end the profile with a fault. */
		ASSERT_EQ(0, munmap(old, PAGE));
	}
	for (i = 0; i < THREADS; i++)
		burner_join(&burners[i]);
	ASSERT_EQ(0, finish(self));
	all += counter_sum(buf, PAGE / 2, 2);
	EXPECT_LT(0, all);
#ifndef GLIBC
	EXPECT_EQ(self->stats.out_in_range, all);
	EXPECT_EQ(0, self->stats.out_lost_fault);
	EXPECT_EQ(0, self->stats.out_fault_addr);
#endif
}

/* As daemons do; nothing of the profile is in a descriptor. */
static int without_descriptors(volatile unsigned short *counters)
{
	if (profil((unsigned short *)counters, 2, UPTR(hot_a), PAGE_SCALE))
		return 1;
	if (syscall(SYS_close_range, 0U, ~0U, 0U))
		return 2;
	while (!counters[0])
		hot_a(HOT_ROUNDS);
	if (profil((unsigned short *)counters + 1, 2, UPTR(hot_a), PAGE_SCALE))
		return 3;
	while (!counters[1])
		hot_a(HOT_ROUNDS);
	/* One that was left open would be the first, 0. */
	return profil_off() || fcntl(0, F_GETFD) != -1 ? 4 : 0;
}

TEST_F(semantics, re_arm_without_descriptors)
{
	unsigned short *counters = map(PAGE);
	pid_t pid;

	ASSERT_NE(NULL, counters);
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(without_descriptors(counters));
	EXPECT_EQ(0, wait_for(pid));
}

/* The child is profiled too, in its own copy of the buffer. */
TEST_F(semantics, fork)
{
	unsigned short *counter = map(PAGE), inherited;
	pid_t pid;

	ASSERT_NE(NULL, counter);
	before_on(self);
	ASSERT_EQ(0, profil(counter, 2, self->code.begin, 65536));
	ASSERT_TRUE(burn_counted(self, self->code.run, 10));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		inherited = *counter;
		if (!burn_counted(self, self->code.run, 20))
			_exit(2);
		_exit(*counter >= inherited + 15 ? 0 : 1);
	}
	EXPECT_EQ(0, wait_for(pid));
	ASSERT_TRUE(burn_counted(self, self->code.run, 10));
	ASSERT_EQ(0, finish(self));
	EXPECT_LE(10, *counter);
#ifndef GLIBC
	EXPECT_EQ(self->stats.out_in_range, *counter);
#endif
}

/* What the new image does: it must live, and not be profiled. */
static int executed(void)
{
	burn_us(hot_a, 20 * PERIOD_US);
#ifndef GLIBC
	struct profil_ioc_stats stats = { .size = sizeof(stats) };

	if (!profil_stats(&stats) || errno != ENOENT)
		return 2;
	if (find_anchor(NULL))
		return 3;
#endif
	return 0;
}

TEST_F(semantics, exec_and_exit)
{
	__u64 sum;
	unsigned short *counter;
	pid_t pid;
	int i;

	counter = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, counter);
	for (i = 0; i < 4; i++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			if (profil(counter, PAGE, UPTR(hot_a), 65536))
				_exit(5);
			if (!burn_counted(self, hot_a, 3))
				_exit(7);
#ifndef GLIBC
			/* A worker may end its work later than the process. */
			if (!settle(self->fd, &self->stats))
				_exit(8);
#endif
			if (i < 2)
				execl("/proc/self/exe", "semantics_test",
				      "--executed", NULL);
			_exit(i < 2 ? 6 : 0);
		}
		EXPECT_EQ(0, wait_for(pid));
		/* Gone with the process. */
		sum = counter_sum(counter, PAGE / 2, 2);
		EXPECT_LE(1, sum);
		burn_us(hot_a, 3 * PERIOD_US);
		EXPECT_EQ(sum, counter_sum(counter, PAGE / 2, 2));
		memset(counter, 0, PAGE);
	}
}

static volatile int signals;

static void count_signal(int sig)
{
	(void)sig;
	signals++;
}

#define TIMER_US	(2 * PERIOD_US)

static int timer_start(void)
{
	const struct itimerval timer = {
		{ 0, TIMER_US }, { 0, TIMER_US },
	};
	const struct sigaction action = {
		.sa_handler = count_signal,
		.sa_flags = SA_RESTART,
	};

	return sigaction(SIGPROF, &action, NULL) ||
	       setitimer(ITIMER_PROF, &timer, NULL);
}

/* Whether the program has what it made, and it goes on. */
static void expect_timer(struct __test_metadata *_metadata,
			 void (*run)(unsigned long))
{
	struct sigaction action;
	struct itimerval timer;
	__u64 end;

	ASSERT_EQ(0, sigaction(SIGPROF, NULL, &action));
	EXPECT_TRUE(action.sa_handler == count_signal);
	ASSERT_EQ(0, getitimer(ITIMER_PROF, &timer));
	EXPECT_EQ(TIMER_US, timer.it_interval.tv_usec);
	signals = 0;
	/* So long that a machine that stands still does not matter. */
	end = cpu_us(CLOCK_PROCESS_CPUTIME_ID) + 500 * TIMER_US;
	while (signals < 5 && cpu_us(CLOCK_PROCESS_CPUTIME_ID) < end)
		run(HOT_ROUNDS);
	EXPECT_LE(5, signals);
}

/* A program's own timer and ours do not know of each other, in either order. */
TEST_F(semantics, sigprof_and_itimer_prof)
{
	unsigned short *counter = map(PAGE);
	int order;

	ASSERT_NE(NULL, counter);
	for (order = 0; order < 2; order++) {
		before_on(self);
		*counter = 0;
		if (order)
			ASSERT_EQ(0, timer_start());
		ASSERT_EQ(0, profil(counter, 2, self->code.begin, 65536));
		if (!order)
			ASSERT_EQ(0, timer_start());
		signals = 0;
		ASSERT_TRUE(burn_counted(self, self->code.run, 40));
		/* 100 ticks, of which each fifth makes a signal. */
		EXPECT_LE(10, signals);
		expect_timer(_metadata, self->code.run);
		ASSERT_EQ(0, finish(self));
		EXPECT_LE(25, *counter);
#ifndef GLIBC
		EXPECT_EQ(self->stats.out_in_range, *counter);
#endif
		expect_timer(_metadata, self->code.run);
	}
}

/* One counter of 32 bits to a function, which is a page. */
static struct prof prof_of_page(void *counter, void (*code)(unsigned long))
{
	return prof_of(counter, sizeof(__u32), UPTR(code), 65536 / (PAGE / 4));
}

/* Each replaces the other, and turns it off. */
TEST_F(semantics, profil_and_sprofil)
{
	unsigned int *counters = map(PAGE);
	unsigned short *counter = map(PAGE);
	struct prof prof = prof_of_page(counters, self->code.run);
	__u64 sum;
	int i;

	ASSERT_NE(NULL, counters);
	ASSERT_NE(NULL, counter);
	before_on(self);
	ASSERT_EQ(0, profil(counter, 2, self->code.begin, 65536));
	ASSERT_TRUE(burn_counted(self, self->code.run, 5));
	for (i = 0; i < 2; i++) {
		sum = counters[0];
		ASSERT_EQ(0, sprofil(&prof, 1, NULL, PROF_UINT));
		EXPECT_LE(3, counter[0]);
		counter[0] = 0;
		ASSERT_TRUE(burn_counted(self, self->code.run, 5));
		EXPECT_EQ(0, counter[0]);
		EXPECT_LE(sum + 3, counters[0]);

		ASSERT_EQ(0, profil(counter, 2, self->code.begin, 65536));
		sum = counters[0];
		ASSERT_TRUE(burn_counted(self, self->code.run, 5));
		EXPECT_EQ(sum, counters[0]);
		EXPECT_LE(3, counter[0]);
	}
	ASSERT_EQ(0, sprofil(NULL, 0, NULL, 0));
	expect_off(_metadata, self, counter);
	ASSERT_EQ(0, sprofil(&prof, 1, NULL, PROF_UINT));
	ASSERT_EQ(0, profil_off());
	sum = counters[0];
	burn_us(self->code.run, 8 * PERIOD_US);
	EXPECT_EQ(sum, counters[0]);
}

TEST_F(semantics, sprofil_while_on)
{
	unsigned int *counters = map(PAGE);
	struct prof first[] = {
		prof_of_page(counters, hot_a),
		prof_of_page(counters + 1, self->code.run),
	};
	struct prof second[] = {
		prof_of_page(counters + 2, self->code.run),
		prof_of(counters + 3, 4, 0, 2),
	};

	ASSERT_NE(NULL, counters);
	before_on(self);
	self->several = true;
	ASSERT_EQ(0, sprofil(first, 2, NULL, PROF_UINT));
	ASSERT_TRUE(burn_counted(self, self->code.run, 10));
	ASSERT_EQ(0, sprofil(second, 2, NULL, PROF_UINT));
	EXPECT_LE(8, counters[1]);
	counters[1] = 0;
	ASSERT_TRUE(burn_counted(self, self->code.run, 20));
	ASSERT_EQ(0, finish(self));
	EXPECT_EQ(0, counters[0]);
	EXPECT_EQ(0, counters[1]);
	EXPECT_LE(5, counters[2]);
}

/* Off is off however often it is said, and it can be turned on again. */
TEST_F(semantics, sprofil_after_off)
{
	unsigned int *counters = map(PAGE);
	struct prof left_out[] = {
		prof_of(counters, 4, self->code.begin, 0),
		prof_of(counters, 4, self->code.begin, 1),
	};
	struct prof prof = prof_of_page(counters, self->code.run);
	__u64 sum;
	int i;

	ASSERT_NE(NULL, counters);
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(0, sprofil(NULL, 0, NULL, 0));
		EXPECT_EQ(0, sprofil(NULL, 0, NULL, 0));
		before_on(self);
		sum = counters[0];
		ASSERT_EQ(0, sprofil(&prof, 1, NULL, PROF_UINT));
		ASSERT_TRUE(burn_counted(self, self->code.run, 5));
		/* Nothing is left of these, and that is off too. */
		EXPECT_EQ(0, i == 1 ? sprofil(left_out, 2, NULL, PROF_UINT) :
				      sprofil(&prof, 0, NULL, PROF_UINT));
		EXPECT_LE(sum + 3, counters[0]);
		expect_off(_metadata, self, (unsigned short *)counters);
	}
}

/* The first sample after the program went from one region to another. */
TEST_F(semantics, sprofil_region_switch)
{
	unsigned int *counters = map(PAGE);
	struct prof profs[] = {
		prof_of_page(counters, hot_a),
		prof_of_page(counters + 1, hot_b),
		prof_of_page(counters + 2, hot_c),
		/* The tests' other code, and all that of the C library. */
		prof_of(counters + 8, 4, UPTR(read_loop), 65536 / (PAGE / 4)),
		prof_of(counters + 3, 4, 0, 2),
	};
	int i;

	ASSERT_NE(NULL, counters);
	before_on(self);
	self->several = true;
	ASSERT_EQ(0, sprofil(profs, ARRAY_SIZE(profs), NULL, PROF_UINT));
	for (i = 0; i < 20; i++) {
		ASSERT_TRUE(burn_samples(self, hot_a, 1));
		ASSERT_TRUE(burn_samples(self, hot_b, 1));
	}
	ASSERT_EQ(0, finish(self));
	EXPECT_LT(5, counters[0]);
	EXPECT_LT(5, counters[1]);
	/* Only what really was elsewhere: on a slow kernel, some find the questions. */
	EXPECT_GT(20, counters[3]);
}

/* The code below every region is nobody's, and harmless. */
TEST_F(semantics, sprofil_below_all_regions)
{
	unsigned int *counter = map(PAGE);
	struct prof profs[] = {
		prof_of_page(counter, self->code.run),
		prof_of_page(counter + 1, self->code.run + PAGE),
	};

	ASSERT_NE(NULL, counter);
	before_on(self);
	self->several = true;
	ASSERT_EQ(0, sprofil(profs, 2, NULL, PROF_UINT));
	ASSERT_TRUE(burn_samples(self, hot_a, 20));
	ASSERT_EQ(0, finish(self));
	EXPECT_EQ(0, *counter);
#ifndef GLIBC
	EXPECT_LE(10, self->stats.out_outside);
#endif
}

TEST_F(semantics, no_match_no_overflow_bin)
{
	unsigned short *counters = map(PAGE);
#ifndef GLIBC
	struct profil_region region = page_region(self->code.run, counters);
	struct moment first, last;
#endif

	ASSERT_NE(NULL, counters);
	before_on(self);
	ASSERT_EQ(0, profil(counters, PAGE, self->code.begin, 65536));
	ASSERT_TRUE(burn_samples(self, hot_a, 20));
	ASSERT_EQ(0, finish(self));
	EXPECT_EQ(0, counter_sum(counters, PAGE / 2, 2));
#ifndef GLIBC
	EXPECT_EQ(0, self->stats.out_in_range);
	EXPECT_LE(20, self->stats.out_outside + self->stats.out_lost_stopped);

	ASSERT_TRUE(watch(self));
	before_on(self);
	ASSERT_EQ(0, start_on(&region, 1));
	ASSERT_TRUE(take(self, &first));
	ASSERT_TRUE(burn(self->fd, hot_a, 50));
	ASSERT_TRUE(take(self, &last));
	ASSERT_EQ(0, finish(self));
	EXPECT_EQ(last.ticks - first.ticks,
		  last.stats.out_outside + last.stats.out_pending -
		  first.stats.out_outside - first.stats.out_pending);
#endif
}

#ifndef GLIBC

/*
 * A program of 32 bits: sizes, addresses and the way into the kernel differ.  None is built for
 * arm64.
 */
#ifndef __aarch64__
TEST_F(semantics, thirty_two_bit)
{
#if __SIZEOF_POINTER__ == 4
	static const struct form_case cases[] = {
		{ 65536, 0 }, { 65536, 1 << 30 }, { 3, (1U << 31) - 1 },
		{ ~0U, 2 },
	};

	EXPECT_EQ(16, sizeof(struct prof));
	check_cases(_metadata, self, &form_profil, cases, ARRAY_SIZE(cases));
#else
	static const char command[] =
		"./semantics_32 -t formula -t width_u32 -t sprofil_while_on -t thirty_two_bit 2>&1";
	FILE *program = popen(command, "re");
	char line[512];

	ASSERT_NE(NULL, program);
	while (fgets(line, sizeof(line), program))
		printf("#    %s", line);
	EXPECT_EQ(0, pclose(program))
		TH_LOG("no semantics_32? It is built where gcc -m32 works");
	EXPECT_EQ(32, sizeof(struct prof));
#endif
}
#endif

#endif

/* What only the library can refuse; and success leaves errno alone. */
TEST_F(semantics, errno_of_each_cause)
{
	unsigned int *counters = map(PAGE);
	struct prof prof = prof_of_page(counters, self->code.run);
	struct timeval tv = { -1, -1 };

	ASSERT_NE(NULL, counters);
	errno = EXFULL;
	EXPECT_EQ(0, profil((void *)counters, PAGE, self->code.begin, 65536));
	EXPECT_EQ(0, profil_off());
	EXPECT_EQ(0, sprofil(&prof, 1, &tv, PROF_UINT));
	EXPECT_EQ(EXFULL, errno);
	EXPECT_EQ(-1, sprofil(&prof, 1, NULL, 0x4000));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, sprofil(&prof, -1, NULL, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(0, tv.tv_sec);
}

/*
 * As the Linux Test Project's profil01: one counter for each byte around a
 * function that shuffles data about; but all samples must be of the function.
 */
#define SHUFFLE_BYTES	8192

static volatile int shuffled[8];

static __attribute__((noinline, aligned(64), section(".text.shuffle")))
void shuffle(unsigned long rounds)
{
	while (rounds--) {
		shuffled[1] = shuffled[0] ? -shuffled[7] : shuffled[0] / 2;
		shuffled[3] = shuffled[2] + shuffled[1] * 2;
		shuffled[5] = shuffled[4] ? shuffled[3] : shuffled[4] * 3;
		shuffled[7] = shuffled[6] - shuffled[5];
	}
}

static __attribute__((noinline, aligned(64), section(".text.shuffle")))
void shuffle_end(void)
{
	__asm__ volatile("");
}

TEST_F(semantics, ltp_profil)
{
	unsigned short *counters = map(SHUFFLE_BYTES * 2);
	size_t offset = UPTR(shuffle) - SHUFFLE_BYTES / 2;
	size_t end = UPTR(shuffle_end) - offset, i;
	__u64 inside = 0, sum;

	ASSERT_NE(NULL, counters);
	ASSERT_LT(end, SHUFFLE_BYTES);
	before_on(self);
	ASSERT_EQ(0, profil(counters, SHUFFLE_BYTES * 2, offset, 2 * 65536));
	ASSERT_TRUE(burn_counted(self, shuffle, 60));
	ASSERT_EQ(0, finish(self));
	sum = counter_sum(counters, SHUFFLE_BYTES, 2);
	for (i = 0; i < SHUFFLE_BYTES; i++) {
		if (i >= SHUFFLE_BYTES / 2 && i < end)
			inside += counters[i];
		/* The formula rounds down to an even address. */
		if (i % 2)
			EXPECT_EQ(0, counters[i]);
	}
	EXPECT_LE(40, inside);
	EXPECT_LE(sum * 8 / 10, inside);
#ifndef GLIBC
	EXPECT_EQ(self->stats.out_in_range, sum);
#endif
}

/*
 * As glibc's tst-sprofil: regions where programs are loaded on all kinds of
 * machines, and a knot of long and short ones that overlap each other; here
 * around the code itself, and so that nothing may be missing.
 */
TEST_F(semantics, glibc_tst_sprofil)
{
	static const size_t loaded[] = {
		0x00001000, 0x00010000, 0x00400000, 0x01800000, 0x08048000,
		0x80000000,
#if __SIZEOF_POINTER__ == 8
		0x0000000100000000, 0x0000000120000000, 0x4000000000000000,
		0x4000000000001000,
#endif
	};
	const struct {
		long begin;
		size_t bytes;
	} knot[] = {
		{ 0x1000, 0x1000 }, { 0x80, 0x100 }, { 0xf80, 0x100 },
		{ 0x1080, 0x100 }, { 0x1f80, 0x100 }, { 0x2080, 0x100 },
		{ 0x80, 0x2000 },
	};
	void (*const runs[])(unsigned long) = { hot_a, hot_b, spin, shuffle };
	const size_t big = 0x10000, code = UPTR(hot_a) - 0x1800;
	struct prof profs[ARRAY_SIZE(loaded) + ARRAY_SIZE(knot) + 1];
	unsigned int *counters = map(2 << 20), *next = counters;
	size_t num = 0, i;
	struct timeval tv = {};
	__u64 sum;

	ASSERT_NE(NULL, counters);
	for (i = 0; i < ARRAY_SIZE(loaded); i++, next += big / 4)
		profs[num++] = prof_of(next, big, loaded[i], 65536);
	for (i = 0; i < ARRAY_SIZE(knot); i++, next += 0x2000 / 4)
		profs[num++] = prof_of(next, knot[i].bytes,
				       code + knot[i].begin, 65536);
	profs[num++] = prof_of(next, 4, 0, 2);
	before_on(self);
	self->several = true;
	ASSERT_EQ(0, sprofil(profs, num, &tv, PROF_UINT));
	EXPECT_LT(0, period_us(&tv));
	for (i = 0; i < ARRAY_SIZE(runs); i++)
		ASSERT_TRUE(burn_samples(self, runs[i], 15));
	ASSERT_EQ(0, finish(self));
	sum = counter_sum(counters, next + 1 - counters, 4);
	EXPECT_LE(45, sum);
	/* spin() is in none of them but perhaps where programs are loaded. */
	EXPECT_LE(10, *next + counter_sum(counters, 3 * big / 4, 4));
#ifndef GLIBC
	EXPECT_EQ(self->stats.out_in_range, sum);
	EXPECT_EQ(0, self->stats.out_outside);
#endif
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--executed"))
		return executed();
	return test_harness_run(argc, argv);
}
