/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interface in numbers, for the programs that say what of it is frozen.  They use no name
 * of linux/profil.h: a meaning that is changed in the header and in the module at once is
 * noticed there.
 */
#ifndef ABI_H
#define ABI_H

#include "session.h"	/* its code at known addresses, and helpers without a command */

/* Where the structure of a command is, its region from there on, and the histogram. */
#define ARG		0x20000000UL
#define REGION		0x2000
#define HISTOGRAM	0x10000000UL
#define NOWHERE		0x30000000
#define BYTES		(1UL << 20)

#define WORD(at)	(*(volatile __u32 *)(ARG + (at)))
#define QUAD(at)	(*(volatile __u64 *)(ARG + (at)))

enum {
	QUERY = 0xb900, START, STOP, STATS, SESSION, JOIN, ATTACH, OBJECT,
};

enum on { DEVICE, OWN, ROOTS };	/* the device, a session, one that root made */

struct word {
	__u32 at, value;
};

/* The first version of each command, which later kernels take as well. */
static const struct command {
	const char *name;
	enum on on;
	__u32 nr, bytes, flags, reserved;	/* known bits; where a word is that must be 0 */
	int answer;				/* of a process that did nothing before */
	bool writes;
	int other;				/* with the other kind of descriptor */
} commands[] = {
	{ "QUERY",   DEVICE, QUERY,    64, 0x00,  0, 0,       true,  -ENOTTY },
	{ "START",   DEVICE, START,    64, 0x03, 36, 0,       true,  -ENOTTY },
	{ "STOP",    DEVICE, STOP,     16, 0x00,  0, 0,       false, 0 },
	{ "STATS",   DEVICE, STATS,   200, 0x00,  0, -ENOENT, true,  -ENOTTY },
	{ "SESSION", DEVICE, SESSION,  48, 0x1f, 44, 0,       true,  -EINVAL },
	{ "JOIN",    OWN,    JOIN,      8, 0x00,  0, 0,       false, -ENOTTY },
	{ "ATTACH",  OWN,    ATTACH,   16, 0x00, 12, -EPERM,  false, -ENOTTY },
	{ "OBJECT",  OWN,    OBJECT,   32, 0x00,  0, -ENOENT, true,  -ENOTTY },
};

/* What they need beside their size. */
static const struct {
	__u32 nr;
	struct word word;
} needs[] = {
	{ START, { 8, 1 } }, { START, { 12, 32 } }, { START, { 16, ARG + REGION } },
	{ START, { REGION, HISTOGRAM } }, { START, { REGION + 8, 8 } },
	{ START, { REGION + 24, 65536 } },
	{ SESSION, { 8, 1024 } }, { SESSION, { 12, 16 } }, { SESSION, { 16, 16 } },
	{ ATTACH, { 8, 1 } },
};

static int device, own, roots;

static inline int call(int fd, __u32 nr)
{
	return ioctl(fd, nr, ARG) ? -errno : 0;
}

static inline void fill(__u32 nr, __u32 bytes)
{
	size_t i;

	memset((void *)ARG, 0, REGION + PAGE);
	WORD(0) = bytes;
	for (i = 0; i < ARRAY_SIZE(needs); i++)
		if (needs[i].nr == nr)
			WORD(needs[i].word.at) = needs[i].word.value;
}

/* The command as it is in the table, with one more word. */
static inline int give(int fd, __u32 nr, __u32 at, __u32 value)
{
	fill(nr, commands[nr - QUERY].bytes);
	if (at)
		WORD(at) = value;
	return call(fd, nr);
}

static inline int session(__u32 flags)
{
	return give(device, SESSION, 4, flags) ? -1 : (int)WORD(40);
}

FIXTURE(abi) {
	__u64 tick_ns;
	__u32 tick_hz;
};

FIXTURE_SETUP(abi)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;

	if (geteuid())
		SKIP(return, "only root can make what another user may not have");
	ASSERT_EQ(ARG, UPTR(mmap((void *)ARG, REGION + PAGE, 3, flags, -1, 0)));
	ASSERT_EQ(HISTOGRAM, UPTR(mmap((void *)HISTOGRAM, BYTES, 3, flags, -1, 0)));
	device = open("/dev/profil", O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, device);
	roots = session(0);
	ASSERT_LE(0, roots);
	ASSERT_EQ(0, setgid(1000) || setuid(1000));
	close(device);
	device = open("/dev/profil", O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, device);
	ASSERT_EQ(0, give(device, QUERY, 0, 0));
	self->tick_ns = QUAD(16);
	self->tick_hz = WORD(24);
	own = session(0);
	ASSERT_LE(0, own);
}

FIXTURE_TEARDOWN(abi)
{
}

#endif /* ABI_H */
