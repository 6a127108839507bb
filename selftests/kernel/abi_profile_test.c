// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is frozen of the interface: what is counted in a profile, and what ends it, in tables of
 * numbers.  How well that is done is tested by other programs.
 */
#include "abi.h"

/* START of what is in the table, with a region of @bytes from @offset on. */
static int start(__u32 flags, __u32 rate, __u64 offset, __u64 bytes, __u32 scale, __u32 region)
{
	fill(START, 64);
	WORD(4) = flags;
	WORD(24) = rate;
	QUAD(REGION + 8) = bytes;
	QUAD(REGION + 16) = offset;
	WORD(REGION + 24) = scale;
	WORD(REGION + 28) = region;
	return call(device, START);
}

/* One counter for the page of spin(). */
static int start_page(__u32 flags, __u32 rate, __u32 region)
{
	return start(flags, rate, UPTR(spin), 8, 32, region);
}

static int stats(void)
{
	return give(device, STATS, 0, 0);
}

/* Spins until one of the statistics is so much larger; whether the profile is on all the time. */
static bool burn_until(size_t number, __u64 more)
{
	__u64 end = 0;

	for (;;) {
		if (stats() || WORD(8) != 1)
			return false;
		end = end ?: QUAD(number) + more;
		if (QUAD(number) >= end)
			return true;
		spin(4 * HOT_ROUNDS);
	}
}

static bool burn_spin(__u64 ticks)
{
	return burn_until(16, ticks);
}

TEST_F(abi, counter_of_a_program_counter)
{
	static const struct {
		__u32 distance, scale, flags;
		__u32 counter, next;	/* of the distance, and of 4 more */
	} rows[] = {
		{ 6,      65536, 0, 3, 5 },
		{ 7,      65536, 0, 3, 5 },
		{ 7,      32768, 0, 1, 2 },
		{ 6,      21845, 0, 0, 1 },	/* no bit of 0.99998 is lost, none added */
		{ 6,      21846, 0, 1, 1 },
		{ 6,     131072, 0, 6, 10 },
		{ 2, 4294967295, 0, 65535, 196607 },
		{ 131071,     1, 0, 0, 1 },
		{ 131072,     1, 0, 1, 1 },
		{ 3,      98304, 0, 1, 4 },
		{ 3,      98304, 4, 2, 5 },	/* rounded once, as on BSD */
		{ 7,      65536, 1, 3, 5 },	/* the unit is 2 bytes for 32 bits, too, */
		{ 7,      65536, 3, 1, 2 },	/* or as many as a counter has */
		{ 7,      65536, 8, 0, 0 },	/* what is in no region */
	};
	const volatile __u32 *wide = (__u32 *)HISTOGRAM;
	const volatile __u16 *narrow = (__u16 *)HISTOGRAM;
	__u64 before = 0;	/* of all profiles so far */
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const __u32 at = rows[i].counter, next = rows[i].next;
		__u64 found;

		memset((void *)HISTOGRAM, 0, BYTES);
		ASSERT_EQ(0, start(1, 0, UPTR(spin_begin) - rows[i].distance, BYTES, rows[i].scale,
				   rows[i].flags));
		ASSERT_TRUE(burn_until(32, 20));
		ASSERT_EQ(0, give(device, STOP, 0, 0));
		ASSERT_EQ(0, stats());
		found = rows[i].flags & 1 ? wide[at] : narrow[at];
		/* The loop is one instruction, or two. */
		if (spin_end - spin_begin > 4 && next != at)
			found += rows[i].flags & 1 ? wide[next] : narrow[next];
		/* Most of what is counted is, and little of the rest of the program. */
		EXPECT_LT(QUAD(32) - before, 2 * found)
			TH_LOG("distance %u, scale %u, flags %u: %llu of %llu", rows[i].distance,
			       rows[i].scale, rows[i].flags, found, QUAD(32) - before);
		before = QUAD(32);
	}
}

TEST_F(abi, rate)
{
	const __u32 hz = self->tick_hz;
	const struct {
		const char *what;
		__u32 rate;
		__u64 period;
		__u64 least, most;	/* of 40 ticks, these are not due */
	} rows[] = {
		{ "0 is every tick",	0,  self->tick_ns,   0, 0 },
		{ "that of the tick",	hz, 1000000000 / hz, 0, 0 },
		{ "1 is once a second",	1,  1000000000,     38, ~0ULL },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ASSERT_EQ(0, start_page(0, rows[i].rate, 0));
		ASSERT_TRUE(burn_spin(40));
		ASSERT_EQ(0, stats());
		EXPECT_EQ(rows[i].rate, WORD(12)) TH_LOG("%s", rows[i].what);
		EXPECT_EQ(rows[i].period, QUAD(192)) TH_LOG("%s", rows[i].what);
		EXPECT_LE(rows[i].least, QUAD(24)) TH_LOG("%s", rows[i].what);
		EXPECT_GE(rows[i].most, QUAD(24)) TH_LOG("%s", rows[i].what);
	}
}

