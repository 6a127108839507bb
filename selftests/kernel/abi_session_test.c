// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is frozen of the interface: what is mapped of a session, in tables of numbers, and whom
 * it counts.  How well that is done is tested by other programs.
 */
#include "abi.h"

/* What is mapped, @at bytes from @from on. */
#define MAPPED(type, from, at)	(*(const volatile type *)((const char *)(from) + (at)))

/* The session that was made by the last command, which is still in ARG. */
static const char *map(void)
{
	return mmap(NULL, QUAD(32), PROT_READ, MAP_SHARED, own, 0);
}

TEST_F(abi, mapping_of_a_session)
{
	static const struct {
		const char *what;
		__u32 at, value;
	} rows[] = {
		{ "bytes of the page", 0, 184 }, { "version", 4, 1 },
		{ "bytes of a slot", 32, 32 }, { "slots", 36, 1024 },
		{ "bytes of a row", 40, 56 }, { "rows", 44, 16 },
		{ "bytes of an entry", 48, 24 }, { "entries", 52, 16 },
		{ "state", 56, 1 }, { "members", 60, 1 }, { "rows that are used", 64, 2 },
	};
	const char *page = map(), *row, *slot, *entry;
	struct pollfd pollfd = { .fd = own };
	__u64 place = hot_place() + UPTR(spin_begin) - UPTR(hot_a);
	__u32 object = 0;
	struct stat file;
	__u64 user = 0;
	pid_t pid;
	size_t i;

	ASSERT_NE(MAP_FAILED, page);
	EXPECT_EQ(0, poll(&pollfd, 1, 0));
	EXPECT_EQ(-1, read(own, &file, 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, PAGE, PROT_WRITE, MAP_SHARED, own, 0));
	EXPECT_EQ(EACCES, errno);
	pid = fork();
	if (!pid && give(own, JOIN, 0, 0))
		_exit(1);
	while (!pid)
		spin(HOT_ROUNDS);
	row = page + MAPPED(__u64, page, 16) + 56;
	slot = page + MAPPED(__u64, page, 8);
	while (MAPPED(__u64, row, 32) < 20)
		usleep(5000);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		EXPECT_EQ(rows[i].value, MAPPED(__u32, page, rows[i].at))
			TH_LOG("%s", rows[i].what);
	}
	EXPECT_EQ(pid, MAPPED(__s32, row, 0));
	EXPECT_EQ(0, MAPPED(__u32, row, 4));
	EXPECT_EQ(1, MAPPED(__u32, row, 12));
	EXPECT_STREQ("abi_session_tes", row + 16);
	for (i = 0; i < 1024; i++, slot += 32) {
		/* The loop is one instruction, or two. */
		if (MAPPED(__u32, slot, 24) < 6 || MAPPED(__u64, slot, 0) - place > 4)
			continue;
		object = MAPPED(__u32, slot, 24);
		user += MAPPED(__u64, slot, 8);
	}
	EXPECT_LT(4, user);
	ASSERT_EQ(0, give(own, OBJECT, 8, object));
	ASSERT_EQ(0, fstat(WORD(12), &file));
	entry = page + MAPPED(__u64, page, 24) + 24 * object;
	EXPECT_EQ(file.st_ino, MAPPED(__u64, entry, 8));
	EXPECT_EQ(1, MAPPED(__u32, entry, 20));
	kill(pid, SIGKILL);
	EXPECT_EQ(-SIGKILL, wait_for(pid));
	EXPECT_EQ(1, poll(&pollfd, 1, -1));
	EXPECT_EQ(POLLHUP, pollfd.revents);
	EXPECT_EQ(2, MAPPED(__u32, row, 12));
	EXPECT_EQ(0, give(own, STOP, 0, 0));
	EXPECT_EQ(2, MAPPED(__u32, page, 56));
	/* What only sessions of the whole machine have. */
	for (i = 144; i < 184; i += 8) {
		EXPECT_EQ(0, MAPPED(__u64, page, i))
			TH_LOG("offset %zu", i);
	}
}

TEST_F(abi, children_and_programs_of_members)
{
	static const struct {
		const char *what;
		__u32 flags, rows, images;
	} rows[] = {
		{ "inherited",		0, 3, 1 },
		{ "not inherited",	1, 2, 1 },
	};
	const char *page;
	size_t i;
	pid_t pid;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		own = session(rows[i].flags);
		ASSERT_LE(0, own);
		page = map();
		pid = fork();
		if (!pid && !give(own, JOIN, 0, 0) && fork())
			execl("/proc/self/exe", "abi_session_test", "--exit", NULL);
		if (!pid)
			_exit(1);
		EXPECT_EQ(0, wait_for(pid));
		EXPECT_EQ(rows[i].rows, MAPPED(__u32, page, 64)) TH_LOG("%s", rows[i].what);
		page += MAPPED(__u64, page, 16) + 56;
		EXPECT_EQ(rows[i].images, MAPPED(__u32, page, 8)) TH_LOG("%s", rows[i].what);
	}
}

int main(int argc, char **argv)
{
	return argc == 2 && !strcmp(argv[1], "--exit") ? 0 : test_harness_run(argc, argv);
}
