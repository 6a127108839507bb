// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which hook is on the tick, and whether one is.
 *
 * Arming patches kernel text and synchronises all CPUs.  A hook that is not used any more
 * therefore stays armed for some time, and longer after each new arming, so that no user
 * can cause this again and again.
 */
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/workqueue.h>
#include <linux/profil.h>

#include "choice.h"
#include "profil.h"
#include "race.h"
#include "tick.h"

static PROFIL_CHOICE(profil_hook_wanted, "auto", "ftrace", "kprobe", "hrtimer");
module_param_cb(hook, &profil_choice_ops, &profil_hook_wanted, 0444);
MODULE_PARM_DESC(hook, "auto (default): the first that works of ftrace, kprobe, hrtimer; or one of these");

static PROFIL_CHOICE(profil_arm, "auto", "always");
module_param_cb(arm, &profil_choice_ops, &profil_arm, 0444);
MODULE_PARM_DESC(arm, "auto (default): hook the tick while somebody is profiled; always: from the beginning");

#define PROFIL_LINGER_MIN	HZ
#define PROFIL_LINGER_MAX	(128 * HZ)
#define PROFIL_LINGER_FORGET	(600 * HZ)

/* A hook that is gone is noticed in little more than twice this: within a second. */
#define PROFIL_WATCH_PERIOD	(HZ / 3)

static const struct profil_hook *const profil_hooks[] = {
#ifdef CONFIG_DYNAMIC_FTRACE
	&profil_hook_ftrace,
#endif
	&profil_hook_kprobe,
	&profil_hook_hrtimer,
};

/*
 * Guards arming, profil_tick_hook, and what follows; what is read with READ_ONCE() may be
 * read without.
 */
static DEFINE_MUTEX(profil_hook_mutex);
static unsigned long profil_hook_linger = PROFIL_LINGER_MIN;
static unsigned long profil_hook_last;
static unsigned int profil_hooks_lost;

/* Sets, sessions, and parameter arm=always.  Only profil_hook_get() adds one, under the mutex. */
static atomic_t profil_hook_users = ATOMIC_INIT(0);

/* Waits for no user. */
static struct workqueue_struct *profil_hook_wq;

static void profil_hook_settle(struct work_struct *work);
static DECLARE_DELAYED_WORK(profil_hook_work, profil_hook_settle);
static void profil_hook_watch(struct work_struct *work);
/* Not deferrable: it would wait for a CPU that sleeps, while others are busy and unseen. */
static DECLARE_DELAYED_WORK(profil_watch_work, profil_hook_watch);

static void profil_watch_queue(void)
{
	queue_delayed_work(profil_hook_wq, &profil_watch_work, PROFIL_WATCH_PERIOD);
}

static int profil_hook_try(const struct profil_hook *hook)
{
	int err = hook->arm();

	lockdep_assert_held(&profil_hook_mutex);
	if (err)
		return err;
	WRITE_ONCE(profil_tick_hook, hook);
	if (hook != &profil_hook_hrtimer) {
		profil_watch_reset();
		profil_watch_queue();
	}
	return 0;
}

static bool profil_hook_chosen(const struct profil_hook *hook)
{
	const char *word = profil_hook_wanted.words[profil_hook_wanted.chosen];

	return !profil_hook_wanted.chosen || !strcmp(word, hook->name);
}

static int profil_hook_arm(void)
{
	int i;

	if (profil_tick_hook)
		return 0;
	if (time_after(jiffies, profil_hook_last + PROFIL_LINGER_FORGET))
		WRITE_ONCE(profil_hook_linger, PROFIL_LINGER_MIN);
	else if (profil_hook_last)
		WRITE_ONCE(profil_hook_linger,
			   min_t(unsigned long, PROFIL_LINGER_MAX,
				 2 * profil_hook_linger));
	for (i = 0; i < ARRAY_SIZE(profil_hooks); i++)
		if (profil_hook_chosen(profil_hooks[i]) &&
		    !profil_hook_try(profil_hooks[i])) {
			profil_nohz_arm();
			return 0;
		}
	return -ENODEV;
}

static void profil_hook_disarm(void)
{
	const struct profil_hook *hook = profil_tick_hook;

	lockdep_assert_held(&profil_hook_mutex);
	if (!hook)
		return;
	profil_race(PROFIL_RACE_SETTLE);
	WRITE_ONCE(profil_tick_hook, NULL);
	hook->disarm();
	profil_nohz_disarm();
	profil_hook_last = jiffies;
}

