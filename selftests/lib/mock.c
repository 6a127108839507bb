// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stands in for open, ioctl, fstat, fcntl, close, mmap, munmap, madvise, msync, writev
 * and secure_getenv: ld --wrap sends them here.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include "mock.h"
#include "tap.h"

int __wrap_open(const char *path, int flags, ...);
int __wrap_ioctl(int fd, unsigned long cmd, void *arg);
int __wrap_fstat(int fd, struct stat *status);
int __wrap_fcntl(int fd, int cmd, ...);
int __wrap_close(int fd);
int __wrap_madvise(void *at, size_t len, int advice);
int __wrap_msync(void *at, size_t len, int flags);
void *__wrap_mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset);
int __wrap_munmap(void *at, size_t len);
ssize_t __wrap_writev(int fd, const struct iovec *iov, int num);

char *__wrap_secure_getenv(const char *name);

void *__real_mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset);
int __real_munmap(void *at, size_t len);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct mock_step *expected;
static size_t left;
static bool any;
static bool no_memory;
static bool set_user_id;
static bool failed;
static int opened;
static int kept;
static bool started;		/* since the last descriptor was closed */
static int anchor_errors[2];
static bool anchored;
static uintptr_t anchor = MOCK_ANCHOR;	/* of the next one that is made, or this one */
static __u64 cookies;
static bool counting;
static void (*_Atomic hooks[MOCK_POINTS])(void);
static size_t mapped;
static int last_error;
static char text[4096];

void mock_expect(const struct mock_step *steps, size_t num)
{
	expected = steps;
	left = num;
	any = false;
}

void mock_expect_any(void)
{
	left = 0;
	any = true;
}

bool mock_done(void)
{
	if (left)
		return tap_fail("%zu expected calls were not made", left);
	if (opened)
		return tap_fail("%d descriptors are not closed", opened);
	if (kept != started)
		return tap_fail("%d descriptors are kept", kept);
	if (mapped)
		return tap_fail("%zu bytes are not unmapped", mapped);
	return !failed;
}

bool mock_keeps(void)
{
	return kept;
}

bool mock_has_anchor(void)
{
	return anchored;
}

void mock_anchor_errors(int madvise_error, int msync_error)
{
	anchor_errors[0] = madvise_error;
	anchor_errors[1] = msync_error;
}

void mock_move_anchor(void)
{
	anchor = MOCK_ANCHOR + MOCK_PAGE;
}

bool mock_counts(void)
{
	return counting;
}

void mock_at(enum mock_point point, void (*hook)(void))
{
	atomic_store(&hooks[point], hook);
}

/* Without the lock, for it may give commands. */
static void run_hook(enum mock_point point)
{
	void (*hook)(void);

	hook = atomic_exchange(&hooks[point], NULL);
	if (hook)
		hook();
}

void mock_close_all(void)
{
	kept = 0;
	started = false;
}

const char *mock_stderr(void)
{
	static char last[sizeof(text)];

	memcpy(last, text, sizeof(text));
	text[0] = 0;
	return last;
}

void mock_no_memory(void)
{
	no_memory = true;
}

void mock_set_user_id(void)
{
	set_user_id = true;
}

bool mock_is_stop(void *arg)
{
	struct profil_ioc_stop *stop = arg;

	TAP_CHECK(stop->size == sizeof(*stop));
	TAP_CHECK(stop->flags == 0);
	return true;
}

static bool query_at(void *arg, unsigned int hz)
{
	struct profil_ioc_query *query = arg;

	TAP_CHECK(query->size == sizeof(*query));
	TAP_CHECK(query->flags == 0);
	query->out_tick_hz = hz;
	query->out_tick_ns = (1000000000 + hz / 2) / hz;	/* as TICK_NSEC is */
	query->out_regions_max = MOCK_REGIONS_MAX;
	query->out_timer_rate_max = 10000;
	return true;
}

bool mock_query_100(void *arg)
{
	return query_at(arg, 100);
}

bool mock_query_250(void *arg)
{
	return query_at(arg, 250);
}

bool mock_query_300(void *arg)
{
	return query_at(arg, 300);
}

bool mock_query_1000(void *arg)
{
	return query_at(arg, 1000);
}

static bool wrong(const char *what, unsigned long cmd)
{
	failed = true;
	return tap_fail("unexpected %s, command %#lx", what, cmd);
}

/* Each of these is a cancellation point, and leaves dirt in errno. */
static void enter(void)
{
	pthread_testcancel();
	pthread_mutex_lock(&lock);
}

static int leave(int err)
{
	pthread_mutex_unlock(&lock);
	errno = err ? err : MOCK_ERRNO;
	return err ? -1 : 0;
}

int __wrap_open(const char *path, int flags, ...)
{
	int err = 0;

	enter();
	if (strcmp(path, "/dev/profil") || flags != (O_RDONLY | O_CLOEXEC))
		wrong("arguments of open()", 0);
	if (!any && (!left || opened))
		wrong("open()", 0);
	if (left && !expected->cmd) {
		err = expected++->err;
		left--;
	}
	opened += !err;
	return leave(err) ? -1 : MOCK_FD;
}

