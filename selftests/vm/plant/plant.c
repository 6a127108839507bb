// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bugs on purpose: loading this with bug=NAME commits that bug, and selfcheck.sh
 * asks of the runner that it notices.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timer.h>

#define PLANT_RACE_MS	2000

static char *bug = "none";
module_param(bug, charp, 0444);
MODULE_PARM_DESC(bug, "the name of one of plant_bugs[]");

static DEFINE_SPINLOCK(plant_lock);
static DEFINE_SPINLOCK(plant_other_lock);
static DEFINE_MUTEX(plant_mutex);
static int *plant_object;
static unsigned int plant_data;
static unsigned int plant_flag;

static int plant_none(void)
{
	return 0;
}

static int plant_warn(void)
{
	WARN(1, "planted\n");
	return 0;
}

static int plant_oops(void)
{
	int *nowhere = NULL;

	OPTIMIZER_HIDE_VAR(nowhere);
	WRITE_ONCE(*nowhere, 1);
	return 0;
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

static int plant_out_of_bounds(void)
{
	size_t beyond = 9;
	char *object = kzalloc(9, GFP_KERNEL);

	if (!object)
		return -ENOMEM;
	OPTIMIZER_HIDE_VAR(beyond);
	WRITE_ONCE(object[beyond], 1);
	kfree(object);
	return 0;
}

static int plant_leak(void)
{
	plant_object = kmalloc(64, GFP_KERNEL);
	return plant_object ? 0 : -ENOMEM;
}

static void plant_expired(struct timer_list *timer)
{
}

static int plant_free_active_timer(void)
{
	struct timer_list *timer = kmalloc(sizeof(*timer), GFP_KERNEL);

	if (!timer)
		return -ENOMEM;
	timer_setup(timer, plant_expired, 0);
	mod_timer(timer, jiffies + 1000 * HZ);
	kfree(timer);
	return 0;
}

static int plant_sleep_in_atomic(void)
{
	spin_lock(&plant_lock);
	mutex_lock(&plant_mutex);
	mutex_unlock(&plant_mutex);
	spin_unlock(&plant_lock);
	return 0;
}

static int plant_lock_inversion(void)
{
	spin_lock(&plant_lock);
	spin_lock(&plant_other_lock);
	spin_unlock(&plant_other_lock);
	spin_unlock(&plant_lock);

	spin_lock(&plant_other_lock);
	spin_lock(&plant_lock);
	spin_unlock(&plant_lock);
	spin_unlock(&plant_other_lock);
	return 0;
}

static int plant_hang(void)
{
	local_irq_disable();
	for (;;)
		cpu_relax();
	return 0;
}

static int plant_wait(void *unused)
{
	while (!kthread_should_stop()) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		schedule();
	}
	return 0;
}

static int plant_hung_task(void)
{
	return PTR_ERR_OR_ZERO(kthread_run(plant_wait, NULL, "plant"));
}

static int plant_stay(void)
{
	__module_get(THIS_MODULE);
	return 0;
}

static int plant_racer(void *unused)
{
	while (!kthread_should_stop()) {
		plant_data++;
		cond_resched();
	}
	return 0;
}

static int plant_marked(void *unused)
{
	while (!kthread_should_stop()) {
		WRITE_ONCE(plant_data, READ_ONCE(plant_data) + 1);
		cond_resched();
	}
	return 0;
}

/* Waits for its turn at the data, that the flag is @turn; false: no more. */
static bool plant_turn(unsigned int turn)
{
	/* pairs with the release in plant_released() */
	while (smp_load_acquire(&plant_flag) != turn) {
		if (kthread_should_stop())
			return false;
		cpu_relax();
	}
	return true;
}

static int plant_released(void *turn)
{
	while (plant_turn(!turn)) {
		plant_data++;
		/* pairs with the acquire in plant_turn() */
		smp_store_release(&plant_flag, !!turn);
	}
	return 0;
}

static int plant_not_released(void *turn)
{
	while (plant_turn(!turn)) {
		plant_data++;
		WRITE_ONCE(plant_flag, !!turn);
	}
	return 0;
}

/* Two threads on two CPUs for a while. */
static int plant_threads(int (*run)(void *))
{
	struct task_struct *thread[2];
	int i;

	for (i = 0; i < 2; i++) {
		thread[i] = kthread_create(run, i ? &plant_data : NULL,
					   "plant/%d", i);
		if (IS_ERR(thread[i]))
			break;
		kthread_bind(thread[i], i);
		wake_up_process(thread[i]);
	}
	if (i == 2)
		msleep(PLANT_RACE_MS);
	while (i--)
		kthread_stop(thread[i]);
	return 0;
}

static int plant_race(void)
{
	return plant_threads(plant_racer);
}

static int plant_marked_race(void)
{
	return plant_threads(plant_marked);
}

static int plant_missing_barrier(void)
{
	return plant_threads(plant_not_released);
}

static int plant_barrier(void)
{
	return plant_threads(plant_released);
}

static const struct {
	const char	*name;
	int		(*commit)(void);
} plant_bugs[] = {
	{ "none",	plant_none },
	{ "warn",	plant_warn },
	{ "oops",	plant_oops },
	{ "uaf",	plant_use_after_free },
	{ "oob",	plant_out_of_bounds },
	{ "leak",	plant_leak },
	{ "timer",	plant_free_active_timer },
	{ "sleep",	plant_sleep_in_atomic },
	{ "locks",	plant_lock_inversion },
	{ "hang",	plant_hang },
	{ "hung",	plant_hung_task },
	{ "stay",	plant_stay },
	{ "race",	plant_race },
	{ "marked",	plant_marked_race },
	{ "released",	plant_barrier },
	{ "barrier",	plant_missing_barrier },
};

static int __init plant_init(void)
{
	int i;

	pr_info("bug=%s\n", bug);
	for (i = 0; i < ARRAY_SIZE(plant_bugs); i++)
		if (!strcmp(bug, plant_bugs[i].name))
			return plant_bugs[i].commit();
	return -EINVAL;
}
module_init(plant_init);

static void __exit plant_exit(void)
{
	plant_object = NULL;
}
module_exit(plant_exit);

MODULE_DESCRIPTION("Bugs on purpose");
MODULE_LICENSE("GPL");