/* Disarms if there are still no users. */
static void profil_hook_settle(struct work_struct *work)
{
	mutex_lock(&profil_hook_mutex);
	if (!atomic_read(&profil_hook_users)) {
		profil_timer_disarm();
		profil_follow_disarm();
		profil_hook_disarm();
	}
	mutex_unlock(&profil_hook_mutex);
}

/*
 * The timers are armed first, because it takes seconds to take the other hook off the tick
 * when nobody sleeps.  That hook may come back meanwhile, but its ticks do not count.
 */
static void profil_hook_fall_back(const struct profil_hook *hook)
{
	lockdep_assert_held(&profil_hook_mutex);
	pr_warn_ratelimited("the %s hook was switched off by others: own timers take over; for the cheaper hook, set kernel.ftrace_enabled=1 and debugfs kprobes/enabled to 1 and stop profiling for a while\n",
			    hook->name);
	WRITE_ONCE(profil_hooks_lost, profil_hooks_lost + 1);
	if (!profil_hook_try(&profil_hook_hrtimer)) {
		profil_race(PROFIL_RACE_TAKEOVER);
		hook->disarm();
	} else {
		pr_err_ratelimited("no timers either: nothing is counted\n");
		profil_hook_disarm();
	}
}

/* Root may switch ftrace or kprobes off while we rely on them. */
static void profil_hook_watch(struct work_struct *work)
{
	const struct profil_hook *hook;

	mutex_lock(&profil_hook_mutex);
	hook = profil_tick_hook;
	if (hook && hook != &profil_hook_hrtimer) {
		if (profil_watch_dead())
			profil_hook_fall_back(hook);
		else
			profil_watch_queue();
	}
	mutex_unlock(&profil_hook_mutex);
}

/*
 * Has the tick hooked, and with it what @also says, as long as the hook stays: the timer
 * source (PROFIL_HOOK_TIMER), or that members are followed (PROFIL_HOOK_FOLLOW).
 * Returns 0, to be followed by profil_hook_put(); -ENODEV if no hook could be placed; an
 * error of these; or -EINTR on a fatal signal.  Sleeps, without mmap_lock.
 */
int profil_hook_get(unsigned int also)
{
	int err = mutex_lock_killable(&profil_hook_mutex);

	if (err)
		return err;
	atomic_inc(&profil_hook_users);
	err = profil_hook_arm();
	if (!err && also & PROFIL_HOOK_TIMER)
		err = profil_timer_arm();
	if (!err && also & PROFIL_HOOK_FOLLOW)
		err = profil_follow_arm();
	mutex_unlock(&profil_hook_mutex);
	if (err)
		profil_hook_put();
	return err;
}

/* Lets go of the hook, which stays for a while.  Task context, also under mmap_lock. */
void profil_hook_put(void)
{
	if (atomic_dec_and_test(&profil_hook_users))
		mod_delayed_work(profil_hook_wq, &profil_hook_work,
				 READ_ONCE(profil_hook_linger));
}

/* Says which hook is armed. */
void profil_hook_query(struct profil_ioc_query *query)
{
	const struct profil_hook *hook = READ_ONCE(profil_tick_hook);

	query->out_hook = hook ? hook->id : PROFIL_HOOK_NONE;
	query->out_hooks_lost = READ_ONCE(profil_hooks_lost);
}

/* Arms already here if the administrator wants that. */
int profil_hook_init(void)
{
	int err = 0;

	profil_hook_wq = alloc_ordered_workqueue("profil_hook", WQ_FREEZABLE);
	if (!profil_hook_wq)
		return -ENOMEM;
	profil_timer_init();
	profil_follow_init();
	if (profil_arm.chosen)
		err = profil_hook_get(0);
	if (err)
		profil_hook_exit();
	return err;
}

/* Takes the hook off the tick, at module exit: no users can come. */
void profil_hook_exit(void)
{
	int i;

	cancel_delayed_work_sync(&profil_hook_work);
	mutex_lock(&profil_hook_mutex);
	profil_timer_disarm();
	profil_follow_disarm();
	profil_hook_disarm();
	for (i = 0; i < ARRAY_SIZE(profil_hooks); i++)
		if (profil_hooks[i]->release)
			profil_hooks[i]->release();
	mutex_unlock(&profil_hook_mutex);
	cancel_delayed_work_sync(&profil_watch_work);
	destroy_workqueue(profil_hook_wq);
}
