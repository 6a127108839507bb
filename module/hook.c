// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which hook is on the tick, and whether one is.
 *
 * States: not armed; armed and used; armed and not used, for a while.  Arming
 * patches kernel text and makes every CPU synchronise, so the while grows with
 * each arming: no user can have it done again and again.
 */
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/string.h>

#include "hot.h"

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

/* Guards what follows; what is read with READ_ONCE() may be read without. */
static DEFINE_MUTEX(profil_hook_mutex);
const struct profil_hook *profil_hook_armed;
static unsigned long profil_hook_linger = PROFIL_LINGER_MIN;
static unsigned long profil_hook_last;
static unsigned int profil_hooks_lost;

/* Sets of all registrations, those being started, and parameter arm=always. */
static atomic_t profil_hook_users = ATOMIC_INIT(0);
/* Of these, sets of the timer source. */
static atomic_t profil_hook_timers = ATOMIC_INIT(0);

static void profil_hook_settle(struct work_struct *work);
static DECLARE_DELAYED_WORK(profil_hook_work, profil_hook_settle);
static void profil_hook_watch(struct work_struct *work);
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
	WRITE_ONCE(profil_hook_armed, hook);
	if (hook != &profil_hook_hrtimer) {
		profil_watch_reset();
		profil_watch_queue();
	}
	return 0;
}

static bool profil_hook_chosen(const struct profil_hook *hook)
{
	return !strcmp(profil_hook_choice, "auto") ||
	       !strcmp(profil_hook_choice, hook->name);
}

static int profil_hook_arm(void)
{
	int i;

	if (profil_hook_armed)
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
	const struct profil_hook *hook = profil_hook_armed;

	lockdep_assert_held(&profil_hook_mutex);
	if (!hook)
		return;
	profil_race(PROFIL_RACE_SETTLE);
	WRITE_ONCE(profil_hook_armed, NULL);
	hook->disarm();
	profil_nohz_disarm();
	profil_hook_last = jiffies;
}

/* Armed if and only if there are users, or will be seen by who adds one. */
static void profil_hook_settle(struct work_struct *work)
{
	mutex_lock(&profil_hook_mutex);
	if (!atomic_read(&profil_hook_users)) {
		profil_timer_disarm();
		profil_hook_disarm();
	}
	smp_mb();	/* (E) Pairs with (F) */
	if (atomic_read(&profil_hook_users) &&
	    (profil_hook_arm() ||
	     (atomic_read(&profil_hook_timers) && profil_timer_arm())))
		pr_err("no hook on the timer tick: nothing is counted; try parameter hook=hrtimer\n");
	mutex_unlock(&profil_hook_mutex);
}

/*
 * First the timers, because to take the other hook off the tick takes seconds
 * when nobody sleeps; it may come back meanwhile, but is armed no more.
 */
static void profil_hook_fall_back(const struct profil_hook *hook)
{
	lockdep_assert_held(&profil_hook_mutex);
	pr_warn("the %s hook was switched off by others: own timers take over; for the cheaper hook, set kernel.ftrace_enabled=1 and debugfs kprobes/enabled to 1 and stop profiling for a while\n",
		hook->name);
	WRITE_ONCE(profil_hooks_lost, profil_hooks_lost + 1);
	if (!profil_hook_try(&profil_hook_hrtimer)) {
		profil_race(PROFIL_RACE_TAKEOVER);
		hook->disarm();
	} else {
		pr_err("no timers either: nothing is counted\n");
		profil_hook_disarm();
	}
}

/* Root may switch ftrace or kprobes off while we rely on them. */
static void profil_hook_watch(struct work_struct *work)
{
	const struct profil_hook *hook;

	mutex_lock(&profil_hook_mutex);
	hook = profil_hook_armed;
	if (hook && hook != &profil_hook_hrtimer) {
		if (profil_watch_dead())
			profil_hook_fall_back(hook);
		else
			profil_watch_queue();
	}
	mutex_unlock(&profil_hook_mutex);
}

/**
 * profil_hook_get - Have the tick hooked
 * @timer: Have the timer source too, as long as the hook stays
 *
 * Context: Task, without mmap_lock; sleeps.
 * Return: 0, to be followed by profil_hook_put(), -ENODEV if no hook could be
 * placed, an error for the timer source, or -EINTR on a fatal signal.
 */
int profil_hook_get(bool timer)
{
	int err = mutex_lock_killable(&profil_hook_mutex);

	if (err)
		return err;
	atomic_inc(&profil_hook_users);
	atomic_add(timer, &profil_hook_timers);
	err = profil_hook_arm();
	if (!err && timer)
		err = profil_timer_arm();
	mutex_unlock(&profil_hook_mutex);
	if (err)
		profil_hook_put(timer);
	return err;
}

/**
 * profil_hook_hold - Have the tick hooked, for a forked child
 * @timer: Have the timer source too
 *
 * The parent has them, but may let go of them right now.
 *
 * Context: Task, also under mmap_lock.
 */
void profil_hook_hold(bool timer)
{
	atomic_add(timer, &profil_hook_timers);
	atomic_inc(&profil_hook_users);
	smp_mb__after_atomic();	/* (F) Pairs with (E) */
	if (!READ_ONCE(profil_hook_armed) ||
	    (timer && !READ_ONCE(profil_timer_armed)))
		mod_delayed_work(profil_hook_wq, &profil_hook_work, 0);
}

/**
 * profil_hook_put - Let go of the hook; it stays for a while
 * @timer: Of the timer source too
 *
 * Context: Task, also under mmap_lock.
 */
void profil_hook_put(bool timer)
{
	atomic_sub(timer, &profil_hook_timers);
	if (atomic_dec_and_test(&profil_hook_users))
		mod_delayed_work(profil_hook_wq, &profil_hook_work,
				 READ_ONCE(profil_hook_linger));
}

/**
 * profil_hook_query - Say which hook is armed
 * @query: Receives it
 *
 * Context: Any.
 */
void profil_hook_query(struct profil_query *query)
{
	const struct profil_hook *hook = READ_ONCE(profil_hook_armed);

	query->out_hook = hook ? hook->id : PROFIL_HOOK_NONE;
	query->out_hooks_lost = READ_ONCE(profil_hooks_lost);
}

/**
 * profil_hook_exit - Take the hook off the tick
 *
 * Context: Task, of module exit: no users can come.
 */
void profil_hook_exit(void)
{
	int i;

	cancel_delayed_work_sync(&profil_hook_work);
	mutex_lock(&profil_hook_mutex);
	profil_timer_disarm();
	profil_hook_disarm();
	for (i = 0; i < ARRAY_SIZE(profil_hooks); i++)
		if (profil_hooks[i]->release)
			profil_hooks[i]->release();
	mutex_unlock(&profil_hook_mutex);
	cancel_delayed_work_sync(&profil_watch_work);
}
