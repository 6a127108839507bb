// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hook by a probe on the tick.
 */
#include <linux/kprobes.h>
#include <linux/string.h>
#include <linux/profil.h>

#include "profil.h"
#include "tick.h"

static int profil_kprobe_entry(struct kprobe *probe, struct pt_regs *regs)
{
	profil_hook_tick(&profil_hook_kprobe);
	return 0;
}

static struct kprobe profil_kprobe;

static int profil_kprobe_arm(void)
{
	int err;

	/* A struct kprobe keeps state that registering it again trips over. */
	memset(&profil_kprobe, 0, sizeof(profil_kprobe));
	profil_kprobe.symbol_name = "update_process_times";
	profil_kprobe.pre_handler = profil_kprobe_entry;
	err = register_kprobe(&profil_kprobe);
	/*
	 * A breakpoint is an NMI to the kernel, but on arm64: its handler must not wait for a
	 * lock.
	 */
	if (!err && !IS_ENABLED(CONFIG_ARM64) && !kprobe_ftrace(&profil_kprobe)) {
		unregister_kprobe(&profil_kprobe);
		err = -EOPNOTSUPP;
	}
	return err;
}

static void profil_kprobe_disarm(void)
{
	unregister_kprobe(&profil_kprobe);
}

const struct profil_hook profil_hook_kprobe = {
	.id	= PROFIL_HOOK_KPROBE,
	.name	= "kprobe",
	.arm	= profil_kprobe_arm,
	.disarm	= profil_kprobe_disarm,
};
