// SPDX-License-Identifier: GPL-2.0-only
/*
 * What no profiler by the same means can go below: an empty hook on the tick,
 * and one that increments a word of user memory and does nothing else.
 */
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <asm/futex.h>

static char *floor_hook = "ftrace";
module_param_named(hook, floor_hook, charp, 0444);
MODULE_PARM_DESC(hook, "ftrace or kprobe");

static bool floor_bumps;
module_param_named(bump, floor_bumps, bool, 0444);
MODULE_PARM_DESC(bump, "increment a word; else do nothing");

static int floor_pid;
module_param_named(pid, floor_pid, int, 0644);
MODULE_PARM_DESC(pid, "whose word is incremented");

static unsigned long floor_addr;
module_param_named(addr, floor_addr, ulong, 0644);
MODULE_PARM_DESC(addr, "of the word");

static void floor_bump(void)
{
	u32 __user *word = (u32 __user *)floor_addr;
	u32 value, seen;

	pagefault_disable();
	if (!__get_user(value, word))
		futex_atomic_cmpxchg_inatomic(&seen, word, value, value + 1);
	pagefault_enable();
}

static void floor_ftrace_empty(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
}

static void floor_ftrace(unsigned long ip, unsigned long parent_ip,
			 struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	if (current->pid == floor_pid)
		floor_bump();
}

static int floor_kprobe_empty(struct kprobe *probe, struct pt_regs *regs)
{
	return 0;
}

static int floor_kprobe(struct kprobe *probe, struct pt_regs *regs)
{
	if (current->pid == floor_pid)
		floor_bump();
	return 0;
}

static struct ftrace_ops floor_ops = { .func = floor_ftrace_empty };
static struct kprobe floor_probe = {
	.symbol_name = "update_process_times",
	.pre_handler = floor_kprobe_empty,
};

static int __init floor_init(void)
{
	int err;

	if (floor_bumps) {
		floor_ops.func = floor_ftrace;
		floor_probe.pre_handler = floor_kprobe;
	}
	if (!strcmp(floor_hook, "kprobe"))
		return register_kprobe(&floor_probe);
	err = ftrace_set_filter(&floor_ops, "update_process_times",
				strlen("update_process_times"), 1);
	return err ? err : register_ftrace_function(&floor_ops);
}

static void __exit floor_exit(void)
{
	if (!strcmp(floor_hook, "kprobe"))
		unregister_kprobe(&floor_probe);
	else
		unregister_ftrace_function(&floor_ops);
}

module_init(floor_init);
module_exit(floor_exit);
MODULE_LICENSE("GPL");
MODULE_AUTHOR("The profil founders");
MODULE_DESCRIPTION("the least that a hook on the tick can cost");
