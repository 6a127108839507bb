// SPDX-License-Identifier: GPL-2.0-only
/*
 * Module parameters, the device, and the order of coming and going.
 */
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "profil.h"

static char *profil_deliver_choice = "tick";
module_param_named(deliver, profil_deliver_choice, charp, 0444);
MODULE_PARM_DESC(deliver, "tick (default): count in the tick what can be; deferred: nothing");

bool profil_task_work = true;
module_param_named(task_work, profil_task_work, bool, 0444);
MODULE_PARM_DESC(task_work, "let threads deliver what was deferred, where the kernel exports task_work_add (default Y); else a worker does");

char *profil_hook_choice = "auto";
module_param_named(hook, profil_hook_choice, charp, 0444);
MODULE_PARM_DESC(hook, "auto (default): the first that works of ftrace, kprobe, hrtimer; or one of these");

static char *profil_arm_choice = "auto";
module_param_named(arm, profil_arm_choice, charp, 0444);
MODULE_PARM_DESC(arm, "auto (default): hook the tick while somebody is profiled; always: from the beginning");

static char *profil_nohz_choice = "leave";
module_param_named(nohz_full, profil_nohz_choice, charp, 0444);
MODULE_PARM_DESC(nohz_full, "leave (default): leave CPUs without a tick alone; tick: have them tick while somebody is profiled");

unsigned int profil_max_profiles = 16384;
module_param_named(max_profiles, profil_max_profiles, uint, 0644);
MODULE_PARM_DESC(max_profiles, "most profiled processes (default 16384)");

unsigned int profil_max_profiles_user = 1024;
module_param_named(max_profiles_user, profil_max_profiles_user, uint, 0644);
MODULE_PARM_DESC(max_profiles_user, "most profiled processes of one user (default 1024)");

unsigned int profil_max_regions_user = 16 * PROFIL_REGIONS_MAX;
module_param_named(max_regions_user, profil_max_regions_user, uint, 0644);
MODULE_PARM_DESC(max_regions_user, "most regions in all profiles of one user (default 65536)");

unsigned int profil_max_records_user = 16 * PROFIL_PENDING_MAX;
module_param_named(max_records_user, profil_max_records_user, uint, 0644);
MODULE_PARM_DESC(max_records_user, "most pending records of one user, beyond the first 32 of each process (default 65536)");

unsigned int profil_max_timer_rate = PROFIL_TIMER_RATE_MAX;
module_param_named(max_timer_rate, profil_max_timer_rate, uint, 0644);
MODULE_PARM_DESC(max_timer_rate, "highest rate of the timer source in samples for each second of CPU time (default 10000, which is the most; 0: no timer source)");

unsigned int profil_max_workers_user = 8;
module_param_named(max_workers_user, profil_max_workers_user, uint, 0644);
MODULE_PARM_DESC(max_workers_user, "most workers that run for one user at a time (default 8)");

bool profil_deferred __read_mostly;
bool profil_arm_always;
bool profil_nohz_tick;
struct workqueue_struct *profil_wq;
struct workqueue_struct *profil_hook_wq;	/* waits for no user */

static int profil_open(struct inode *inode, struct file *file)
{
	/* Was the device; only anchor.c gives a file a registration. */
	file->private_data = NULL;
	return nonseekable_open(inode, file);
}

static const struct file_operations profil_fops = {
	.owner		= THIS_MODULE,
	.open		= profil_open,
	.mmap		= profil_anchor_mmap,
	.unlocked_ioctl	= profil_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
};

/* For everybody: it writes the caller's own memory, with the caller's rights. */
static struct miscdevice profil_device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "profil",
	.mode	= 0666,
	.fops	= &profil_fops,
};

static int profil_parse(const char *param, const char *choice, const char *off,
			const char *on, bool *value)
{
	*value = !strcmp(choice, on);
	if (*value || !strcmp(choice, off))
		return 0;
	pr_err("parameter %s=%s: must be %s or %s\n", param, choice, off, on);
	return -EINVAL;
}

static int profil_parse_all(void)
{
	static const char *const hooks[] = {
		"auto", "ftrace", "kprobe", "hrtimer",
	};
	int err;

	err = profil_parse("deliver", profil_deliver_choice, "tick", "deferred",
			   &profil_deferred);
	if (!err)
		err = profil_parse("arm", profil_arm_choice, "auto", "always",
				   &profil_arm_always);
	if (!err)
		err = profil_parse("nohz_full", profil_nohz_choice, "leave",
				   "tick", &profil_nohz_tick);
	if (!err && match_string(hooks, ARRAY_SIZE(hooks), profil_hook_choice) < 0) {
		pr_err("parameter hook=%s: must be auto, ftrace, kprobe or hrtimer\n",
		       profil_hook_choice);
		err = -EINVAL;
	}
	profil_task_work = profil_task_work && PROFIL_HAVE_TASK_WORK;
	return err;
}

/* Everything that was queued has run when this returns. */
static void profil_drain(void)
{
	/* Threads that are on the last instructions of their task_work. */
	synchronize_rcu_tasks();
	destroy_workqueue(profil_hook_wq);
	destroy_workqueue(profil_wq);
	profil_reg_exit();
}

static int __init profil_init(void)
{
	int err = profil_parse_all();

	if (err)
		return err;
	err = profil_reg_init();
	if (err)
		return err;
	profil_wq = alloc_workqueue("profil", WQ_UNBOUND, WQ_MAX_ACTIVE);
	err = -ENOMEM;
	if (!profil_wq)
		goto err_reg;
	profil_hook_wq = alloc_ordered_workqueue("profil_hook", 0);
	if (!profil_hook_wq)
		goto err_wq;
	profil_timer_init();
	err = profil_arm_always ? profil_hook_get(false) : 0;
	if (!err)
		err = misc_register(&profil_device);
	if (err)
		goto err_hook;
	return 0;

err_hook:
	/* Also where there is no hook: it was let go of, for a while. */
	profil_hook_exit();
	profil_drain();
	return err;
err_wq:
	destroy_workqueue(profil_wq);
err_reg:
	profil_reg_exit();
	return err;
}

/* The module is in use while a process is profiled, so none is now. */
static void __exit profil_exit(void)
{
	misc_deregister(&profil_device);
	profil_reg_wait();
	profil_hook_exit();
	profil_drain();
}

module_init(profil_init);
module_exit(profil_exit);
MODULE_LICENSE("GPL");
MODULE_AUTHOR("The profil founders");
MODULE_DESCRIPTION("profil(2): a histogram of where a program runs, counted at the timer tick");
MODULE_VERSION("0.1.0");