TEST_F(abi, width_of_counters)
{
	static const struct {
		const char *what;
		__u32 flags, before, least, most;	/* both words of 16 bits */
		bool saturated;
	} rows[] = {
		{ "16 bits",			0, 0,          1,          0xffff,     false },
		{ "16 bits stay full",		0, 0xfffe,     0xffff,     0xffff,     true },
		{ "32 bits",			1, 0xffff,     0x10000,    0xfffffffe, false },
		{ "32 bits stay full",		1, 0xfffffffe, 0xffffffff, 0xffffffff, true },
	};
	volatile __u32 *counter = (__u32 *)HISTOGRAM;
	__u64 before = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		*counter = rows[i].before;
		ASSERT_EQ(0, start_page(0, 0, rows[i].flags));
		ASSERT_TRUE(burn_spin(20));
		ASSERT_EQ(0, give(device, STOP, 0, 0));
		ASSERT_EQ(0, stats());
		EXPECT_LE(rows[i].least, *counter) TH_LOG("%s", rows[i].what);
		EXPECT_GE(rows[i].most, *counter) TH_LOG("%s", rows[i].what);
		EXPECT_EQ(rows[i].saturated, QUAD(48) > before) TH_LOG("%s", rows[i].what);
		before = QUAD(48);
	}
}

/* Of a profile that is on, STATS has a state; not of one whose anchor is gone. */
TEST_F(abi, what_ends_a_profile)
{
	static const struct {
		const char *what;
		__u32 nr, at, value;
		int answer, state;
	} rows[] = {
		{ "STOP",			STOP,  0, 0, 0, 0 },
		{ "STOP of another",		STOP,  12, 1, -ESTALE, 1 },
		{ "START",			START, 0, 0, 0, 1 },
		{ "START of no region",		START, 8, 0, 0, 0 },
		{ "START of scale 0",		START, REGION + 24, 0, 0, 0 },
		{ "START of no memory",		START, REGION, NOWHERE, -ENXIO, 0 },
		{ "START of an odd place",	START, REGION, HISTOGRAM + 1, -EINVAL, 1 },
		{ "START of an unknown flag",	START, 4, 4, -EOPNOTSUPP, 1 },
		{ "START of a rate too high",	START, 24, ~0U, -EOPNOTSUPP, 1 },
		{ "START of regions nowhere",	START, 16, NOWHERE, -EFAULT, 1 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ASSERT_EQ(0, start_page(0, 0, 0));
		EXPECT_EQ(rows[i].answer, give(device, rows[i].nr, rows[i].at, rows[i].value))
			TH_LOG("%s", rows[i].what);
		ASSERT_EQ(0, stats());
		EXPECT_EQ(rows[i].state, WORD(8)) TH_LOG("%s", rows[i].what);
	}
	/* Not the end of the descriptor. */
	ASSERT_EQ(0, start_page(0, 0, 0));
	close(device);
	device = open("/dev/profil", O_RDONLY | O_CLOEXEC);
	EXPECT_TRUE(burn_spin(5));
	ASSERT_EQ(0, munmap((void *)HISTOGRAM, BYTES));
	EXPECT_FALSE(burn_spin(50));
	EXPECT_EQ(2, WORD(8));
	EXPECT_EQ(HISTOGRAM, QUAD(152));
	/* The anchor is one page of the device's. */
	ASSERT_EQ(0, give(device, START, REGION + 8, 0));
	EXPECT_EQ(find_anchor(NULL), QUAD(48));
	EXPECT_NE(0, QUAD(56));
	ASSERT_EQ(0, munmap((void *)(long)QUAD(48), PAGE));
	EXPECT_EQ(-ENOENT, stats());
}

/* What a forked child, and the program that it executes, find of the parent's profile. */
TEST_F(abi, fork_and_exec)
{
	static const struct {
		const char *what;
		__u32 flags;
		bool exec;
		int answer;
	} rows[] = {
		{ "fork",			0, false, 0 },
		{ "fork, not inherited",	2, false, ENOENT },
		{ "exec",			0, true,  ENOENT },
	};
	__u64 cookie;
	size_t i;
	pid_t pid;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ASSERT_EQ(0, start_page(rows[i].flags, 0, 0));
		cookie = QUAD(56);
		ASSERT_TRUE(burn_spin(100));
		pid = fork();
		if (!pid && rows[i].exec) {
			execl("/proc/self/exe", "abi_profile_test", "--stats", NULL);
			_exit(127);
		}
		if (!pid && stats())
			_exit(ENOENT);
		/* The same profile, whose counts begin at 0. */
		if (!pid)
			_exit(WORD(8) == 1 && QUAD(184) == cookie && QUAD(16) < 100 ? 0 : 1);
		EXPECT_EQ(rows[i].answer, wait_for(pid)) TH_LOG("%s", rows[i].what);
	}
}

int main(int argc, char **argv)
{
	if (argc != 2 || strcmp(argv[1], "--stats"))
		return test_harness_run(argc, argv);
	mmap((void *)ARG, REGION + PAGE, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	device = open("/dev/profil", O_RDONLY | O_CLOEXEC);
	return -stats();
}