static bool is_open(int fd)
{
	return (fd == MOCK_FD && opened) || (fd == MOCK_KEPT && kept);
}

static void begin(struct profil_ioc_start *start)
{
	started = true;
	start->out_anchor = 0;
	start->out_cookie = ++cookies;
	if (start->region_num) {
		anchored = true;
		start->out_anchor = anchor;
	}
	counting = start->region_num;
}

int __wrap_ioctl(int fd, unsigned long cmd, void *arg)
{
	int err = 0;

	enter();
	if (!is_open(fd))
		wrong("descriptor", cmd);
	if (any && cmd == PROFIL_IOC_QUERY)
		mock_query_250(arg);
	if (!any && (!left || expected->cmd != cmd)) {
		wrong("ioctl()", cmd);
		err = EIO;
	} else if (!any) {
		if (expected->check && !expected->check(arg))
			failed = true;
		err = expected++->err;
		left--;
	}
	if (cmd == PROFIL_IOC_START && !err)
		begin(arg);
	if (cmd == PROFIL_IOC_STOP && !err)
		counting = false;
	last_error = err;
	leave(err);
	if (cmd == PROFIL_IOC_START && !err)
		run_hook(MOCK_STARTED);
	if (cmd == PROFIL_IOC_STOP && !err)
		run_hook(MOCK_STOPPED);
	errno = err ? err : MOCK_ERRNO;
	return err ? -1 : 0;
}

int __wrap_fstat(int fd, struct stat *status)
{
	int err;

	enter();
	err = is_open(fd) ? 0 : EBADF;
	if (!err)
		*status = (struct stat) { .st_mode = S_IFCHR, .st_rdev = 0x1234 };
	return leave(err);
}

/* The limit of descriptors is between 500 and 1000. */
int __wrap_fcntl(int fd, int cmd, ...)
{
	va_list args;
	int from, err;

	enter();
	va_start(args, cmd);
	from = va_arg(args, int);
	va_end(args);
	if (!is_open(fd) || cmd != F_DUPFD_CLOEXEC)
		wrong("fcntl()", 0);
	err = from > 500 ? EINVAL : 0;
	kept += !err;
	return leave(err) ? -1 : MOCK_KEPT;
}

int __wrap_close(int fd)
{
	int err;

	enter();
	if (!is_open(fd))
		wrong("close()", 0);
	if (fd == MOCK_FD)
		opened--;
	else if (!--kept)
		started = false;
	/* What went wrong before is what counts. */
	err = last_error ? EIO : 0;
	return leave(err);
}

void *__wrap_mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
	void *map;

	if (no_memory) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	map = __real_mmap(at, len, prot, flags, fd, offset);
	pthread_mutex_lock(&lock);
	mapped += map == MAP_FAILED ? 0 : len;
	pthread_mutex_unlock(&lock);
	return map;
}

static bool is_anchor_address(void *at)
{
	return at == (void *)MOCK_ANCHOR || at == (void *)(MOCK_ANCHOR + MOCK_PAGE);
}

/* What the kernel says of an anchor. */
int __wrap_madvise(void *at, size_t len, int advice)
{
	int err = anchor_errors[0];

	enter();
	if (!is_anchor_address(at) || len != MOCK_PAGE || advice != MADV_COLD)
		wrong("madvise()", 0);
	if (!err)
		err = anchored && at == (void *)anchor ? EINVAL : ENOMEM;
	return leave(err < 0 ? 0 : err);
}

int __wrap_msync(void *at, size_t len, int flags)
{
	enter();
	if (!is_anchor_address(at) || len != MOCK_PAGE || flags != MS_INVALIDATE)
		wrong("msync()", 0);
	leave(anchor_errors[1]);
	run_hook(MOCK_UNMAPS);
	errno = anchor_errors[1];
	return anchor_errors[1] ? -1 : 0;
}

static int unmap_anchor(void *at, size_t len)
{
	enter();
	if (!anchored || at != (void *)anchor || len != MOCK_PAGE)
		wrong("munmap()", 0);
	anchored = false;
	counting = false;
	return leave(0);
}

int __wrap_munmap(void *at, size_t len)
{
	if (is_anchor_address(at))
		return unmap_anchor(at, len);
	pthread_mutex_lock(&lock);
	mapped -= len;
	pthread_mutex_unlock(&lock);
	return __real_munmap(at, len);
}

ssize_t __wrap_writev(int fd, const struct iovec *iov, int num)
{
	ssize_t len = 0;

	enter();
	if (fd != STDERR_FILENO)
		failed = true;
	for (int i = 0; i < num; i++) {
		strncat(text, iov[i].iov_base, iov[i].iov_len);
		len += iov[i].iov_len;
	}
	pthread_mutex_unlock(&lock);
	return len;
}

char *__wrap_secure_getenv(const char *name)
{
	return set_user_id ? NULL : getenv(name);
}
