// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bugs on purpose: loading this with bug=NAME commits that bug, and selfcheck.sh
 * asks of the runner that it notices.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/irqflags.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

static char *bug = "none";
module_param(bug, charp, 0444);
MODULE_PARM_DESC(bug, "none, warn, oops, uaf, sleep, hang, leak or stay");

static DEFINE_SPINLOCK(plant_lock);
static DEFINE_MUTEX(plant_mutex);
static int *plant_object;

static void plant_oops(void)
{
	int *nowhere = NULL;

	OPTIMIZER_HIDE_VAR(nowhere);
	WRITE_ONCE(*nowhere, 1);
}

static int plant_use_after_free(void)
{
	plant_object = kzalloc(sizeof(*plant_object), GFP_KERNEL);
	if (!plant_object)
		return -ENOMEM;
	kfree(plant_object);
	WRITE_ONCE(*plant_object, 1);
	return 0;
}

static void plant_sleep_in_atomic(void)
{
	spin_lock(&plant_lock);
	mutex_lock(&plant_mutex);
	mutex_unlock(&plant_mutex);
	spin_unlock(&plant_lock);
}

static void plant_hang(void)
{
	local_irq_disable();
	for (;;)
		cpu_relax();
}

static int __init plant_init(void)
{
	pr_info("bug=%s\n", bug);
	if (!strcmp(bug, "warn"))
		WARN(1, "planted\n");
	else if (!strcmp(bug, "oops"))
		plant_oops();
	else if (!strcmp(bug, "uaf"))
		return plant_use_after_free();
	else if (!strcmp(bug, "sleep"))
		plant_sleep_in_atomic();
	else if (!strcmp(bug, "hang"))
		plant_hang();
	else if (!strcmp(bug, "leak"))
		plant_object = kmalloc(64, GFP_KERNEL);
	else if (!strcmp(bug, "stay"))
		__module_get(THIS_MODULE);
	else if (strcmp(bug, "none"))
		return -EINVAL;
	return 0;
}
module_init(plant_init);

static void __exit plant_exit(void)
{
	plant_object = NULL;
}
module_exit(plant_exit);

MODULE_DESCRIPTION("Bugs on purpose");
MODULE_LICENSE("GPL");
