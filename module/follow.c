// SPDX-License-Identifier: GPL-2.0-only
/*
 * Members are followed by the kernel's tracepoints of fork, exec and exit, which are
 * called, task context, with preemption disabled.
 *
 * To register them patches kernel text, as a hook does, so they stay as long as the hook.
 */
#include <linux/binfmts.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/user_namespace.h>

#include "member.h"
#include "profil.h"
#include "race.h"
#include "table.h"

static void profil_follow_fork(void *data, struct task_struct *parent,
			       struct task_struct *child)
{
	if (atomic_read(&profil_members) && task_tgid(parent) != task_tgid(child))
		profil_member_fork(parent, child);
}

/* No more than who made the session: its identity, and no capability that it has not. */
static bool profil_follow_same(const struct cred *cred, const struct cred *maker)
{
	return uid_eq(cred->uid, maker->uid) && uid_eq(cred->euid, maker->uid) &&
	       uid_eq(cred->suid, maker->uid) && gid_eq(cred->gid, maker->gid) &&
	       gid_eq(cred->egid, maker->gid) && gid_eq(cred->sgid, maker->gid) &&
	       cred->user_ns == maker->user_ns &&
	       cap_issubset(cred->cap_permitted, maker->cap_permitted);
}

/*
 * Whether who made the session may see what current has executed: as ptrace(2) would have
 * it.  What the image is, and not who it belongs to, can only be seen here.
 */
static bool profil_follow_approves(const struct profil_table *table,
				   const struct linux_binprm *bprm)
{
	if (!bprm->secureexec && !(bprm->interp_flags & BINPRM_FLAGS_ENFORCE_NONDUMP) &&
	    profil_follow_same(current_cred(), table->authority->f_cred))
		return true;
	/* Of a program that cannot be read, nobody's own namespace has the right to tell. */
	if (bprm->interp_flags & BINPRM_FLAGS_ENFORCE_NONDUMP)
		return file_ns_capable(table->authority, &init_user_ns, CAP_SYS_PTRACE);
	return file_ns_capable(table->authority, current_user_ns(), CAP_SYS_PTRACE);
}

static void profil_follow_exec(void *data, struct task_struct *task, pid_t old_pid,
			       struct linux_binprm *bprm)
{
	struct pid *tgid = task_tgid(task);
	struct profil_member *member;
	bool approved;

	if (!atomic_read(&profil_members))
		return;
	rcu_read_lock();
	hlist_for_each_entry_rcu(member, profil_member_bucket(tgid), node) {
		if (member->tgid != tgid)
			continue;
		approved = profil_follow_approves(member->table, bprm);
		profil_race(PROFIL_RACE_EXEC);
		profil_member_exec(member, approved);
	}
	rcu_read_unlock();
}

static void profil_follow_exit(PROFIL_EXIT_ARGS)
{
	if (atomic_read(&profil_members) && !atomic_read(&task->signal->live))
		profil_member_exit(task);
}

static struct profil_point {
	const char		*name;
	void			*probe;
	struct tracepoint	*point;		/* found once, NULL if there is none */
} profil_points[] = {
	{ .name = "sched_process_fork", .probe = profil_follow_fork },
	{ .name = "sched_process_exec", .probe = profil_follow_exec },
	{ .name = "sched_process_exit", .probe = profil_follow_exit },
};

/* Under profil_hook_mutex. */
static bool profil_follow_armed;

static void profil_follow_unregister(int nr)
{
	while (nr--)
		tracepoint_probe_unregister(profil_points[nr].point, profil_points[nr].probe,
					    NULL);
	tracepoint_synchronize_unregister();
}

/* Follows members: 0, also if it does already, or an error.  Under profil_hook_mutex; sleeps. */
int profil_follow_arm(void)
{
	int i, err = 0;

	for (i = 0; !profil_follow_armed && i < ARRAY_SIZE(profil_points); i++) {
		err = tracepoint_probe_register(profil_points[i].point, profil_points[i].probe,
						NULL);
		if (err) {
			profil_follow_unregister(i);
			return err;
		}
	}
	profil_follow_armed = true;
	return 0;
}

/* Undoes profil_follow_arm().  Under profil_hook_mutex; sleeps. */
void profil_follow_disarm(void)
{
	if (profil_follow_armed)
		profil_follow_unregister(ARRAY_SIZE(profil_points));
	profil_follow_armed = false;
}

/*
 * Whether members can be followed in this kernel.  On one for real time, a tick must not
 * take mmap_lock: to let go of it may turn interrupts on.
 */
bool profil_follow_possible(void)
{
	int i;

	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		return false;
	for (i = 0; i < ARRAY_SIZE(profil_points); i++)
		if (!profil_points[i].point)
			return false;
	return true;
}

static void profil_follow_look(struct tracepoint *point, void *data)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(profil_points); i++)
		if (!strcmp(point->name, profil_points[i].name))
			profil_points[i].point = point;
}

/* Finds out whether there can be sessions. */
void profil_follow_init(void)
{
	for_each_kernel_tracepoint(profil_follow_look, NULL);
}
