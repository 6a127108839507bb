// SPDX-License-Identifier: GPL-2.0-only
/*
 * A mistake in a library that reads ELF, DWARF or code may let a file have its reader do what the
 * file wants.  Such a reader can read what its user can, for separate debug files and libraries
 * are opened later; what it learns it can tell nobody but the command.  Each step is taken where
 * the kernel, or who started the command, allows it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "sandbox.h"

#define NOBODY 65534
#define READ_ALL (1u << CAP_DAC_READ_SEARCH)
#define RULES 256

/* Of root's rights one stays: debug files may lie in folders of others. */
static void drop_rights(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct now[2] = { 0 }, kept[2] = { 0 };

	/* fails for the root of a namespace in which there is nobody else */
	if (!geteuid()) {
		prctl(PR_SET_KEEPCAPS, 1);
		syscall(SYS_setgroups, 0, NULL);
		syscall(SYS_setresgid, NOBODY, NOBODY, NOBODY);
		syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY);
	}
	if (syscall(SYS_capget, &head, now))
		return;
	kept[0].permitted = now[0].permitted & READ_ALL;
	kept[0].effective = kept[0].permitted;
	/* who has no more than that may be where even to ask ends a process */
	if (now[0].permitted != kept[0].permitted || now[1].permitted || now[0].inheritable ||
	    now[1].inheritable || now[0].effective != kept[0].effective)
		syscall(SYS_capset, &head, kept);
}

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef ARCH

/* What reading, memory, libraries that are loaded, and the way of a process to its end take. */
static const int allowed[] = {
#ifdef SYS_open
	SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_time,
#endif
#ifdef SYS_faccessat2
	SYS_faccessat2,
#endif
	SYS_read, SYS_pread64, SYS_readv, SYS_write, SYS_pwrite64, SYS_writev, SYS_lseek,
	SYS_close, SYS_dup, SYS_fstat, SYS_newfstatat, SYS_statx, SYS_faccessat, SYS_readlinkat,
	SYS_getcwd, SYS_getdents64, SYS_fadvise64, SYS_recvmsg,
	SYS_mmap, SYS_munmap, SYS_mprotect, SYS_mremap, SYS_madvise, SYS_brk,
	SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_sigaltstack,
	SYS_futex, SYS_getrandom, SYS_sched_yield, SYS_sched_getaffinity,
	SYS_clock_gettime, SYS_gettimeofday, SYS_nanosleep, SYS_clock_nanosleep,
	SYS_getrlimit, SYS_getrusage, SYS_uname, SYS_sysinfo,
	SYS_getpid, SYS_gettid, SYS_getppid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid,
	SYS_restart_syscall, SYS_exit, SYS_exit_group,
};

/* Calls of which a number may have none of these bits. */
static const struct masked {
	int call, number;
	uint32_t bits;
} masked[] = {
#ifdef SYS_open
	{ SYS_open, 1, O_ACCMODE | O_CREAT | O_TRUNC },
#endif
	{ SYS_openat, 2, O_ACCMODE | O_CREAT | O_TRUNC },
	{ SYS_fcntl, 1, ~3u },		/* no flags and locks that others have, too, no signals */
	{ SYS_prlimit64, 0, ~0u },	/* no limits of others */
};

struct filter {
	struct sock_filter rules[RULES];
	unsigned short num;
};

static void rule(struct filter *filter, uint16_t code, uint32_t k, uint8_t yes, uint8_t no)
{
	filter->rules[filter->num++] = (struct sock_filter) { code, yes, no, k };
}

static void answer(struct filter *filter, uint32_t how)
{
	rule(filter, BPF_RET | BPF_K, how, 0, 0);
}

static void look_at(struct filter *filter, size_t offset)
{
	rule(filter, BPF_LD | BPF_W | BPF_ABS, offset, 0, 0);
}

/* Both machines have the lower half of a number first. */
static void drop_calls(void)
{
	struct filter filter = { .num = 0 };
	struct sock_fprog program = { .filter = filter.rules };

	look_at(&filter, offsetof(struct seccomp_data, arch));
	rule(&filter, BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0);
	answer(&filter, SECCOMP_RET_KILL_PROCESS);
	look_at(&filter, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < sizeof(allowed) / sizeof(*allowed); i++) {
		rule(&filter, BPF_JMP | BPF_JEQ | BPF_K, allowed[i], 0, 1);
		answer(&filter, SECCOMP_RET_ALLOW);
	}
	for (size_t i = 0; i < sizeof(masked) / sizeof(*masked); i++) {
		rule(&filter, BPF_JMP | BPF_JEQ | BPF_K, masked[i].call, 0, 4);
		look_at(&filter, offsetof(struct seccomp_data, args[masked[i].number]));
		rule(&filter, BPF_JMP | BPF_JSET | BPF_K, masked[i].bits, 1, 0);
		answer(&filter, SECCOMP_RET_ALLOW);
		answer(&filter, SECCOMP_RET_ERRNO | EPERM);
	}
	answer(&filter, SECCOMP_RET_ERRNO | EPERM);
	program.len = filter.num;
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

#else

static void drop_calls(void)
{
}

#endif /* ARCH */

void sandbox_enter(void)
{
	const struct rlimit none = { 0, 0 };

	drop_rights();
	setrlimit(RLIMIT_NPROC, &none);
	/* a process that becomes another user's forgets it */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	drop_calls();
}
