// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hook by function entry: the cheapest.  Built where the kernel has
 * DYNAMIC_FTRACE.
 */
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/string.h>

#include "hot.h"

static notrace void profil_ftrace_entry(unsigned long ip,
					unsigned long parent_ip,
					struct ftrace_ops *ops,
					struct ftrace_regs *fregs)
{
	profil_hook_tick(&profil_hook_ftrace);
}

static struct ftrace_ops profil_ftrace_ops;

/*
 * By address: a filter by name is matched against all functions there are.  The
 * probe that finds it is never armed: to disarm it might fail, and leave it.
 */
static int profil_ftrace_filter(void)
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

static int profil_ftrace_arm(void)
{
	int err;

	/* Freeing the filter leaves pointers to it, so begin anew each time. */
	memset(&profil_ftrace_ops, 0, sizeof(profil_ftrace_ops));
	/* Not FL_PERMANENT: root's kernel.ftrace_enabled=0 must not fail. */
	profil_ftrace_ops.func = profil_ftrace_entry;
	err = profil_ftrace_filter();
	if (!err)
		err = register_ftrace_function(&profil_ftrace_ops);
	if (err)
		ftrace_free_filter(&profil_ftrace_ops);
	return err;
}

static void profil_ftrace_disarm(void)
{
	unregister_ftrace_function(&profil_ftrace_ops);
	ftrace_free_filter(&profil_ftrace_ops);
}

const struct profil_hook profil_hook_ftrace = {
	.id	= PROFIL_HOOK_FTRACE,
	.name	= "ftrace",
	.arm	= profil_ftrace_arm,
	.disarm	= profil_ftrace_disarm,
};
