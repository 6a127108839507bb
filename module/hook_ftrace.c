// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hook by function entry: the cheapest.  Built where the kernel has
 * DYNAMIC_FTRACE.
 *
 * To unregister what lies in a module waits, with the lock that loading any module
 * needs, until each thread has slept or been ticked in user mode.  Some thread may
 * do neither for hours, and any user have us disarmed.  So that is for module exit;
 * until then the entry of another function is hooked, which nobody calls.
 */
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/string.h>
#include <linux/profil.h>

#include "profil.h"
#include "tick.h"

static notrace void profil_ftrace_entry(unsigned long ip,
					unsigned long parent_ip,
					struct ftrace_ops *ops,
					struct ftrace_regs *fregs)
{
	profil_hook_tick(&profil_hook_ftrace);
}

/* Under profil_hook_mutex. */
static struct ftrace_ops profil_ftrace_ops;
static bool profil_ftrace_registered;

static noinline void profil_ftrace_parked(void)
{
	barrier();
}

/*
 * By address: a filter by name is matched against all functions there are.  The
 * probe that finds it is never armed: to disarm it might fail, and leave it.
 */
static int profil_ftrace_aim(void)
{
	struct kprobe probe = {
		.symbol_name = "update_process_times",
		.flags = KPROBE_FLAG_DISABLED,
	};
	int err = register_kprobe(&probe);

	if (err)
		return err;
	unregister_kprobe(&probe);
	return ftrace_set_filter_ip(&profil_ftrace_ops,
				    (unsigned long)probe.addr, 0, 1);
}

static int profil_ftrace_register(void)
{
	int err;

	/* Freeing the filter leaves pointers to it, so begin anew each time. */
	memset(&profil_ftrace_ops, 0, sizeof(profil_ftrace_ops));
	/* Not FL_PERMANENT: root's kernel.ftrace_enabled=0 must not fail. */
	profil_ftrace_ops.func = profil_ftrace_entry;
	err = profil_ftrace_aim();
	if (!err)
		err = register_ftrace_function(&profil_ftrace_ops);
	if (err)
		ftrace_free_filter(&profil_ftrace_ops);
	profil_ftrace_registered = !err;
	return err;
}

static int profil_ftrace_arm(void)
{
	return profil_ftrace_registered ? profil_ftrace_aim() :
					  profil_ftrace_register();
}

static void profil_ftrace_release(void)
{
	if (!profil_ftrace_registered)
		return;
	unregister_ftrace_function(&profil_ftrace_ops);
	ftrace_free_filter(&profil_ftrace_ops);
	profil_ftrace_registered = false;
}

static void profil_ftrace_disarm(void)
{
	if (ftrace_set_filter_ip(&profil_ftrace_ops,
				 (unsigned long)profil_ftrace_parked, 0, 1))
		profil_ftrace_release();
}

const struct profil_hook profil_hook_ftrace = {
	.id	 = PROFIL_HOOK_FTRACE,
	.name	 = "ftrace",
	.arm	 = profil_ftrace_arm,
	.disarm	 = profil_ftrace_disarm,
	.release = profil_ftrace_release,
};
